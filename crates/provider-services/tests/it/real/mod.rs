//! Tests on components that take long to build: `cargo xtask test --real` runs them.

mod hostname_operator;
mod migrate;
