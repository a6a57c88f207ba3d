//! Tests on components that take long to build: `cargo xtask test --real` runs them.

mod filters;
mod health;
mod operated;
mod rights;
