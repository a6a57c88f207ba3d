//! Where the programs of Kubernetes are: in `KUBEBUILDER_ASSETS`, else in the cache that
//! `cargo xtask kube-programs` fills.
//!
//! This module finds them; how they are built only xtask knows.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The directory of the cache that has the programs of one version, built one way.
const DIRECTORY: &str = concat!("kube-", include_str!("../components/version"));

const TRAEFIK: &str = concat!("traefik-", include_str!("../components/traefik/version"));

/// Programs by name.
#[derive(Debug)]
pub(crate) struct Programs(BTreeMap<String, PathBuf>);

impl Programs {
    /// Finds programs, and builds those that are nowhere. Whoever comes while they are being built
    /// waits.
    ///
    /// # Errors
    ///
    /// When one is missing and cannot be built.
    pub(crate) async fn provide(names: &'static [&'static str]) -> Result<Self> {
        tokio::task::spawn_blocking(move || Self::provide_now(names)).await?
    }

    fn provide_now(names: &[&str]) -> Result<Self> {
        let places: Vec<_> = assets().into_iter().chain([cache()?.join("bin")]).collect();
        let missing: Vec<_> =
            names.iter().copied().filter(|name| find(&places, name).is_none()).collect();
        if !missing.is_empty() {
            build(&missing)?;
        }
        let found = names.iter().map(|name| {
            let path =
                find(&places, name).with_context(|| format!("{name} is in no {places:?}"))?;
            Ok(((*name).to_owned(), path))
        });
        Ok(Self(found.collect::<Result<_>>()?))
    }

    /// A command that runs one of them.
    ///
    /// # Errors
    ///
    /// When it was not among those asked for.
    pub(crate) fn command(&self, name: &str) -> Result<Command> {
        Ok(Command::new(self.0.get(name).with_context(|| format!("{name} was not asked for"))?))
    }
}

/// The client that operators have, of the version that beds have.
///
/// # Errors
///
/// When it is missing and cannot be built.
pub async fn kubectl() -> Result<PathBuf> {
    let programs = Programs::provide(&["kubectl"]).await?;
    Ok(programs.command("kubectl")?.get_program().into())
}

/// Traefik, where it was built before: it takes a quarter of an hour. Where `AKASH_TEST_FULL` is
/// set it is built.
///
/// # Errors
///
/// When it cannot be built.
pub(crate) async fn traefik() -> Result<Option<PathBuf>> {
    tokio::task::spawn_blocking(|| {
        let place = cache_of_all()?.join(TRAEFIK.trim_end()).join("bin/traefik");
        if !place.is_file() && set("AKASH_TEST_FULL").is_some() {
            build(&["traefik"])?;
        }
        Ok(place.is_file().then_some(place))
    })
    .await?
}

fn find(places: &[PathBuf], name: &str) -> Option<PathBuf> {
    places.iter().map(|place| place.join(name)).find(|path| path.is_file())
}

fn set(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Where others keep such programs for tests.
fn assets() -> Option<PathBuf> {
    set("KUBEBUILDER_ASSETS")
}

fn cache() -> Result<PathBuf> {
    Ok(cache_of_all()?.join(DIRECTORY.trim_end()))
}

/// The same place as xtask's.
fn cache_of_all() -> Result<PathBuf> {
    let cache = set("AKASH_PROVIDER_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|caches| caches.join("akash-provider")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/akash-provider")))
        .context("no place for programs: set AKASH_PROVIDER_CACHE to a directory")?;
    Ok(std::path::absolute(cache)?)
}

fn build(names: &[&str]) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["--locked", "xtask", "kube-programs"])
        .args(names)
        .current_dir(root)
        // Progress is on standard error; this one is our caller's.
        .stdout(Stdio::null())
        .status()
        .context("running cargo xtask kube-programs")?;
    ensure!(
        status.success(),
        "building {} failed: see above, or set KUBEBUILDER_ASSETS to a directory that has them",
        names.join(", ")
    );
    Ok(())
}
