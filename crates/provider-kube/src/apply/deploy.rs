//! Keeping a manifest, and making what runs be what it says.

use std::sync::Arc;

use akash_types::hostname::generated_under;
use futures_util::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp;
use kube_access::merge::Occasion;
use kube_access::{Failure, Preconditions, ResourceKind};
use provider_crd::{Manifest, labels, names};
use provider_engine::cluster::command::Workload;
use provider_engine::cluster::view::{Condition, IgnoredOptions};
use serde_json::Value;

use super::ApplyError;
use super::under_way::Deployment;
use super::write::Writer;
use crate::build::Object;
use crate::observe::condition;
use crate::observe::rollout::{is_rolling, revision_of, update_revision};
use crate::resolve::{Lease, version};
use crate::settings::Settings;
use crate::template::keep_settings;
use crate::watch::{CachedObject, NamespaceEntry, parts};
use crate::{build, definitions, resolve};

/// How many objects of a lease are written at the same time.
const AT_ONCE: usize = 8;

pub(super) struct Kept {
    manifest: Manifest,
    /// Whether anything was written for it.
    is_new: bool,
}

pub(super) async fn hold(
    writer: Writer<'_>,
    settings: &Settings,
    workload: &Workload,
) -> Result<(), ApplyError> {
    let kept = keep(writer, settings, workload).await?;
    if kept.is_new { Ok(()) } else { confirm(writer, settings, workload).await }
}

/// Keeps the manifest and writes everything that it asks for.
pub(super) async fn deploy(
    writer: Writer<'_>,
    settings: &Settings,
    workload: &Workload,
    this: &Deployment<'_>,
) -> Result<(), ApplyError> {
    let kept = keep(writer, settings, workload).await?;
    let before = entry(writer, &names::lease_namespace(&workload.lease));
    let isolation = settings.isolation.of_lease(before.namespace().as_ref());
    let has_mixed_architectures = parts::has_mixed_architectures(&writer.shared.cache());
    let settings = &Settings { isolation, has_mixed_architectures, ..settings.clone() };
    let lease = Lease::of(&kept.manifest)?;
    let mut objects = build::workload(&lease, settings)?;
    keep_settings(&lease, &mut objects, |kind, name| before.json(kind, name));
    let hosts = build::hosts(&lease, settings, &workload.withheld, Timestamp::now());
    objects.extend(hosts.into_iter().map(Object::from));
    let addresses = build::leased_ips(&lease, settings)?;
    let addresses = addresses.into_iter().map(Object::from);
    objects.extend(addresses.filter(|object| !is_anothers(writer, &lease, object)));

    let occasion = if kept.is_new || !parts::is_deployed(&before, settings) {
        Occasion::Update
    } else {
        Occasion::Adopt
    };
    let stale = match occasion {
        Occasion::Update => stale(&before, &lease, &objects, &workload.withheld, settings),
        Occasion::Adopt => Vec::new(),
    };
    let [first, guards, ways, names, workloads] = steps(objects);
    let mut written = usize::from(kept.is_new) + stale.len();
    for step in [first, guards, ways, names] {
        written += write(writer, &step, occasion, this).await?;
    }
    remove(writer, settings, &stale).await?;
    written += write(writer, &workloads, occasion, this).await?;
    if written == 0 { confirm(writer, settings, workload).await } else { Ok(()) }
}

/// Writes the `Manifest`, if it differs.
async fn keep(
    writer: Writer<'_>,
    settings: &Settings,
    workload: &Workload,
) -> Result<Kept, ApplyError> {
    // What is there decides what may be written.
    writer.shared.known().map(drop)?;
    let mut wanted = resolve::manifest(workload, settings)?;
    let namespace = names::lease_namespace(&workload.lease);
    let entry = entry(writer, &namespace);
    let is_deployed = entry.of(ResourceKind::NAMESPACE).next().is_some();
    if let Some(existing) = entry.manifest().filter(|_| is_deployed) {
        resolve::check_replacement(&existing, &wanted)?;
    }
    let mut ignored = workload.ignored.clone();
    if wanted.spec.has_newer_fields() && entry.manifest().is_none_or(|it| it.spec != wanted.spec) {
        let lost = match definitions::keep_known(writer.client, &mut wanted).await {
            Err(failure @ Failure::Unavailable { .. }) => return Err(failure.into()),
            // A dry run may be refused where the write is not.
            Err(error) => {
                tracing::warn!(%error, "what the cluster keeps cannot be found out");
                IgnoredOptions::new()
            }
            Ok(lost) => lost,
        };
        for (service, options) in lost {
            let (remedy, lease) = (definitions::REMEDY, workload.lease);
            let fields = options.join(", ");
            tracing::warn!(%lease, service, fields, remedy, "the cluster does not keep these fields");
            ignored.entry(service).or_default().extend(options);
        }
    }
    let hash = workload.version;
    let amend = |object: &mut Value| {
        if let Some(hash) = &hash {
            version::annotate(object, version::on_manifest(hash), &ignored);
        }
    };
    let written = writer.write(&Object::from(wanted), Occasion::Update, amend, || false).await?;
    let read = |shown: &CachedObject| {
        shown.typed::<Manifest>(ResourceKind::MANIFEST).ok_or(ApplyError::Unread)
    };
    let mut kept = Kept { manifest: read(&written.shown)?, is_new: written.is_new };
    let there =
        entry.of(ResourceKind::NAMESPACE).next().map(|shown| shown.json(ResourceKind::NAMESPACE));
    let known = version::of(&kept.manifest, entry.namespace().as_ref());
    if let Some(hash) = hash.filter(|hash| !kept.is_new && known != Some(*hash)) {
        // Only the hash differs. No pod is to be restarted for that.
        let (kind, mut object, text) = match there {
            Some(there) => {
                let revision = kept.manifest.metadata.resource_version.as_deref();
                let text = version::on_namespace(&hash, revision.unwrap_or_default());
                (ResourceKind::NAMESPACE, there, text)
            }
            None => (
                ResourceKind::MANIFEST,
                written.shown.json(ResourceKind::MANIFEST),
                version::on_manifest(&hash),
            ),
        };
        version::annotate(&mut object, text, &ignored);
        let shown = writer.put(kind, &object).await?;
        kept.is_new = true;
        if kind == ResourceKind::MANIFEST {
            kept.manifest = read(&shown)?;
        }
    }
    Ok(kept)
}

/// Nothing was to be written: the API server says itself that it is there.
async fn confirm(
    writer: Writer<'_>,
    settings: &Settings,
    workload: &Workload,
) -> Result<(), ApplyError> {
    let name = names::lease_namespace(&workload.lease);
    let namespace = Some(settings.manifest_namespace.as_str());
    let there = writer.read(ResourceKind::MANIFEST, namespace, &name).await?;
    there.map(drop).ok_or(ApplyError::Deleted)
}

/// Writes objects that do not depend on each other; how many. Names that are another lease's by now
/// stay so.
pub(super) async fn write(
    writer: Writer<'_>,
    objects: &[Object],
    occasion: Occasion,
    this: &Deployment<'_>,
) -> Result<usize, ApplyError> {
    let writes: Vec<_> = objects
        .iter()
        .map(|object| {
            let is_host = matches!(object, Object::ProviderHost(_));
            let stays = move || is_host && this.lost(name(object));
            writer.write(object, occasion, |_| {}, stays)
        })
        .collect();
    let mut writes = stream::iter(writes).buffer_unordered(AT_ONCE);
    let mut sum = 0;
    while let Some(written) = writes.try_next().await? {
        sum += usize::from(written.is_new);
    }
    Ok(sum)
}

/// Whether a port at a leased address belongs to another lease: the tenant moves it when asked to.
fn is_anothers(writer: Writer<'_>, lease: &Lease, object: &Object) -> bool {
    let name = name(object);
    let cache = writer.shared.cache();
    let there = cache.named(ResourceKind::LEASED_IP, name).is_some();
    there && cache.get(ResourceKind::LEASED_IP, &lease.namespace, name).is_none()
}

fn name(object: &Object) -> &str {
    object.metadata().name.as_deref().unwrap_or_default()
}

async fn remove(
    writer: Writer<'_>,
    settings: &Settings,
    stale: &[(ResourceKind, Arc<CachedObject>)],
) -> Result<(), Failure> {
    for (kind, shown) in stale {
        let namespace = match *kind {
            ResourceKind::HOST | ResourceKind::LEASED_IP => &settings.manifest_namespace,
            _ => &shown.namespace,
        };
        let uid = Some(shown.uid.clone());
        // A hostname that another lease was given meanwhile is that one's.
        let version = (*kind == ResourceKind::HOST).then(|| shown.version.clone());
        let exactly = Preconditions { uid, resource_version: version };
        tracing::debug!(
            kind = kind.name,
            name = shown.name,
            "removing what is not wanted any more"
        );
        writer.delete(*kind, Some(namespace), &shown.name, exactly).await?;
    }
    Ok(())
}

/// Deletes a pod behind which an update would wait for ever.
pub(super) async fn free(writer: Writer<'_>, pod: Stuck) -> Result<(), Failure> {
    tracing::info!(
        namespace = pod.namespace,
        pod = pod.name,
        "deleting a pod that holds up an update"
    );
    let exactly = Preconditions { uid: Some(pod.uid), resource_version: None };
    writer.delete(ResourceKind::POD, Some(&pod.namespace), &pod.name, exactly).await
}

fn entry(writer: Writer<'_>, namespace: &str) -> NamespaceEntry {
    writer.shared.cache().entry(namespace).cloned().unwrap_or_default()
}

/// The objects in steps. Those of one step do not depend on each other.
pub(crate) fn steps(objects: Vec<Object>) -> [Vec<Object>; 5] {
    let mut steps: [Vec<Object>; 5] = Default::default();
    for object in objects {
        let [first, guards, ways, names, workloads] = &mut steps;
        let step = match object {
            Object::Namespace(_) | Object::Manifest(_) => first,
            Object::NetworkPolicy(_)
            | Object::ServiceAccount(_)
            | Object::Role(_)
            | Object::Secret(_) => guards,
            // The API server wants to see the role that is bound.
            Object::RoleBinding(_) | Object::Service(_) => ways,
            Object::ProviderHost(_) | Object::ProviderLeasedIp(_) => names,
            Object::Deployment(_) | Object::StatefulSet(_) => workloads,
        };
        step.push(object);
    }
    steps
}

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
