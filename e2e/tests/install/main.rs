//! The provider installed on a real cluster, as `docs/install.md` says: its image in the node's
//! containerd, its manifests applied, itself a pod with its own rights and nothing else.
//!
//! Where Traefik was built, hostnames are asked through it. Without it everything up to the Ingress
//! object is tested.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::print_stdout, reason = "who runs the tests is told what they leave out")]

mod cluster;
mod manifests;
mod routes;
mod takeover;

use std::path::Path;
use std::time::Duration;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(240);

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
