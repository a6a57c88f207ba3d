//! Tenants: manifests and hostnames, and what they want done.

use std::sync::Arc;

use akash_types::DeploymentId;

use crate::chain::{ChainQuery, DeploymentRead, Unavailable};
use crate::cluster::command::{CommandFailure, Operation, Workload};
use crate::effect::{Effect, Reply};
use crate::engine::{Engine, Timer};
use crate::input::{RequestId, TenantRequest};
use crate::lease::LeaseInput;
use crate::manifest::{
    ManifestAction, ManifestAnswer, ManifestInput, ManifestRefusal, MigrationAnswer,
    MigrationRefusal,
};

/// The answer to a tenant while nothing may be written.
fn not_now(wanted: &TenantRequest, why: String) -> Reply {
    match wanted {
        TenantRequest::Manifest { .. } => {
            let refusal = ManifestRefusal::ClusterUnavailable(why);
            Reply::Manifest(ManifestAnswer::Refused(refusal))
        }
        TenantRequest::MigrateHostnames { .. } | TenantRequest::MigrateEndpoints { .. } => {
            let refusal = MigrationRefusal::Cluster(CommandFailure::Unavailable(why));
            Reply::Migration(MigrationAnswer::Refused(refusal))
        }
    }
}

impl Engine {
    pub(crate) fn tenant(&mut self, request: RequestId, wanted: TenantRequest) {
        // Until the cluster was seen whole, and is known, nobody knows whose a hostname is.
        // What was seen last may be gone: that something is held already would be an empty promise.
        if !self.may_act() || !self.cluster.fresh {
            let reply = not_now(&wanted, self.why_not());
            return self.out.push(Effect::Reply(request, reply));
        }
        let moves_endpoints = matches!(wanted, TenantRequest::MigrateEndpoints { .. });
        if moves_endpoints && self.cluster.view.ips.is_none() {
            let answer = MigrationAnswer::Refused(MigrationRefusal::EndpointsCannotMove);
            return self.out.push(Effect::Reply(request, Reply::Migration(answer)));
        }
        self.manifest(ManifestInput::Tenant(request, wanted));
    }

    pub(crate) fn manifest(&mut self, input: ManifestInput) {
        for action in self.manifests.handle(self.now, input, &self.cluster.view.leases) {
            self.act_for_manifest(action);
        }
        if let Some(deadline) = self.manifests.next_deadline() {
            self.schedule.timers.set(Timer::Manifests, deadline);
        }
    }

    pub(crate) fn manifests_tick(&mut self) {
        self.manifest(ManifestInput::Tick);
    }

    pub(crate) fn deployment_read(
        &mut self,
        deployment: DeploymentId,
        read: Option<DeploymentRead>,
        height: u64,
    ) {
        // A lease that nobody told us of: the tenant was faster than the block.
        for lease in read.iter().flat_map(|read| &read.leases) {
            if self.records.lease(lease.order_id()).is_none() {
                self.look_at(*lease);
            }
        }
        self.manifest(ManifestInput::Read { deployment, height, result: Ok(read) });
    }

    /// No node says what the deployment is.
    pub(crate) fn deployment_unread(&mut self, deployment: DeploymentId, why: Unavailable) {
        self.manifest(ManifestInput::Read { deployment, height: 0, result: Err(why) });
    }

    fn act_for_manifest(&mut self, action: ManifestAction) {
        match action {
            ManifestAction::Read(deployment) => {
                self.ask(ChainQuery::Deployment(deployment));
            }
            ManifestAction::Hold(workload) if !self.may_act() => {
                let unavailable = CommandFailure::Unavailable(self.why_not());
                self.hold_ended(&workload, Err(unavailable));
            }
            ManifestAction::Hold(workload) => {
                let workload = self.with_promises(workload.lease.order_id(), &workload);
                self.command(Operation::Hold(workload));
            }
            ManifestAction::Redeploy(lease) => {
                let order = lease.order_id();
                let running = self.records.lease(order);
                if let Some(workload) = running.and_then(|lease| lease.workload.clone()) {
                    self.step_lease(order, LeaseInput::Accepted(workload));
                }
            }
            ManifestAction::Reply(request, reply) => {
                self.out.push(Effect::Reply(request, reply));
            }
            ManifestAction::Note(subject, decision) => self.note(subject, decision),
        }
    }

    /// A manifest is held, or is not: first the tenant hears it, then it is carried out.
    pub(crate) fn hold_ended(
        &mut self,
        workload: &Arc<Workload>,
        result: Result<(), CommandFailure>,
    ) {
        let lease = workload.lease;
        let held = result.is_ok();
        if let Some(version) = workload.version {
            self.manifest(ManifestInput::HoldEnded { lease, version, result });
        }
        if held {
            let order = lease.order_id();
            self.step_lease(order, LeaseInput::Accepted(Arc::clone(workload)));
            self.book_lease(order);
        }
    }
}
