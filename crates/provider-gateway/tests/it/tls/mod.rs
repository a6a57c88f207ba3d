//! Connections over real sockets.

mod clients;
mod limits;
mod protocol;
mod server;
mod shown;
