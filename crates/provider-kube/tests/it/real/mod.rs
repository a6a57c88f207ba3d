//! Tests on components that take long to build: `cargo xtask test --real` runs them.

mod addresses;
mod confined;
mod contract;
mod secret;
mod trouble;
mod written;
