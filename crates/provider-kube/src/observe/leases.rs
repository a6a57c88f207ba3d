//! What is there of leases.

use std::collections::BTreeMap;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::{Namespace, Pod, Service};
use provider_crd::{labels, names};
use provider_engine::cluster::view::{LeaseView, Name};

use super::quantity::whole;
use super::{Known, Seen, node_ports, replica};
use crate::resolve::{held, version};

/// What is there of every lease of which something is.
pub(super) fn views(
    seen: &Seen<'_>,
    known: &Known,
    pods: &[&Pod],
    leases: &BTreeMap<String, LeaseId>,
) -> BTreeMap<LeaseId, LeaseView> {
    let mut views: BTreeMap<LeaseId, LeaseView> =
        leases.values().map(|lease| (*lease, LeaseView::empty(*lease))).collect();
    for manifest in seen.manifests {
        // One that cannot be read is as good as none: what runs is still seen by its labels.
        if let Ok((lease, mut held)) = held(manifest, false)
            && let Some(view) = views.get_mut(&lease)
        {
            held.deployed = known.deployed.contains(&lease);
            let name = manifest.metadata.name.as_ref();
            let namespace = seen.namespaces.iter().find(|it| it.metadata.name.as_ref() == name);
            held.version = version::of(manifest, namespace);
            held.ignored = version::ignored(manifest, namespace);
            view.held = Some(held);
        }
    }
    for pod in pods.iter().filter(|pod| !replica::has_ended(pod)) {
        if let Some((lease, service)) = replica::lease_of(pod, leases)
            && let Some(view) = views.get_mut(&lease)
        {
            let card = view.held.as_ref().and_then(|held| held.cards.get(service));
            view.replicas.push(replica::of(pod, service, card));
        }
    }
    claims(seen, leases, &mut views);
    for host in seen.hosts {
        let spec = &host.spec;
        let id =
            format!("{}/{}/{}/{}/{}", spec.owner, spec.dseq, spec.gseq, spec.oseq, spec.provider);
        if let Some(view) = id.parse().ok().and_then(|lease: LeaseId| views.get_mut(&lease)) {
            view.hostnames.push(spec.hostname.clone());
        }
    }
    addresses(seen, &mut views);
    for (namespace, lease) in leases {
        let is_here = |service: &&Service| service.metadata.namespace.as_ref() == Some(namespace);
        let used = node_ports::used(seen.services.iter().filter(is_here));
        if let Some(view) = views.get_mut(lease) {
            view.ports = u64::try_from(used.len()).unwrap_or(u64::MAX);
        }
    }
    for namespace in seen.namespaces {
        let name = namespace.metadata.name.as_ref();
        let lease = name.and_then(|name| leases.get(name));
        if let Some(view) = lease.and_then(|lease| views.get_mut(lease)) {
            ending(namespace, view);
        }
    }
    views
}

/// The lease that a namespace says it is of, if it says so and is named like it.
pub(crate) fn labelled(namespace: &Namespace) -> Option<LeaseId> {
    let found = namespace.metadata.labels.as_ref()?;
    let keys = [
        labels::LEASE_OWNER,
        labels::LEASE_DSEQ,
        labels::LEASE_GSEQ,
        labels::LEASE_OSEQ,
        labels::LEASE_PROVIDER,
    ];
    let parts: Option<Vec<&str>> = keys.iter().map(|key| found.get(*key).map(|it| &**it)).collect();
    let lease: LeaseId = parts?.join("/").parse().ok()?;
    let name = namespace.metadata.name.as_ref()?;
    (names::lease_namespace(&lease) == *name).then_some(lease)
}

/// Bytes that claims of leases ask for, by class.
fn claims(
    seen: &Seen<'_>,
    leases: &BTreeMap<String, LeaseId>,
    views: &mut BTreeMap<LeaseId, LeaseView>,
) {
    for claim in seen.claims {
        let lease = claim.metadata.namespace.as_ref().and_then(|name| leases.get(name));
        let Some(view) = lease.and_then(|lease| views.get_mut(lease)) else {
            continue;
        };
        let Some(spec) = &claim.spec else { continue };
        let Some(class) = spec.storage_class_name.as_deref() else { continue };
        let requests = spec.resources.as_ref().and_then(|resources| resources.requests.as_ref());
        let size = requests.and_then(|requests| requests.get("storage"));
        let size = size.and_then(|size| whole(&size.0)).unwrap_or_default();
        let sum = view.volumes.entry(Name::from(class)).or_default();
        *sum = sum.saturating_add(size);
    }
}

/// How many addresses leases have: ports that share one count once.
fn addresses(seen: &Seen<'_>, views: &mut BTreeMap<LeaseId, LeaseView>) {
    let mut keys: Vec<(LeaseId, &str)> = seen
        .leased_ips
        .iter()
        .filter_map(|one| Some((one.spec.lease_id.lease().ok()?, one.spec.sharing_key.as_str())))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    for (lease, _) in keys {
        if let Some(view) = views.get_mut(&lease) {
            view.ips += 1;
        }
    }
}

/// Whether a namespace is on its way out, and what keeps it.
fn ending(namespace: &Namespace, view: &mut LeaseView) {
    view.terminating = namespace.metadata.deletion_timestamp.is_some();
    let conditions = namespace.status.as_ref().and_then(|status| status.conditions.as_ref());
    let stuck = conditions.into_iter().flatten().find(|condition| {
        condition.status == "True"
            && matches!(
                condition.type_.as_str(),
                "NamespaceDeletionDiscoveryFailure"
                    | "NamespaceDeletionGroupVersionParsingFailure"
                    | "NamespaceDeletionContentFailure"
                    | "NamespaceFinalizersRemaining"
            )
    });
    view.stuck = stuck
        .filter(|_| view.terminating)
        .map(|condition| condition.message.clone().unwrap_or_else(|| condition.type_.clone()));
}
