//! Tests on components that take long to build: `cargo xtask test --real` runs them.

mod addresses;
mod confined;
mod contract;
mod definitions;
mod hardened;
mod node_ports;
mod proxied;
mod secret;
mod takeover;
mod trouble;
mod written;
