//! Tests on components that take long to build: `cargo xtask test --real` runs them.

mod addresses;
mod confined;
mod contract;
mod hardened;
mod secret;
mod takeover;
mod trouble;
mod written;
