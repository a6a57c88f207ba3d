//! Tests on components that take long to build: `cargo xtask test --real` runs them.

mod api;
mod ceph;
mod common;
mod control_plane;
mod gpus;
mod node;
mod policies;
mod volumes;
