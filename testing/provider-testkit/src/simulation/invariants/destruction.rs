//! Nothing is destroyed without evidence, and what runs is not written again.

use std::time::Duration;

use akash_types::{Action, Intent, LeaseClosedReason};
use provider_engine::cluster::command::{Operation, Workload};
use provider_engine::cluster::view::{LeaseView, ViewChange};
use provider_engine::lease::{Health, health};

use super::Watch;

/// How long something must have been well before closing it is a mistake: news takes a while.
const NEWS: Duration = Duration::from_secs(300);

impl Watch {
    /// The cluster shows something.
    pub(crate) fn shown(&mut self, change: &ViewChange, now: Duration) {
        match change {
            ViewChange::Whole(view) => {
                let gone: Vec<_> = self
                    .mirror
                    .keys()
                    .filter(|id| !view.leases.contains_key(id))
                    .copied()
                    .collect();
                gone.into_iter().for_each(|id| self.forget(id));
                for lease in view.leases.values() {
                    self.see(lease, now);
                }
            }
            ViewChange::Lease(view) => self.see(view, now),
            ViewChange::LeaseGone(id) => {
                if !self.is_over(*id) && self.lost_at != Some(now) {
                    self.found(3, format!("nothing is left of {id}, which is active on chain"));
                }
                self.forget(*id);
            }
            _ => {}
        }
    }

    fn forget(&mut self, id: akash_types::LeaseId) {
        self.mirror.remove(&id);
        self.ran.remove(&id);
        self.held_since.remove(&id);
        self.healthy_since.remove(&id);
        self.present_since.remove(&id);
    }

    fn see(&mut self, view: &LeaseView, now: Duration) {
        let id = view.id;
        self.present_since.entry(id).or_insert(now);
        match &view.held {
            None => drop(self.held_since.remove(&id)),
            Some(held) => {
                self.held_since.entry(id).or_insert(now);
                if held.deployed {
                    self.deployed.insert(id);
                }
            }
        }
        let healthy =
            view.held.as_ref().is_some_and(|held| health(&held.group, &view.replicas).is_healthy());
        if healthy {
            self.healthy_since.entry(id).or_insert(now);
        } else {
            self.healthy_since.remove(&id);
        }
        // What was lost meanwhile is deployed again, and once more where the answer was lost.
        let is_whole = view.held.as_ref().is_some_and(|held| {
            let missing = matches!(health(&held.group, &view.replicas), Health::Missing { .. });
            held.deployed && !missing
        });
        if !is_whole {
            self.ran.remove(&id);
        }
        self.named(view);
        self.mirror.insert(id, view.clone());
    }

    /// The engine closes a bid or a lease.
    pub(super) fn closes(&mut self, intent: &Intent, now: Duration) {
        let Action::CloseBid { bid, reason } = &intent.action else { return };
        let lease = bid.lease_id();
        if !self.leases.contains_key(&lease) || self.is_over(lease) {
            return;
        }
        let long = |since: Option<&Duration>| since.is_some_and(|since| now - *since > NEWS);
        if *reason == LeaseClosedReason::UNSTABLE && long(self.healthy_since.get(&lease)) {
            self.found(3, format!("lease {lease} is closed as unstable and has long been healthy"));
        }
        if *reason == LeaseClosedReason::MANIFEST_TIMEOUT && long(self.held_since.get(&lease)) {
            self.found(3, format!("lease {lease} is closed for lack of a manifest that is held"));
        }
    }

    /// The engine commands the cluster.
    pub(super) fn commanded(&mut self, operation: &Operation) {
        match operation {
            Operation::Teardown { lease, evidence } => {
                if !self.is_over(*lease) {
                    let text =
                        format!("teardown of {lease}, which is active on chain ({evidence})");
                    self.found(3, text);
                }
            }
            Operation::Deploy(workload) => self.deploys(workload),
            Operation::Hold(_) | Operation::Maintain(_) => {}
        }
    }

    fn deploys(&mut self, workload: &Workload) {
        let lease = workload.lease;
        let Some(version) = self.ran.get(&lease).copied() else { return };
        let hosts =
            workload.group.services.iter().flat_map(|service| service.expose.iter().flatten());
        let named = hosts.clone().any(|expose| expose.hosts.iter().flatten().next().is_some());
        if named || version != workload.version || self.heard.contains(&lease.deployment_id()) {
            return;
        }
        let Some(view) = self.mirror.get(&lease) else { return };
        let same = view.held.as_ref().is_some_and(|held| held.deployed && held.version == version);
        let missing = matches!(health(&workload.group, &view.replicas), Health::Missing { .. });
        if same && !missing && !self.is_disturbed() {
            self.found(10, format!("{lease} runs as it should and is deployed again"));
        }
    }
}
