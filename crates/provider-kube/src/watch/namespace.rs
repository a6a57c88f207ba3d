//! Everything that is there of one namespace.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube_access::{CachedObject, ResourceKind};
use provider_crd::{Manifest, labels};
use serde_json::Value;

use crate::observe;

/// Everything that is there of one namespace. If that is a lease's, its custom resources belong to
/// it wherever they are kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamespaceEntry {
    /// The lease, if it is one's.
    pub(crate) lease: Option<LeaseId>,
    pub(crate) pods: BTreeMap<String, Arc<Pod>>,
    objects: BTreeMap<(ResourceKind, String), Arc<CachedObject>>,
}

impl NamespaceEntry {
    pub(crate) fn get(&self, kind: ResourceKind, name: &str) -> Option<&Arc<CachedObject>> {
        self.objects.get(&(kind, name.to_owned()))
    }

    pub(crate) fn json(&self, kind: &str, name: &str) -> Option<Value> {
        let kind = ResourceKind::named(kind)?;
        Some(self.get(kind, name)?.json(kind))
    }

    /// All objects of a kind, in the order of their names.
    pub(crate) fn of(&self, kind: ResourceKind) -> impl Iterator<Item = &Arc<CachedObject>> {
        let all = (kind, String::new())..;
        self.objects.range(all).take_while(move |((it, _), _)| *it == kind).map(|(_, shown)| shown)
    }

    pub(crate) fn typed<T: serde::de::DeserializeOwned>(&self, kind: ResourceKind) -> Vec<T> {
        self.of(kind).filter_map(|shown| shown.typed(kind)).collect()
    }

    /// The lease's `Manifest`.
    pub(crate) fn manifest(&self) -> Option<Manifest> {
        self.of(ResourceKind::MANIFEST).next()?.typed(ResourceKind::MANIFEST)
    }

    pub(crate) fn namespace(&self) -> Option<Namespace> {
        self.of(ResourceKind::NAMESPACE).next()?.typed(ResourceKind::NAMESPACE)
    }

    /// Whether a pod of this namespace is one of a lease's service.
    pub(crate) fn is_replica(&self, pod: &Pod) -> bool {
        let found = pod.metadata.labels.as_ref();
        self.lease.is_some() && found.is_some_and(|found| found.contains_key(labels::SERVICE))
    }

    pub(crate) fn put(&mut self, kind: ResourceKind, shown: Arc<CachedObject>) {
        self.objects.insert((kind, shown.name.clone()), shown);
        self.name_lease(kind);
    }

    pub(super) fn take(&mut self, kind: ResourceKind, name: &str) -> Option<Arc<CachedObject>> {
        let taken = self.objects.remove(&(kind, name.to_owned()));
        self.name_lease(kind);
        taken
    }

    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.pods.is_empty()
    }

    fn name_lease(&mut self, kind: ResourceKind) {
        if kind != ResourceKind::MANIFEST && kind != ResourceKind::NAMESPACE {
            return;
        }
        let held = self.manifest().and_then(|manifest| manifest.lease().ok());
        self.lease = held.or_else(|| observe::labelled(&self.namespace()?));
    }
}
