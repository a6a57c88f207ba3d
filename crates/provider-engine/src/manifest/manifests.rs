//! Manifests of tenants and the hostnames that they list, as one.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_types::LeaseId;

use super::{Hostnames, ManifestAction, ManifestInput, ManifestSettings, Submissions};
use crate::cluster::command::Workload;
use crate::cluster::view::LeaseView;
use crate::time::Now;

#[derive(Clone, Debug)]
pub(crate) struct Manifests {
    submissions: Submissions,
    hostnames: Hostnames,
}

impl Manifests {
    pub(crate) fn new(settings: ManifestSettings) -> Self {
        Self { submissions: Submissions::new(settings), hostnames: Hostnames::default() }
    }

    pub(crate) fn configure(&mut self, settings: ManifestSettings) {
        self.submissions.configure(settings);
    }

    /// What is to be done about `input`, where the cluster showed `leases` last.
    pub(crate) fn handle(
        &mut self,
        now: Now,
        input: ManifestInput,
        leases: &BTreeMap<LeaseId, LeaseView>,
    ) -> Vec<ManifestAction> {
        self.submissions.handle(now, input, leases, &mut self.hostnames)
    }

    /// When a [`ManifestInput::Tick`] is due.
    pub(crate) fn next_deadline(&self) -> Option<Now> {
        self.submissions.next_deadline()
    }

    pub(crate) const fn hostnames(&self) -> &Hostnames {
        &self.hostnames
    }

    /// The cluster was seen whole, and shows these leases.
    pub(crate) fn see_all<'a>(&mut self, leases: impl Iterator<Item = &'a LeaseView>) {
        self.hostnames.see_all(leases);
    }

    pub(crate) fn see(&mut self, lease: &LeaseView) {
        self.hostnames.see(lease);
    }

    /// A lease is over.
    pub(crate) fn end(&mut self, lease: LeaseId) {
        self.hostnames.end(lease);
    }

    /// The cluster has nothing of a lease any more.
    pub(crate) fn gone(&mut self, lease: LeaseId) {
        self.hostnames.gone(lease);
    }

    /// `workload` as it is to be deployed now: without the hostnames that another lease has, and
    /// with the endpoints that are being moved to it.
    pub(crate) fn complete(&mut self, workload: &Arc<Workload>) -> Workload {
        let Workload { lease, group, .. } = &**workload;
        let withheld = self.submissions.withheld(*lease, group, &mut self.hostnames);
        let endpoints_to_take = self.submissions.endpoints_to_take(*lease, group);
        Workload { withheld, endpoints_to_take, ..Workload::clone(workload) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{deployment, lease, sdl, workload};
    use super::*;

    #[test]
    fn what_is_deployed_lacks_the_hostnames_that_another_lease_has() {
        let mut manifests = Manifests::new(ManifestSettings::default());
        let sdl = sdl("a", &[&["shop.example.com"]]);
        let [first, second] = [1, 2].map(|dseq| lease(deployment(1, dseq), 1, 1));
        let first = workload(first, &sdl, &[]);
        assert_eq!(manifests.complete(&first), *first, "it was the first to ask");
        let second = workload(second, &sdl, &[]);
        assert_eq!(manifests.complete(&second).withheld, ["shop.example.com"]);
        assert_eq!(manifests.hostnames().holder("shop.example.com"), Some(first.lease));
    }
}
