//! Tenants: manifests and hostnames, and what they want done.

use std::sync::Arc;

use akash_types::DeploymentId;

use crate::chain::{ChainQuery, DeploymentRead, Unavailable};
use crate::cluster::command::{CommandFailure, Operation, Workload};
use crate::effect::{Effect, Reply};
use crate::engine::{Alarm, Engine};
use crate::input::{RequestId, TenantRequest};
use crate::journal::{Decision, Subject};
use crate::lease::LeaseInput;
use crate::manifest::{
    ManifestAnswer, ManifestEffect, ManifestInput, ManifestNote, ManifestRefusal, MigrationAnswer,
    MigrationDestination, MigrationRefusal,
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
        self.manifest(match wanted {
            TenantRequest::Manifest { deployment, manifest, received } => {
                ManifestInput::Submit { request, deployment, manifest, received }
            }
            TenantRequest::MigrateHostnames { hostnames, owner, dseq, gseq } => {
                let destination = MigrationDestination { owner, dseq, gseq };
                ManifestInput::MigrateHostnames { request, hostnames, destination }
            }
            TenantRequest::MigrateEndpoints { .. } if self.cluster.view.ips.is_none() => {
                let answer = MigrationAnswer::Refused(MigrationRefusal::EndpointsCannotMove);
                return self.out.push(Effect::Reply(request, Reply::Migration(answer)));
            }
            TenantRequest::MigrateEndpoints { endpoints, owner, dseq, gseq } => {
                let destination = MigrationDestination { owner, dseq, gseq };
                ManifestInput::MigrateEndpoints { request, endpoints, destination }
            }
        });
    }

    pub(crate) fn manifest(&mut self, input: ManifestInput) {
        let effects = self.submissions.handle(
            self.now,
            input,
            &self.cluster.view.leases,
            &mut self.hostnames,
        );
        for effect in effects {
            self.manifest_effect(effect);
        }
        if let Some(deadline) = self.submissions.next_deadline() {
            self.alarms.set(Alarm::Manifests, deadline);
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

    fn manifest_effect(&mut self, effect: ManifestEffect) {
        match effect {
            ManifestEffect::ReadDeployment(deployment) => {
                self.ask(ChainQuery::Deployment(deployment));
            }
            ManifestEffect::Hold(workload) if !self.may_act() => {
                let unavailable = CommandFailure::Unavailable(self.why_not());
                self.hold_ended(&workload, Err(unavailable));
            }
            ManifestEffect::Hold(workload) => {
                let workload = self.with_promises(workload.lease.order_id(), &workload);
                self.command(Operation::Hold(workload));
            }
            ManifestEffect::Redeploy(lease) => {
                let order = lease.order_id();
                let running = self.records.lease(order);
                if let Some(workload) = running.and_then(|lease| lease.workload.clone()) {
                    self.step_lease(order, LeaseInput::Accepted(workload));
                }
            }
            ManifestEffect::Reply { request, answer } => {
                self.out.push(Effect::Reply(request, Reply::Manifest(answer)));
            }
            ManifestEffect::ReplyMigration { request, answer } => {
                self.out.push(Effect::Reply(request, Reply::Migration(answer)));
            }
            ManifestEffect::Note(note) => self.manifest_note(&note),
        }
    }

    fn manifest_note(&mut self, note: &ManifestNote) {
        match note {
            ManifestNote::Accepted { version, leases, .. } => {
                for lease in leases {
                    let version = Some(*version);
                    self.note_order(lease.order_id(), Decision::Accepted { version });
                }
            }
            ManifestNote::Refused { deployment, refusal, .. } => {
                let why = refusal.to_string();
                self.note(Subject::Deployment(*deployment), Decision::Refused { why });
            }
            ManifestNote::Withheld { lease, hostnames } => {
                let names = hostnames.clone();
                self.note_order(lease.order_id(), Decision::Withheld(names));
            }
            ManifestNote::Moved { hostname, to, .. } => {
                self.note_order(to.order_id(), Decision::Moved(hostname.clone()));
            }
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
