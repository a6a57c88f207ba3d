//! Tests on components that take long to build: `cargo xtask test --real` runs them.

mod api;
mod common;
mod control_plane;
mod node;
mod policies;
