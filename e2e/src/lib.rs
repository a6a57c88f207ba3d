//! Tests on real components: what they need is installed here, once, and kept outside the tree.
//!
//! A component that cannot be had is a failure that says what to install, never a skip.

#[cfg(target_os = "linux")]
pub mod attack;
pub mod guide;
pub mod metrics;
pub mod network;
pub mod npm;
pub mod program;
