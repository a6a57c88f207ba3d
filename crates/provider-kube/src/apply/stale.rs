//! What an earlier manifest of a lease left behind.

use std::sync::Arc;

use akash_types::hostname::generated_under;
use kube_access::ResourceKind;
use provider_crd::{labels, names};

use crate::build::Object;
use crate::resolve::Lease;
use crate::settings::Settings;
use crate::watch::{CachedObject, NamespaceEntry};

/// Kinds of which none stays that the manifest does not ask for.
const KINDS: [ResourceKind; 10] = [
    ResourceKind::NETWORK_POLICY,
    ResourceKind::SERVICE_ACCOUNT,
    ResourceKind::ROLE,
    ResourceKind::ROLE_BINDING,
    ResourceKind::SECRET,
    ResourceKind::DEPLOYMENT,
    ResourceKind::STATEFUL_SET,
    ResourceKind::SERVICE,
    ResourceKind::HOST,
    ResourceKind::LEASED_IP,
];

/// The objects of a lease that are there, ours, and not wanted any more. Claims are never among
/// them: they hold what the tenant stored.
pub(crate) fn stale(
    entry: &NamespaceEntry,
    lease: &Lease,
    wanted: &[Object],
    withheld: &[String],
    settings: &Settings,
) -> Vec<(ResourceKind, Arc<CachedObject>)> {
    let is_wanted = |kind: ResourceKind, name: &str| {
        let mut same = wanted.iter().filter(|object| object.kind() == kind.name);
        same.any(|object| object.metadata().name.as_deref() == Some(name))
    };
    let there = KINDS.iter().flat_map(|kind| entry.of(*kind).map(|shown| (*kind, shown)));
    let unwanted = there.filter(|(kind, shown)| !is_wanted(*kind, &shown.name));
    let ours = unwanted.filter(|(kind, shown)| match *kind {
        // Switched off, they stay as they are.
        ResourceKind::NETWORK_POLICY => settings.network_policies.is_some(),
        ResourceKind::SECRET => {
            lease.services.iter().any(|service| shown.name == names::pull_secret(service.name()))
        }
        // At leased addresses, made by the IP operator.
        ResourceKind::SERVICE => !shown.labels.contains_key(labels::SERVICE_TARGET),
        // Names that were given stay for as long as the lease; those withheld are another lease's.
        ResourceKind::HOST => !withheld.contains(&shown.name) && !is_generated(lease, &shown.name),
        _ => true,
    });
    ours.map(|(kind, shown)| (kind, Arc::clone(shown))).collect()
}

fn is_generated(lease: &Lease, hostname: &str) -> bool {
    let mut services = lease.services.iter();
    services.any(|service| generated_under(lease.id, service.name(), hostname).is_some())
}
