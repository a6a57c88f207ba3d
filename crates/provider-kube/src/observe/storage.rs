//! Persistent storage by class.

use std::collections::BTreeMap;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::PersistentVolume;
use provider_crd::labels;
use provider_engine::cluster::view::{Name, StorageClass, StoragePlace};

use super::quantity::whole;
use super::{Capacity, Known, Seen};
use crate::settings::Settings;

/// Every class that exists, with why it is not sold where it is not.
pub(super) fn classes(
    seen: &Seen<'_>,
    known: &Known,
    settings: &Settings,
    leases: &BTreeMap<String, LeaseId>,
) -> BTreeMap<Name, StorageClass> {
    let classes = seen.classes.iter().filter_map(|class| {
        let name = class.metadata.name.as_deref()?;
        Some((Name::from(name), one(name, seen, known, settings, leases)))
    });
    classes.collect()
}

fn one(
    name: &str,
    seen: &Seen<'_>,
    known: &Known,
    settings: &Settings,
    leases: &BTreeMap<String, LeaseId>,
) -> StorageClass {
    let unsold = |why: String| StorageClass { unsold: Some(why.into()), ..Default::default() };
    if !settings.storage_classes.iter().any(|sold| sold == name) {
        return unsold(format!("label {} is not \"true\"", labels::MANAGED));
    }
    let Some(Capacity { bytes: allocatable, place, disks }) = known.capacity.get(name).cloned()
    else {
        let why = known.without_capacity.get(name).cloned();
        return unsold(why.unwrap_or_else(|| "nothing says how much there is".to_owned()));
    };
    let volumes = seen.volumes.iter().filter(|volume| class_of(volume) == Some(name));
    let others = match place {
        // What others have of it counts on its node.
        StoragePlace::NodeDisk => 0,
        StoragePlace::Shared => volumes
            .filter(|volume| !is_of_lease(volume, leases))
            .fold(0_i64, |sum, volume| sum.saturating_add(size(volume))),
    };
    StorageClass { allocatable, others, place, disks, unsold: None }
}

pub(crate) fn class_of(volume: &PersistentVolume) -> Option<&str> {
    volume.spec.as_ref()?.storage_class_name.as_deref()
}

/// The node on which a volume is, if it is on one.
pub(crate) fn node_of(volume: &PersistentVolume) -> Option<&str> {
    let required = volume.spec.as_ref()?.node_affinity.as_ref()?.required.as_ref()?;
    let terms = required.node_selector_terms.iter();
    let matches = terms.flat_map(|term| term.match_expressions.iter().flatten());
    let mut nodes = matches.filter(|it| it.key == HOSTNAME && it.operator == "In");
    match nodes.next()?.values.as_deref()? {
        [node] => Some(node),
        _ => None,
    }
}

/// Label of nodes by which volumes name theirs.
const HOSTNAME: &str = "kubernetes.io/hostname";

pub(super) fn is_of_lease(volume: &PersistentVolume, leases: &BTreeMap<String, LeaseId>) -> bool {
    let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
    let namespace = claim.and_then(|claim| claim.namespace.as_ref());
    namespace.is_some_and(|namespace| leases.contains_key(namespace))
}

pub(crate) fn size(volume: &PersistentVolume) -> i64 {
    let capacity = volume.spec.as_ref().and_then(|spec| spec.capacity.as_ref());
    let storage = capacity.and_then(|capacity| capacity.get("storage"));
    storage.and_then(|amount| whole(&amount.0)).unwrap_or_default()
}
