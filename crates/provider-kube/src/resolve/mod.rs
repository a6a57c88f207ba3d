//! Between what the engine knows of a lease and the `Manifest` that the cluster keeps.
//!
//! ```text
//! Workload ──manifest──▶ Manifest ──written──▶ Lease::of ──▶ build
//!     Held ◀───held───── Manifest
//! ```
//!
//! The `Manifest` comes first, because its `resourceVersion` stands in every object that is built
//! from it.

mod cards;
mod lease;
pub mod version;

pub use lease::{Lease, Service};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use akash_types::LeaseId;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use provider_crd::manifest::{ReadError, WriteError};
use provider_crd::{Manifest, ManifestSpec, labels, names};
use provider_engine::cluster::command::Workload;
use provider_engine::cluster::view::Held;

use crate::settings::Settings;

/// Why what is known of a lease cannot be made into a `Manifest`, or read from one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The `Manifest` of a workload, not written yet.
///
/// Its own label of the revision is empty: there is none before it is written.
///
/// When the manifest says less than is needed or a number does not fit. None that was validated is
/// refused.
pub fn manifest(workload: &Workload, settings: &Settings) -> Result<Manifest, ResolveError> {
    let lease = &workload.lease;
    let spec = ManifestSpec::new(lease, &workload.group, |service| {
        workload.cards.get(service).map(cards::promise)
    })?;
    let namespace = names::lease_namespace(lease);
    let mut labels = labels::base(&namespace, "");
    labels.append(&mut labels::lease(lease));
    let metadata = ObjectMeta {
        name: Some(namespace),
        namespace: Some(settings.manifest_namespace.clone()),
        labels: Some(labels),
        ..ObjectMeta::default()
    };
    Ok(Manifest { metadata, spec })
}

/// The lease that a `Manifest` is for, and what is held for it. Whether the workloads were written
/// from it is for the caller to see.
///
/// Nor is its hash filled in, which may stand on the namespace; see [`version`].
pub fn held(manifest: &Manifest, deployed: bool) -> Result<(LeaseId, Held), ResolveError> {
    let lease = manifest.lease()?;
    let group = manifest.spec.group()?;
    let cards = manifest.spec.group.services.iter().zip(&group.services);
    let cards = cards.filter_map(|(kept, wanted)| {
        let gpu = wanted.resources.gpu.as_ref().filter(|gpu| gpu.units > 0)?;
        let card = cards::promised(kept.scheduler_params.as_ref()?, gpu)?;
        Some((kept.name.clone(), card))
    });
    let cards = cards.collect();
    let (group, ignored) = (Arc::new(group), BTreeMap::new());
    Ok((lease, Held { version: None, group, cards, ignored, deployed }))
}

/// An update names other services than are deployed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the services of a lease cannot be added, removed or renamed: deployed are {deployed:?}, the \
     manifest has {wanted:?}; close the deployment and create another"
)]
pub struct ServicesDiffer {
    /// What is deployed.
    pub deployed: Vec<String>,
    pub wanted: Vec<String>,
}

/// Whether `wanted` may replace `existing`: it has to have the same services, since workloads are
/// never taken away one by one.
pub fn check_replacement(existing: &Manifest, wanted: &Manifest) -> Result<(), ServicesDiffer> {
    let names = |manifest: &Manifest| -> BTreeSet<String> {
        manifest.spec.group.services.iter().map(|service| service.name.clone()).collect()
    };
    let (deployed, wanted) = (names(existing), names(wanted));
    if deployed == wanted {
        return Ok(());
    }
    let list = |names: BTreeSet<String>| names.into_iter().collect();
    Err(ServicesDiffer { deployed: list(deployed), wanted: list(wanted) })
}

#[cfg(test)]
mod tests {
    use provider_crd::manifest::Service;

    use super::*;

    fn manifest(names: &[&str]) -> Manifest {
        let mut manifest = Manifest::default();
        manifest.spec.group.services = names
            .iter()
            .map(|name| Service { name: (*name).to_owned(), ..Service::default() })
            .collect();
        manifest
    }

    #[test]
    fn an_update_has_the_same_services_in_any_order() {
        let deployed = manifest(&["db", "web"]);
        assert_eq!(check_replacement(&deployed, &manifest(&["web", "db"])), Ok(()));
        for other in [&["web"][..], &["db", "web", "x"], &["db", "api"]] {
            let error = check_replacement(&deployed, &manifest(other)).unwrap_err();
            assert_eq!(
                error.wanted,
                other
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect::<BTreeSet<_>>()
                    .into_iter()
                    .collect::<Vec<_>>()
            );
        }
    }
}
