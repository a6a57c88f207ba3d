//! The transitions.

use std::sync::Arc;
use std::time::Duration;

use akash_types::{Lease, LeaseState};

use super::{
    Health, LeaseAction, LeaseCause, LeaseContext, LeaseInput, LeaseRecord, OnChain, Patience,
    Sighting, Stage,
};
use crate::cluster::command::{CommandFailure, Workload};
use crate::cluster::sight::SightTime;
use crate::reconcile::Evidence;
use crate::time::BlockTime;

impl LeaseRecord {
    /// What follows from `input`.
    pub fn step(&mut self, input: LeaseInput, context: &LeaseContext) -> Vec<LeaseAction> {
        let LeaseContext { time, ref patience, .. } = *context;
        match input {
            LeaseInput::Looked(lease, height) => self.looked(&lease, height, time),
            LeaseInput::Hint | LeaseInput::IntentEnded => vec![LeaseAction::Look],
            LeaseInput::Seen(sighting) => self.seen(sighting, context),
            LeaseInput::Checked(sighting) => self.checked(sighting, patience),
            LeaseInput::Accepted(workload) => self.accepted(workload),
            LeaseInput::Deployed(result) => self.deployed(&result),
            LeaseInput::CreationKnown { overdue, timeout } => {
                self.creation_known(overdue, timeout, patience)
            }
            LeaseInput::Deadline { waited } => self.deadline(waited, time),
            LeaseInput::ClusterAccepted => self.cluster_accepted(context),
            LeaseInput::Close(cause) => self.close(cause, time),
        }
    }

    fn looked(&mut self, lease: &Lease, height: u64, time: BlockTime) -> Vec<LeaseAction> {
        if matches!(self.stage, Stage::TearingDown(_)) {
            return vec![];
        }
        if matches!(lease.state, LeaseState::Active | LeaseState::Reclaiming) {
            // It was read as over before, and is not: no evidence, and the first reading is void.
            self.chain = OnChain::of(lease, height);
            return self.drive_close(time).into_iter().collect();
        }
        match self.chain {
            OnChain::Over { height: first, .. } => {
                match Evidence::new(lease.state, lease.reason, first, height) {
                    Some(evidence) => self.over(evidence),
                    None => vec![LeaseAction::LookAfter(first)],
                }
            }
            OnChain::Active { .. } | OnChain::Reclaiming { .. } => {
                self.chain = OnChain::of(lease, height);
                vec![LeaseAction::LookAfter(height)]
            }
        }
    }

    fn over(&mut self, evidence: Evidence) -> Vec<LeaseAction> {
        self.stage = Stage::TearingDown(evidence);
        vec![LeaseAction::Teardown(evidence)]
    }

    fn accepted(&mut self, workload: Arc<Workload>) -> Vec<LeaseAction> {
        if matches!(self.stage, Stage::TearingDown(_)) {
            return vec![];
        }
        self.workload = Some(Arc::clone(&workload));
        self.stage = Stage::Deploying;
        self.failed_checks = 0;
        vec![LeaseAction::Deploy(workload), LeaseAction::CheckLater]
    }

    fn deployed(&mut self, result: &Result<(), CommandFailure>) -> Vec<LeaseAction> {
        match (&self.stage, result) {
            // What runs is seen, not concluded: until a view shows it, it is not there.
            (Stage::Deploying, Ok(())) => {
                let service = self.workload.as_ref().and_then(|workload| {
                    workload.group.services.first().map(|service| service.name.clone())
                });
                self.stage =
                    Stage::Degraded(Health::Missing { service: service.unwrap_or_default() });
                vec![LeaseAction::CheckLater]
            }
            (Stage::Deploying, Err(_)) => vec![LeaseAction::CheckLater],
            _ => vec![],
        }
    }

    fn seen(&mut self, sighting: Sighting, context: &LeaseContext) -> Vec<LeaseAction> {
        let lacks_manifest = sighting.present && sighting.held.is_none();
        match &self.stage {
            Stage::TearingDown(_) if !sighting.present => vec![LeaseAction::End],
            Stage::TearingDown(_) | Stage::Deploying => vec![],
            _ if lacks_manifest => {
                self.stage = Stage::ManifestMissing;
                self.failed_checks = 0;
                vec![]
            }
            Stage::AwaitingManifest(_) => self.adopt(sighting),
            Stage::ManifestMissing if sighting.present => self.adopt(sighting),
            // The last object is gone: what this process knows comes back, all else has to be sent.
            Stage::ManifestMissing if self.workload.is_some() => self.show(sighting.health),
            Stage::ManifestMissing => self.await_lost(WaitKind::Lost, context),
            Stage::Running | Stage::Degraded(_) => self.show(sighting.health),
        }
    }

    /// Waits for a manifest that was probably sent before.
    fn await_lost(&mut self, kind: WaitKind, context: &LeaseContext) -> Vec<LeaseAction> {
        let LeaseContext { sight: since, gaps, patience, .. } = *context;
        let until = since.after(patience.lost_manifest);
        self.stage =
            Stage::AwaitingManifest(ManifestWait { kind, since, until: Some(until), gaps });
        vec![LeaseAction::WaitUntil(until)]
    }

    fn cluster_accepted(&mut self, context: &LeaseContext) -> Vec<LeaseAction> {
        match (&self.stage, self.workload.clone()) {
            (Stage::TearingDown(_), _) => vec![],
            (_, Some(workload)) => self.accepted(workload),
            // It was never deployed: its wait goes on.
            (Stage::AwaitingManifest(ManifestWait { kind: WaitKind::Created, .. }), None) => vec![],
            (_, None) => self.await_lost(WaitKind::Accepted, context),
        }
    }

    /// The cluster holds a manifest that we did not know of: it was accepted before a restart.
    fn adopt(&mut self, sighting: Sighting) -> Vec<LeaseAction> {
        match sighting.held {
            None => vec![],
            // It runs: nothing is written.
            Some((workload, true)) => {
                self.workload = Some(workload);
                self.show(sighting.health)
            }
            // It was promised to the tenant, and not yet carried out.
            Some((workload, false)) => self.accepted(workload),
        }
    }

    fn show(&mut self, health: Health) -> Vec<LeaseAction> {
        if health.is_healthy() {
            self.stage = Stage::Running;
            self.failed_checks = 0;
            return vec![];
        }
        self.stage = Stage::Degraded(health);
        vec![LeaseAction::CheckLater]
    }

    fn checked(&mut self, sighting: Sighting, patience: &Patience) -> Vec<LeaseAction> {
        match &self.stage {
            Stage::Running | Stage::Degraded(_) | Stage::Deploying => {}
            // Teardown was answered, and something is still there: say it again.
            Stage::TearingDown(evidence) => {
                return match (sighting.present, sighting.terminating) {
                    (false, _) => vec![LeaseAction::End],
                    (true, true) => vec![LeaseAction::CheckLater],
                    (true, false) => {
                        vec![LeaseAction::Teardown(*evidence), LeaseAction::CheckLater]
                    }
                };
            }
            // Without a manifest nobody knows what would be healthy.
            Stage::AwaitingManifest(_) | Stage::ManifestMissing => return vec![],
        }
        if sighting.health.is_healthy() {
            return self.show(sighting.health);
        }
        self.failed_checks = self.failed_checks.saturating_add(1);
        let (limit, cause) = match &sighting.health {
            Health::Unschedulable { .. } => {
                (patience.unschedulable_checks, LeaseCause::Unschedulable)
            }
            _ => (patience.unhealthy_checks, LeaseCause::Unhealthy),
        };
        let mut actions = vec![LeaseAction::CheckLater];
        if self.failed_checks > limit {
            actions.push(LeaseAction::ProposeClose(cause));
        }
        let missing = matches!(sighting.health, Health::Missing { .. });
        let due = self.failed_checks.is_multiple_of(patience.redeploy_checks.max(1));
        let deploying = matches!(self.stage, Stage::Deploying);
        if let Some(workload) = self.workload.clone().filter(|_| due && (missing || deploying)) {
            actions.push(LeaseAction::Deploy(workload));
            self.stage = Stage::Deploying;
        } else if !deploying {
            self.stage = Stage::Degraded(sighting.health);
        }
        actions
    }

    fn creation_known(
        &mut self,
        overdue: bool,
        timeout: Option<Duration>,
        patience: &Patience,
    ) -> Vec<LeaseAction> {
        let Stage::AwaitingManifest(wait) = &mut self.stage else { return vec![] };
        if wait.kind != WaitKind::Found {
            return vec![];
        }
        (wait.kind, wait.until) = if overdue {
            (WaitKind::Lost, Some(wait.since.after(patience.lost_manifest)))
        } else {
            (WaitKind::Restarted, timeout.map(|timeout| wait.since.after(timeout)))
        };
        wait.until.map(LeaseAction::WaitUntil).into_iter().collect()
    }

    fn deadline(&mut self, waited: bool, time: BlockTime) -> Vec<LeaseAction> {
        match &self.stage {
            Stage::AwaitingManifest(wait)
                if waited && self.closing.is_none() && self.is_alive() =>
            {
                vec![LeaseAction::ProposeClose(wait.cause())]
            }
            _ => self.drive_close(time).into_iter().collect(),
        }
    }

    fn close(&mut self, cause: LeaseCause, time: BlockTime) -> Vec<LeaseAction> {
        if !self.is_alive() {
            return vec![LeaseAction::Look];
        }
        // The first cause stands: what the chain was told does not change.
        self.closing.get_or_insert(cause);
        self.drive_close(time).into_iter().collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestWait {
    pub kind: WaitKind,
    pub since: SightTime,
    /// When it ends; `None` for never, or as long as that is not known.
    pub until: Option<SightTime>,
    /// How often the cluster had been out of sight when it began.
    pub gaps: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// This process signed its bid and follows it from its creation on: it was never deployed.
    Created,
    /// It was found, and it is not known yet whether its deadline had passed.
    Found,
    /// It was found before its deadline: the tenant gets the manifest timeout anew.
    Restarted,
    /// It was found after its deadline, or lost its objects: it was probably deployed.
    Lost,
    /// The operator accepted a cluster that does not have its objects.
    Accepted,
}

impl ManifestWait {
    /// Why the lease is closed when the wait is over.
    pub const fn cause(&self) -> LeaseCause {
        match self.kind {
            WaitKind::Created | WaitKind::Found | WaitKind::Restarted => {
                LeaseCause::ManifestTimeout
            }
            WaitKind::Lost | WaitKind::Accepted => LeaseCause::ManifestLost,
        }
    }

    /// Whether the lease was probably deployed, so that the tenant has to send its manifest again.
    pub const fn is_lost(&self) -> bool {
        matches!(self.kind, WaitKind::Lost | WaitKind::Accepted)
    }
}
