//! The follower against devnets, over real sockets and through a proxy that breaks them.

// Helpers of tests are tests, but clippy does not see that.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

#[path = "follow/nodes.rs"]
mod nodes;
#[path = "follow/orders.rs"]
mod orders;
#[path = "follow/random.rs"]
mod random;
#[path = "follow/real.rs"]
mod real;
#[path = "follow/sockets.rs"]
mod sockets;
#[path = "follow/support.rs"]
mod support;
