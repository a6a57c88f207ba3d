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
mod replacement;
pub mod version;

pub use lease::{Lease, Service};
pub use replacement::{ServicesDiffer, check_replacement};

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_types::LeaseId;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use provider_crd::manifest::{ReadError, WriteError};
use provider_crd::{Manifest, ManifestSpec, labels, names};
use provider_engine::cluster::command::Workload;
use provider_engine::cluster::view::Held;

use crate::settings::Settings;

/// The `Manifest` of a workload, not written yet.
///
/// Its own label of the revision is empty: there is none before it is written.
///
/// When the manifest says less than is needed or a number does not fit. None that was validated is
/// refused.
pub fn manifest(workload: &Workload, settings: &Settings) -> Result<Manifest, WriteError> {
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
pub fn held(manifest: &Manifest, deployed: bool) -> Result<(LeaseId, Held), ReadError> {
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
