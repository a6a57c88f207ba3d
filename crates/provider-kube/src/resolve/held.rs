//! What a `Manifest` in the cluster tells the engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_types::LeaseId;
use provider_crd::Manifest;
use provider_crd::manifest::ReadError;
use provider_engine::cluster::view::Held;

use super::cards;

/// The lease that a `Manifest` is for, and what is held for it. Whether the workloads were written
/// from it is for the caller to see.
///
/// Nor is its hash filled in, which may stand on the namespace; see [`version`](super::version).
///
/// # Errors
///
/// When the `Manifest` is malformed.
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
