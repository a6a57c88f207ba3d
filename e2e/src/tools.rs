//! Programs that tests drive, built from Go modules into the cache.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use crate::cache::cache;

/// `grpcurl`, which operators try gRPC with.
///
/// # Errors
///
/// When it is not there and cannot be built.
pub fn grpcurl() -> Result<PathBuf> {
    from_go("grpcurl", "github.com/fullstorydev/grpcurl/cmd/grpcurl", "v1.9.3")
}

/// A program of a Go module in one version; built where the cache lacks it.
fn from_go(name: &str, package: &str, version: &str) -> Result<PathBuf> {
    let bin = cache()?.join(format!("tools/{name}-{version}/bin"));
    let program = bin.join(name);
    // Where Go's own installer puts it is not on every path.
    for go in ["go", "/usr/local/go/bin/go"] {
        if program.is_file() {
            return Ok(program);
        }
        let install = ["install", &format!("{package}@{version}")];
        let _ = Command::new(go).args(install).env("GOBIN", &bin).status();
    }
    if !program.is_file() {
        bail!("{name} {version} could not be built: install Go 1.24 or newer");
    }
    Ok(program)
}
