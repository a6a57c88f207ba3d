//! The follower against devnets, over real sockets and through a proxy that breaks them.

mod nodes;
mod orders;
mod random;
mod sockets;
mod support;
mod transactions;
