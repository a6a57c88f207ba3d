//! No name is taken from another tenant, and what was accepted is held.

use provider_engine::cluster::view::LeaseView;
use provider_engine::manifest::ManifestAnswer;
use provider_engine::{Reply, RequestId};

use super::Watch;

impl Watch {
    /// Names lead to a lease.
    pub(super) fn named(&mut self, view: &LeaseView) {
        for name in &view.hostnames {
            let before = self.names.insert(name.clone(), view.id);
            let Some(other) = before.filter(|other| other.owner() != view.id.owner()) else {
                continue;
            };
            let lives = self.mirror.get(&other).is_some_and(|other| !other.terminating);
            if lives && !self.is_over(other) && !self.is_disturbed() {
                self.found(8, format!("{name} of {other} leads to {} now", view.id));
            }
        }
    }

    /// A tenant hears something.
    pub(super) fn replied(&mut self, request: RequestId, reply: &Reply) {
        let Some((deployment, version)) = self.asked.get(&request).copied() else { return };
        let Reply::Manifest(ManifestAnswer::Accepted { leases }) = reply else { return };
        for lease in leases {
            if lease.deployment_id() != deployment {
                self.found(9, format!("a manifest of {deployment} was accepted for {lease}"));
            }
            let held = self.mirror.get(lease).and_then(|view| view.held.as_ref());
            let is_held = held.is_some_and(|held| held.version == Some(version));
            if !is_held && !self.is_over(*lease) && !self.was_just_disturbed() {
                self.found(11, format!("accepted for {lease}, and the cluster does not hold it"));
            }
        }
    }
}
