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
mod held;
mod lease;
mod replacement;
pub mod version;

pub use held::held;
pub use lease::{Lease, Service};
pub use replacement::{ServicesDiffer, check_replacement};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use provider_crd::manifest::WriteError;
use provider_crd::{Manifest, ManifestSpec, labels, names};
use provider_engine::cluster::command::Workload;

use crate::settings::Settings;

/// The `Manifest` of a workload, not written yet.
///
/// Its own label of the revision is empty: there is none before it is written.
///
/// # Errors
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
