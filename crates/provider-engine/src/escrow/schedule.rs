//! Whose turn it is: accounts in order of height, of time, and of arrival.
//!
//! Every account is in exactly the queues that its stage says, so that a block costs as much as
//! there is due in it, however many accounts there are.

use std::collections::{BTreeSet, VecDeque};

use akash_types::{DeploymentId, LeaseId};

use crate::time::Now;

/// What an account is waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// For its turn to be read; withdrawals due within `horizon` blocks shall go along.
    Queued { horizon: u64 },
    /// For an answer, until then.
    Reading { until: Now, horizon: u64 },
    /// For a height: to be read, and to be withdrawn.
    Waiting { check_at: u64, withdraw_at: Option<u64> },
    /// For a moment, to be read again.
    Retrying { at: Now },
    /// For the end of a withdrawal, until then.
    Withdrawing { lease: LeaseId, until: Now },
}

#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    checks: BTreeSet<(u64, DeploymentId)>,
    withdrawals: BTreeSet<(u64, DeploymentId)>,
    timers: BTreeSet<(Now, DeploymentId)>,
    /// May hold accounts that are no longer queued; they are passed over.
    queued: VecDeque<DeploymentId>,
    reading: usize,
}

impl Schedule {
    pub(super) fn enter(&mut self, id: DeploymentId, stage: Stage) {
        match stage {
            Stage::Queued { .. } => self.queued.push_back(id),
            Stage::Waiting { check_at, withdraw_at } => {
                self.checks.insert((check_at, id));
                self.withdrawals.extend(withdraw_at.map(|at| (at, id)));
            }
            Stage::Reading { until, .. } => {
                self.reading = self.reading.saturating_add(1);
                self.timers.insert((until, id));
            }
            Stage::Retrying { at: until } | Stage::Withdrawing { until, .. } => {
                self.timers.insert((until, id));
            }
        }
    }

    pub(super) fn leave(&mut self, id: DeploymentId, stage: Stage) {
        match stage {
            Stage::Queued { .. } => {}
            Stage::Waiting { check_at, withdraw_at } => {
                self.checks.remove(&(check_at, id));
                if let Some(at) = withdraw_at {
                    self.withdrawals.remove(&(at, id));
                }
            }
            Stage::Reading { until, .. } => {
                self.reading = self.reading.saturating_sub(1);
                self.timers.remove(&(until, id));
            }
            Stage::Retrying { at: until } | Stage::Withdrawing { until, .. } => {
                self.timers.remove(&(until, id));
            }
        }
    }

    /// An account whose time has come.
    pub(super) fn timer(&self, now: Now) -> Option<DeploymentId> {
        self.timers.first().filter(|(at, _)| *at <= now).map(|(_, id)| *id)
    }

    /// The next moment at which one's time comes.
    pub(super) fn next_timer(&self) -> Option<Now> {
        self.timers.first().map(|(at, _)| *at)
    }

    /// An account that is to be read at `height`.
    pub(super) fn check(&self, height: u64) -> Option<DeploymentId> {
        self.checks.first().filter(|(at, _)| *at <= height).map(|(_, id)| *id)
    }

    /// An account that is to be withdrawn from at `height`.
    pub(super) fn withdrawal(&self, height: u64) -> Option<DeploymentId> {
        self.withdrawals.first().filter(|(at, _)| *at <= height).map(|(_, id)| *id)
    }

    /// The longest queued account, unless `limit` are being read.
    pub(super) fn next_queued(&mut self, limit: usize) -> Option<DeploymentId> {
        if self.reading >= limit.max(1) { None } else { self.queued.pop_front() }
    }
}
