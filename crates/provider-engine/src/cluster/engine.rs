//! The cluster: what it shows, and how commands went.

use std::sync::Arc;

use akash_types::LeaseId;

use crate::cluster::command::{CommandAnswer, CommandFailure, Operation};
use crate::cluster::view::{ClusterView, LeaseView, ViewChange};
use crate::effect::Effect;
use crate::engine::{Engine, Listing};
use crate::journal::{Decision, Subject};
use crate::lease::LeaseInput;
use crate::manifest::ManifestInput;

impl Engine {
    pub(crate) fn view_change(&mut self, change: ViewChange) {
        match change {
            ViewChange::Whole(view) => return self.view_whole(*view),
            ViewChange::Lost => {
                self.cluster.fresh = false;
                return self.out_of_sight();
            }
            // Changes to something that was never seen whole mean nothing yet.
            _ if !self.start.has(Listing::Cluster) => return,
            ViewChange::Node(name, node) => {
                self.cluster.view.nodes.insert(name, node);
            }
            ViewChange::NodeGone(name) => {
                self.cluster.view.nodes.remove(&name);
            }
            ViewChange::Storage(name, class) => {
                self.cluster.view.storage.insert(name, class);
            }
            ViewChange::StorageGone(name) => {
                self.cluster.view.storage.remove(&name);
            }
            ViewChange::Ips(pool) => self.cluster.view.ips = pool,
            ViewChange::Ports(pool) => self.cluster.view.ports = pool,
            ViewChange::Lease(view) => {
                let (id, mut view) = (view.id, *view);
                self.keep_once(&mut view);
                self.manifests.see(&view);
                self.cluster.view.leases.insert(id, view);
                self.free.clear();
                return self.lease_seen(id);
            }
            ViewChange::LeaseGone(id) => {
                self.cluster.view.leases.remove(&id);
                self.manifests.gone(id);
                self.free.clear();
                return self.lease_seen(id);
            }
            ViewChange::Maintenance(on) => {
                self.cluster.view.maintenance = on;
                self.note(Subject::Provider, Decision::Maintenance(on));
                return self.reevaluate_all();
            }
        }
        self.free.clear();
        if self.may_act() {
            self.book_unbooked();
        }
        self.reevaluate_pending();
    }

    fn view_whole(&mut self, mut view: ClusterView) {
        view.leases.values_mut().for_each(|lease| self.keep_once(lease));
        self.cluster.view = view;
        self.cluster.fresh = true;
        self.start.listed(Listing::Cluster);
        self.free.clear();
        self.manifests.see_all(self.cluster.view.leases.values());
        let seen: Vec<LeaseId> = self.cluster.view.leases.keys().copied().collect();
        let ours: Vec<LeaseId> =
            self.records.iter().filter_map(|record| Some(record.lease()?.id)).collect();
        for id in seen {
            self.known_workload(id);
        }
        // Before any step: what follows from a view depends on whether the cluster is known.
        for id in &ours {
            self.observe_lease(*id);
        }
        self.recognize();
        for id in ours {
            self.lease_in_view(id);
        }
        self.check_ready();
        if self.may_act() {
            self.book_unbooked();
            self.reevaluate_pending();
        }
    }

    /// There are thousands of leases, and what is seen of one is mostly what was seen before, or
    /// what it was told to run: that is not kept a second time.
    fn keep_once(&self, seen: &mut LeaseView) {
        seen.replicas.shrink_to_fit();
        seen.hostnames.shrink_to_fit();
        let Some(held) = &mut seen.held else { return };
        let lease = self.records.lease(seen.id.order_id());
        let wanted = lease.and_then(|lease| lease.workload.as_ref()).map(|wanted| &wanted.group);
        let before = self.cluster.view.leases.get(&seen.id).and_then(|seen| seen.held.as_ref());
        let known = [wanted, before.map(|held| &held.group)];
        if let Some(same) = known.into_iter().flatten().find(|group| **group == held.group) {
            held.group = Arc::clone(same);
        }
    }

    fn lease_seen(&mut self, id: LeaseId) {
        if self.cluster.view.leases.contains_key(&id) {
            self.known_workload(id);
        }
        if self.cluster.fresh && self.records.lease(id.order_id()).is_some() {
            self.observe_lease(id);
            self.recognize();
            self.lease_in_view(id);
        }
    }

    /// The cluster has something of a lease: if we do not know it, the chain is asked.
    fn known_workload(&mut self, id: LeaseId) {
        if id.provider() == self.settings.provider && !self.records.contains(id.order_id()) {
            self.look_at(id);
        }
    }

    /// Gives a command, if anything may be written. What is put off so is wanted again once it may.
    pub(crate) fn command(&mut self, operation: Operation) {
        if !self.may_act() && operation.lease().is_some() {
            return;
        }
        if let Some(command) = self.commands.want(self.now, operation) {
            self.out.push(Effect::Command(command));
        }
    }

    pub(crate) fn command_answer(&mut self, answer: CommandAnswer) {
        let (ended, next) = self.commands.hear(self.now, answer);
        if let Some((operation, result)) = ended {
            self.command_ended(operation, result);
        }
        // What may not be written now counts as lost, and is given again once it may.
        if let Some(command) = next.filter(|it| self.may_act() || it.operation.lease().is_none()) {
            self.out.push(Effect::Command(command));
        }
    }

    fn command_ended(&mut self, operation: Operation, result: Result<(), CommandFailure>) {
        match operation {
            Operation::Hold(workload) => self.hold_ended(&workload, result),
            Operation::Deploy(workload) => {
                let order = workload.lease.order_id();
                if let Err(failure) = &result {
                    let why = failure.to_string();
                    self.note_order(order, Decision::DeployFailed { why });
                }
                self.step_lease(order, LeaseInput::Deployed(result.clone()));
                if self.cluster.fresh {
                    self.lease_in_view(workload.lease);
                }
                self.manifest(ManifestInput::DeployEnded { workload, result });
            }
            Operation::Teardown { lease, .. } => {
                let order = lease.order_id();
                if let Err(failure) = &result {
                    let why = failure.to_string();
                    self.note_order(order, Decision::Failed { what: "teardown", why });
                }
                if self.cluster.fresh {
                    self.lease_in_view(lease);
                }
            }
            Operation::Maintain(on) => {
                if let Err(failure) = &result {
                    let why = failure.to_string();
                    let what = if on { "maintenance" } else { "the end of maintenance" };
                    self.note(Subject::Provider, Decision::Failed { what, why });
                }
            }
        }
    }
}
