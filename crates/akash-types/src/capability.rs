//! Whether a provider says that it has what the resources of a group need.
//!
//! The chain makes the same comparison when a bid comes in, against the attributes that the
//! provider registered. It says nothing about what is free: that is inventory's business.

use std::collections::BTreeMap;

use crate::attribute::{Attribute, is_any_met, is_subset};
use crate::{GroupSpec, Resources};

/// A need of a group that no attribute of the provider meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnmetCapability {
    /// No storage capability has all attributes of a volume.
    #[error(
        "no storage capability meets the attributes of volume {volume} of resource unit {unit}"
    )]
    Storage {
        /// Index of the unit in its group.
        unit: usize,
        /// Index of the volume in the unit.
        volume: usize,
    },
    /// No GPU capability is among those asked for.
    #[error("no GPU capability meets any GPU attribute of resource unit {unit}")]
    Gpu {
        /// Index of the unit in its group.
        unit: usize,
    },
}

/// The first need of `group` that the attributes of a provider do not meet.
pub fn unmet_capability(group: &GroupSpec, provider: &[Attribute]) -> Option<UnmetCapability> {
    let storage = storage_capabilities(provider);
    let gpu = gpu_capabilities(provider);
    group.resources.iter().enumerate().find_map(|(unit, spec)| {
        if let Some(volume) = unmet_volume(&spec.resources, &storage) {
            return Some(UnmetCapability::Storage { unit, volume });
        }
        let wanted = &spec.resources.gpu;
        let unmet = wanted.units > 0
            && !wanted.attributes.is_empty()
            && !is_any_met(&wanted.attributes, &gpu);
        unmet.then_some(UnmetCapability::Gpu { unit })
    })
}

/// Volumes without attributes need nothing; others must be met whole by one capability.
fn unmet_volume(resources: &Resources, capabilities: &[Vec<Attribute>]) -> Option<usize> {
    resources.storage.iter().position(|volume| {
        !volume.attributes.is_empty()
            && !capabilities.iter().any(|capability| is_subset(&volume.attributes, capability))
    })
}

/// Storage that a provider says it has: keys `capabilities/storage/<n>/<key>`, grouped by `<n>`.
///
/// Keys with more or fewer parts are skipped. As on chain the prefix is compared as text, so
/// `capabilities/storage-x/1/class` counts too.
pub fn storage_capabilities(provider: &[Attribute]) -> Vec<Vec<Attribute>> {
    let mut groups = BTreeMap::<&str, Vec<Attribute>>::new();
    for (key, value) in capabilities(provider, "storage") {
        if let [_, group, name] = *key.split('/').collect::<Vec<_>>() {
            groups.entry(group).or_default().push(Attribute::new(name, value));
        }
    }
    groups.into_values().collect()
}

/// GPUs that a provider says it has: `capabilities/gpu/vendor/nvidia/model/a100` becomes
/// `vendor/nvidia/model/a100`.
///
/// Keys with fewer than two parts after `gpu` are skipped. As on chain the prefix is compared as
/// text, so `capabilities/gpu-interconnect/…` counts too.
pub fn gpu_capabilities(provider: &[Attribute]) -> Vec<Attribute> {
    capabilities(provider, "gpu")
        .filter_map(|(key, value)| {
            let (_, name) = key.split_once('/')?;
            name.contains('/').then(|| Attribute::new(name, value))
        })
        .collect()
}

/// Attributes under `capabilities/<prefix>`, keys without `capabilities/`.
fn capabilities<'a>(
    provider: &'a [Attribute],
    prefix: &'a str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    provider.iter().filter_map(move |attribute| {
        let key = attribute.key.strip_prefix("capabilities/")?;
        key.starts_with(prefix).then_some((key, attribute.value.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlacementRequirements, ResourceUnit, Storage};

    fn attributes(pairs: &[(&str, &str)]) -> Vec<Attribute> {
        pairs.iter().map(|(key, value)| Attribute::new(*key, *value)).collect()
    }

    fn group(volumes: &[&[(&str, &str)]], gpu: &[(&str, &str)]) -> GroupSpec {
        let mut resources = Resources::default();
        for volume in volumes {
            let attributes = attributes(volume);
            resources.storage.push(Storage { attributes, ..Storage::default() });
        }
        resources.gpu.units = 1;
        resources.gpu.attributes = attributes(gpu);
        let plain = ResourceUnit {
            resources: Resources::default(),
            count: 1,
            price: "1uact".parse().unwrap(),
        };
        let asking = ResourceUnit { resources, ..plain.clone() };
        GroupSpec {
            name: "west".to_owned(),
            requirements: PlacementRequirements::default(),
            resources: vec![plain, asking],
        }
    }

    #[test]
    fn one_capability_must_meet_the_whole_volume() {
        let provider = attributes(&[
            ("capabilities/storage/1/class", "beta2"),
            ("capabilities/storage/1/persistent", "true"),
            ("capabilities/storage/2/class", "ram"),
            ("capabilities/storage/2/persistent", "false"),
            ("capabilities/storage/3/class/extra", "beta3"),
            ("capabilities/storage/class", "beta1"),
        ]);
        let unmet = Some(UnmetCapability::Storage { unit: 1, volume: 1 });
        for (volume, expected) in [
            (&[][..], None),
            (&[("class", "beta2"), ("persistent", "true")], None),
            (&[("persistent", "false"), ("class", "ram")], None),
            (&[("class", "beta2")], None),
            (&[("class", "ram"), ("persistent", "true")], unmet),
            (&[("class", "beta3")], unmet),
            (&[("class", "beta1")], unmet),
        ] {
            assert_eq!(
                unmet_capability(&group(&[&[], volume], &[]), &provider),
                expected,
                "{volume:?}"
            );
        }
        assert_eq!(unmet_capability(&group(&[&[]], &[]), &[]), None);
    }

    #[test]
    fn one_gpu_attribute_must_be_met() {
        let provider = attributes(&[
            ("capabilities/gpu/vendor/nvidia/model/a100", "true"),
            ("capabilities/gpu/vendor/nvidia/model/a100/ram/80Gi", "true"),
            ("capabilities/gpu", "true"),
            ("capabilities/gpu/any", "true"),
        ]);
        let unmet = Some(UnmetCapability::Gpu { unit: 1 });
        for (gpu, expected) in [
            (&[][..], None),
            (&[("vendor/nvidia/model/*", "true")], None),
            (&[("vendor/nvidia/model/a100", "true")], None),
            (&[("vendor/nvidia/model/a100", "false")], unmet),
            (&[("vendor/nvidia/model/h100", "true"), ("vendor/nvidia/model/a100", "true")], None),
            (&[("vendor/nvidia/model/*/ram/80Gi", "true")], None),
            (&[("vendor/nvidia/model/*/interface/sxm", "true")], unmet),
            (&[("any", "true")], unmet),
        ] {
            assert_eq!(unmet_capability(&group(&[], gpu), &provider), expected, "{gpu:?}");
        }
        let short_missing =
            attributes(&[("capabilities/gpu/vendor/nvidia/model/a100/ram/80Gi", "true")]);
        let wildcard = group(&[], &[("vendor/nvidia/model/*", "true")]);
        assert_eq!(unmet_capability(&wildcard, &short_missing), unmet);
    }

    #[test]
    fn a_group_without_cards_needs_no_gpu_capability() {
        let mut spec = group(&[], &[("vendor/nvidia/model/*", "true")]);
        for unit in &mut spec.resources {
            unit.resources.gpu.units = 0;
        }
        assert_eq!(unmet_capability(&spec, &[]), None);
    }

    #[test]
    fn the_prefix_is_compared_as_text() {
        let provider = attributes(&[
            ("capabilities/gpu-interconnect/nvlink/x", "true"),
            ("capabilities/storage-x/1/class", "beta2"),
        ]);
        assert_eq!(gpu_capabilities(&provider), attributes(&[("nvlink/x", "true")]));
        assert_eq!(storage_capabilities(&provider), [attributes(&[("class", "beta2")])]);
    }
}
