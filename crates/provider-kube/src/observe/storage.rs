//! Persistent storage by class.

use std::collections::BTreeMap;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::PersistentVolume;
use provider_engine::cluster::view::{Name, StorageClass};

use super::quantity::whole;
use super::{Known, Seen};
use crate::settings::Settings;

/// The classes that may be sold, exist, and have something to sell.
pub(super) fn classes(
    seen: &Seen<'_>,
    known: &Known,
    settings: &Settings,
    leases: &BTreeMap<String, LeaseId>,
) -> BTreeMap<Name, StorageClass> {
    let exists = |class: &str| {
        seen.classes.iter().any(|known| known.metadata.name.as_deref() == Some(class))
    };
    let sold = settings.storage_classes.iter().filter(|class| exists(class));
    let with_capacity = sold.filter_map(|class| Some((class, *known.capacity.get(class)?)));
    let classes = with_capacity.map(|(class, allocatable)| {
        let foreign = seen
            .volumes
            .iter()
            .filter(|volume| class_of(volume) == Some(class) && !is_of_lease(volume, leases));
        let others = foreign.fold(0_i64, |sum, volume| sum.saturating_add(size(volume)));
        (Name::from(class.as_str()), StorageClass { allocatable, others })
    });
    classes.collect()
}

fn class_of(volume: &PersistentVolume) -> Option<&str> {
    volume.spec.as_ref()?.storage_class_name.as_deref()
}

fn is_of_lease(volume: &PersistentVolume, leases: &BTreeMap<String, LeaseId>) -> bool {
    let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
    let namespace = claim.and_then(|claim| claim.namespace.as_ref());
    namespace.is_some_and(|namespace| leases.contains_key(namespace))
}

fn size(volume: &PersistentVolume) -> i64 {
    let capacity = volume.spec.as_ref().and_then(|spec| spec.capacity.as_ref());
    let storage = capacity.and_then(|capacity| capacity.get("storage"));
    storage.and_then(|amount| whole(&amount.0)).unwrap_or_default()
}
