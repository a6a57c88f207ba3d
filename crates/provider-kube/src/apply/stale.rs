//! What an earlier manifest of a lease left behind.

use std::sync::Arc;

use akash_types::hostname::generated_under;
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kube_access::ResourceKind;
use provider_crd::{labels, names};
use provider_engine::cluster::view::Condition;

use crate::build::Object;
use crate::observe::condition;
use crate::observe::rollout::{is_rolling, revision_of, update_revision};
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: String,
}

/// Pods of StatefulSets that are older than the set's template and do not work. The set would
/// replace them anyway; what they stored is not theirs. None as long as the set's controller has not
/// seen the newest template: until then its revision is not known.
pub(crate) fn stuck(entry: &NamespaceEntry) -> Vec<Stuck> {
    let mut found = Vec::new();
    for shown in entry.of(ResourceKind::STATEFUL_SET) {
        let mut idle = entry.pods.values().filter(|pod| is_idle(pod, &shown.uid)).peekable();
        if idle.peek().is_none() {
            continue;
        }
        let set: Option<StatefulSet> = shown.typed(ResourceKind::STATEFUL_SET);
        let Some(set) = set.filter(is_rolling) else { continue };
        let Some(newest) = update_revision(&set) else { continue };
        let is_old = |pod: &&_| revision_of(pod).is_some_and(|revision| revision != newest);
        found.extend(idle.map(|pod| &**pod).filter(is_old).map(|pod: &Pod| {
            let metadata = &pod.metadata;
            Stuck {
                namespace: metadata.namespace.clone().unwrap_or_default(),
                name: metadata.name.clone().unwrap_or_default(),
                uid: metadata.uid.clone().unwrap_or_default(),
            }
        }));
    }
    found
}

/// Whether a pod is of this set and does not work.
fn is_idle(pod: &Pod, set: &str) -> bool {
    let mut owners = pod.metadata.owner_references.iter().flatten();
    owners.any(|owner| owner.uid == set)
        && !matches!(condition(pod), Condition::Ready | Condition::Ending)
}
