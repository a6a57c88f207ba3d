//! What an earlier manifest of a lease left behind.

use std::sync::Arc;

use provider_crd::{labels, names};

use crate::build::Object;
use crate::client::Kind;
use crate::resolve::Lease;
use crate::settings::Settings;
use crate::watch::{Drawer, Shown};

/// Kinds of which none stays that the manifest does not ask for.
const KINDS: [Kind; 10] = [
    Kind::NETWORK_POLICY,
    Kind::SERVICE_ACCOUNT,
    Kind::ROLE,
    Kind::ROLE_BINDING,
    Kind::SECRET,
    Kind::DEPLOYMENT,
    Kind::STATEFUL_SET,
    Kind::SERVICE,
    Kind::HOST,
    Kind::LEASED_IP,
];

/// The objects of a lease that are there, ours, and not wanted any more. Claims are never among
/// them: they hold what the tenant stored.
#[must_use]
pub(crate) fn stale(
    drawer: &Drawer,
    lease: &Lease,
    wanted: &[Object],
    withheld: &[String],
    settings: &Settings,
) -> Vec<(Kind, Arc<Shown>)> {
    let is_wanted = |kind: Kind, name: &str| {
        let mut same = wanted.iter().filter(|object| object.kind() == kind.name);
        same.any(|object| object.metadata().name.as_deref() == Some(name))
    };
    let there = KINDS.iter().flat_map(|kind| drawer.of(*kind).map(|shown| (*kind, shown)));
    let unwanted = there.filter(|(kind, shown)| !is_wanted(*kind, &shown.name));
    let ours = unwanted.filter(|(kind, shown)| match *kind {
        // Switched off, they stay as they are.
        Kind::NETWORK_POLICY => settings.network_policies.is_some(),
        Kind::SECRET => {
            lease.services.iter().any(|service| shown.name == names::pull_secret(service.name()))
        }
        // At leased addresses, made by the IP operator.
        Kind::SERVICE => !shown.labels.contains_key(labels::SERVICE_TARGET),
        // Names that were given stay for as long as the lease; those withheld are another lease's.
        Kind::HOST => !withheld.contains(&shown.name) && !is_generated(lease, &shown.name),
        _ => true,
    });
    ours.map(|(kind, shown)| (kind, Arc::clone(shown))).collect()
}

fn is_generated(lease: &Lease, hostname: &str) -> bool {
    lease.services.iter().any(|service| {
        let label = names::generated_host_label(&lease.id, service.name());
        hostname.strip_prefix(&label).is_some_and(|rest| rest.starts_with('.'))
    })
}
