//! The provider installed on a real cluster, as `docs/install.md` says: its image in the node's
//! containerd, its manifests applied, itself a pod with its own rights and nothing else.
//! Hostnames are asked through Traefik.

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
