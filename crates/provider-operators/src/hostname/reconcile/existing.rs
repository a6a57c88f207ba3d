//! A route that is there.

use akash_types::LeaseId;
use kube_access::follow::CachedObject;
use kube_access::{Preconditions, ResourceKind};
use provider_crd::{labels, names};

/// A route that is there and says that it is a lease's.
#[derive(Clone, Debug)]
pub(super) struct ExistingRoute {
    pub(super) kind: ResourceKind,
    pub(super) lease: LeaseId,
    pub(super) shown: CachedObject,
    /// Whether it was told to go.
    pub(super) is_ending: bool,
}

impl ExistingRoute {
    /// `None` for what is not a lease's: somebody else's object, which is left alone.
    pub(super) fn of(kind: ResourceKind, shown: CachedObject) -> Option<Self> {
        let part = |label: &str| shown.labels.get(label).map(String::as_str);
        let parts = [
            part(labels::LEASE_OWNER)?,
            part(labels::LEASE_DSEQ)?,
            part(labels::LEASE_GSEQ)?,
            part(labels::LEASE_OSEQ)?,
            part(labels::LEASE_PROVIDER)?,
        ];
        let lease: LeaseId = parts.join("/").parse().ok()?;
        let is_its = names::lease_namespace(&lease) == shown.namespace;
        let is_ending = shown.is_ending;
        is_its.then_some(Self { kind, lease, shown, is_ending })
    }

    /// This object, as it was seen.
    pub(super) fn exactly(&self) -> Preconditions {
        Preconditions {
            uid: Some(self.shown.uid.clone()),
            resource_version: Some(self.shown.version.clone()),
        }
    }

    /// Whether this was shown before `other`, as far as the API server counts.
    pub(super) fn is_older_than(&self, other: &Self) -> bool {
        matches!((self.shown.number(), other.shown.number()), (Some(a), Some(b)) if a < b)
    }
}
