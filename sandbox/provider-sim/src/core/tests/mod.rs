mod books;
mod disturb;
mod life;
mod read;
mod support;
