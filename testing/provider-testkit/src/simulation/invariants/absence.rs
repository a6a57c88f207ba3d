//! What was deployed is not closed because it is not seen.

use std::time::Duration;

use akash_types::{Action, Intent, LeaseClosedReason, LeaseId};

use provider_engine::cluster::recognition::Recognition;
use provider_engine::{Effect, Engine};

use super::Watch;
use crate::simulation::scenario::LOST_MANIFEST;

/// Views reach the provider late: a witness may have been there for so much shorter.
const NEWS: Duration = Duration::from_secs(180);

/// How long the checks of a lease that is not there take at least.
const CHECKS: Duration = Duration::from_secs(60);

/// How long what somebody else did may be in the provider's way, and how long between a manifest
/// that is held and the answer to its tenant.
const DISTURBED: Duration = Duration::from_secs(300);
const JUST_NOW: Duration = Duration::from_secs(150);

impl Watch {
    /// Somebody else than the provider is about to take objects of leases away, or brought them back.
    pub(crate) const fn content_lost(&mut self, now: Duration) {
        self.lost_at = Some(now);
    }

    /// Whether objects may have come or gone without the provider's doing, so that it cannot know.
    pub(super) fn is_disturbed(&self) -> bool {
        self.lost_within(DISTURBED)
    }

    /// The same, for what was held a moment ago.
    pub(super) fn was_just_disturbed(&self) -> bool {
        self.lost_within(JUST_NOW)
    }

    fn lost_within(&self, span: Duration) -> bool {
        self.lost_at.is_some_and(|at| self.now.saturating_sub(at) < span)
    }

    /// The operator accepts a cluster.
    pub(crate) const fn accepted(&mut self, now: Duration) {
        self.accepted = Some(now);
    }

    /// A cluster that was unknown and still is gets no command, and the chain no bid, withdrawal or
    /// close that follows from it.
    pub(super) fn writes_unknown(&mut self, effects: &[Effect], engine: &Engine) {
        let is_unknown = matches!(engine.recognized(), Recognition::Unknown(_));
        if std::mem::replace(&mut self.unknown, is_unknown) && is_unknown {
            for effect in effects {
                let written = match effect {
                    Effect::Submit(intent) => match &intent.action {
                        Action::CreateBid(_) | Action::Withdraw { .. } => true,
                        Action::CloseBid { bid, .. } => {
                            let lease = bid.lease_id();
                            self.leases.contains_key(&lease)
                                && !self.ended_by_operator.contains(&lease)
                        }
                        _ => false,
                    },
                    Effect::Command(command) => command.operation.lease().is_some(),
                    _ => false,
                };
                if written {
                    self.found(13, format!("the cluster is unknown: {effect:?}"));
                }
            }
        }
    }

    /// The operator ends a lease.
    pub(crate) fn operator_closes(&mut self, lease: LeaseId) {
        self.ended_by_operator.insert(lease);
    }

    /// The engine closes a lease that was deployed and of which the cluster has nothing.
    pub(super) fn closes_absent(&mut self, intent: &Intent, now: Duration) {
        let (lease, reason) = match &intent.action {
            Action::CloseBid { bid, reason } => (bid.lease_id(), *reason),
            Action::StartReclaim { lease, reason } => (*lease, *reason),
            _ => return,
        };
        let for_absence =
            reason == LeaseClosedReason::MANIFEST_TIMEOUT || !self.mirror.contains_key(&lease);
        let paid = self.leases.contains_key(&lease)
            && !self.is_over(lease)
            && !self.ended_by_operator.contains(&lease);
        // What fails to be deployed again is closed after its checks, which take less.
        let wait = match reason {
            LeaseClosedReason::MANIFEST_TIMEOUT => LOST_MANIFEST.saturating_sub(NEWS),
            _ => CHECKS,
        };
        let since = now.saturating_sub(wait);
        if paid && for_absence && self.deployed.contains(&lease) && !self.has_evidence(lease, since)
        {
            self.found(13, format!("lease {lease} was deployed and is closed for absence"));
        }
    }

    /// The operator accepted, or a lease created before it was here throughout the wait.
    fn has_evidence(&self, lease: LeaseId, since: Duration) -> bool {
        let witness = |(other, from): (&LeaseId, &Duration)| {
            let older = self.created.get(other) < self.created.get(&lease);
            older && *from <= since && !self.is_over(*other)
        };
        self.accepted.is_some() || self.present_since.iter().any(witness)
    }
}
