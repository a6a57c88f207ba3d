//! Keeping a manifest, and making what runs be what it says.

use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use k8s_openapi::jiff::Timestamp;
use provider_crd::{Manifest, names};
use provider_engine::cluster::command::{CommandFailure, Workload};
use serde_json::Value;

use super::plan;
use super::stale::stale;
use super::stuck::Stuck;
use super::under_way::Deployment;
use super::write::Writer;
use crate::build::{self, Object};
use crate::client::{Exactly, Kind};
use crate::merge::{self, Occasion};
use crate::resolve::{self, Lease, version};
use crate::settings::Settings;
use crate::watch::{Drawer, Shown, pieces};

/// How many objects of a lease are written at the same time.
const AT_ONCE: usize = 8;

/// A manifest that is kept.
pub(super) struct Kept {
    manifest: Manifest,
    /// Whether anything was written for it.
    is_new: bool,
}

/// Keeps the manifest, durably.
pub(super) async fn hold(
    writer: Writer<'_>,
    settings: &Settings,
    workload: &Workload,
) -> Result<(), CommandFailure> {
    let kept = keep(writer, settings, workload).await?;
    if kept.is_new { Ok(()) } else { confirm(writer, settings, workload).await }
}

/// Keeps the manifest and writes everything that it asks for.
pub(super) async fn deploy(
    writer: Writer<'_>,
    settings: &Settings,
    workload: &Workload,
    this: &Deployment<'_>,
) -> Result<(), CommandFailure> {
    let refused = |error: &dyn std::error::Error| CommandFailure::Refused(error.to_string());
    let kept = keep(writer, settings, workload).await?;
    let before = drawer(writer, &names::lease_namespace(&workload.lease));
    let isolation = settings.isolation.of_lease(before.namespace().as_ref());
    let has_mixed_architectures = pieces::has_mixed_architectures(&writer.shared.mirror());
    let settings = &Settings { isolation, has_mixed_architectures, ..settings.clone() };
    let lease = Lease::of(&kept.manifest).map_err(|error| refused(&error))?;
    let mut objects = build::workload(&lease, settings).map_err(|error| refused(&error))?;
    merge::keep_settings(&lease, &mut objects, |kind, name| before.json(kind, name));
    let hosts = build::hosts(&lease, settings, &workload.withheld, Timestamp::now());
    objects.extend(hosts.into_iter().map(Object::from));
    let addresses = build::leased_ips(&lease, settings).map_err(|error| refused(&error))?;
    let addresses = addresses.into_iter().map(Object::from);
    objects.extend(addresses.filter(|object| !is_anothers(writer, &lease, object)));

    let occasion = if kept.is_new || !pieces::is_deployed(&before, settings) {
        Occasion::Update
    } else {
        Occasion::Adopt
    };
    let stale = match occasion {
        Occasion::Update => stale(&before, &lease, &objects, &workload.withheld, settings),
        Occasion::Adopt => Vec::new(),
    };
    let [first, guards, ways, names, workloads] = plan::steps(objects);
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
) -> Result<Kept, CommandFailure> {
    let refused = |error: &dyn std::error::Error| CommandFailure::Refused(error.to_string());
    // What is there decides what may be written.
    let known = writer.shared.known().map(drop);
    known.map_err(CommandFailure::from)?;
    let wanted = resolve::manifest(workload, settings).map_err(|error| refused(&error))?;
    let namespace = names::lease_namespace(&workload.lease);
    let drawer = drawer(writer, &namespace);
    let is_deployed = drawer.of(Kind::NAMESPACE).next().is_some();
    if let Some(existing) = drawer.manifest().filter(|_| is_deployed) {
        resolve::check_replacement(&existing, &wanted).map_err(|error| refused(&error))?;
    }
    let hash = workload.version;
    let amend = |object: &mut Value| {
        if let Some(hash) = &hash {
            version::annotate(object, version::on_manifest(hash), &workload.ignored);
        }
    };
    let written = writer.write(&Object::from(wanted), Occasion::Update, amend, || false).await?;
    let read = |shown: &Shown| {
        let manifest = shown.typed::<Manifest>(Kind::MANIFEST);
        let unread = "the Manifest that was written cannot be read";
        manifest.ok_or_else(|| CommandFailure::Unavailable(unread.to_owned()))
    };
    let mut kept = Kept { manifest: read(&written.shown)?, is_new: written.is_new };
    let there = drawer.of(Kind::NAMESPACE).next().map(|shown| shown.json(Kind::NAMESPACE));
    let known = version::of(&kept.manifest, drawer.namespace().as_ref());
    if let Some(hash) = hash.filter(|hash| !kept.is_new && known != Some(*hash)) {
        // Only the hash differs. No pod is to be restarted for that.
        let (kind, mut object, text) = match there {
            Some(there) => {
                let revision = kept.manifest.metadata.resource_version.as_deref();
                let text = version::on_namespace(&hash, revision.unwrap_or_default());
                (Kind::NAMESPACE, there, text)
            }
            None => {
                (Kind::MANIFEST, written.shown.json(Kind::MANIFEST), version::on_manifest(&hash))
            }
        };
        version::annotate(&mut object, text, &workload.ignored);
        let shown = writer.put(kind, &object).await.map_err(CommandFailure::from)?;
        kept.is_new = true;
        if kind == Kind::MANIFEST {
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
) -> Result<(), CommandFailure> {
    let name = names::lease_namespace(&workload.lease);
    let namespace = Some(settings.manifest_namespace.as_str());
    match writer.read(Kind::MANIFEST, namespace, &name).await? {
        Some(_) => Ok(()),
        None => Err(CommandFailure::Unavailable("the Manifest was deleted meanwhile".to_owned())),
    }
}

/// Writes objects that do not depend on each other; how many. Names that are another lease's by now
/// stay so.
pub(super) async fn write(
    writer: Writer<'_>,
    objects: &[Object],
    occasion: Occasion,
    this: &Deployment<'_>,
) -> Result<usize, CommandFailure> {
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
    let mirror = writer.shared.mirror();
    let there = mirror.named(Kind::LEASED_IP, name).is_some();
    there && mirror.get(Kind::LEASED_IP, &lease.namespace, name).is_none()
}

fn name(object: &Object) -> &str {
    object.metadata().name.as_deref().unwrap_or_default()
}

async fn remove(
    writer: Writer<'_>,
    settings: &Settings,
    stale: &[(Kind, Arc<Shown>)],
) -> Result<(), CommandFailure> {
    for (kind, shown) in stale {
        let namespace = match *kind {
            Kind::HOST | Kind::LEASED_IP => &settings.manifest_namespace,
            _ => &shown.namespace,
        };
        let uid = Some(shown.uid.clone());
        // A hostname that another lease was given meanwhile is that one's.
        let version = (*kind == Kind::HOST).then(|| shown.version.clone());
        let exactly = Exactly { uid, version };
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
pub(super) async fn free(writer: Writer<'_>, pod: Stuck) -> Result<(), CommandFailure> {
    tracing::info!(
        namespace = pod.namespace,
        pod = pod.name,
        "deleting a pod that holds up an update"
    );
    let exactly = Exactly { uid: Some(pod.uid), version: None };
    Ok(writer.delete(Kind::POD, Some(&pod.namespace), &pod.name, exactly).await?)
}

fn drawer(writer: Writer<'_>, namespace: &str) -> Drawer {
    writer.shared.mirror().drawer(namespace).cloned().unwrap_or_default()
}
