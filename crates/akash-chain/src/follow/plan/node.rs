//! One node, as far as the plan knows it.

use std::sync::Arc;
use std::time::Duration;

use super::PlanConfig;
use super::input::Ticket;
use crate::follow::status::Unusable;

/// Failures in a row after which a node that says it is well is left alone for a while.
const STRIKES: u32 = 3;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: Arc<str>,
    /// Why it is not used, apart from lagging.
    pub(super) fault: Option<Unusable>,
    /// Whether it was seen on our branch since its last fault.
    pub(super) is_verified: bool,
    /// Its newest block, from its status, its hints and its refusals.
    pub(super) height: u64,
    /// The highest that its status ever reported.
    pub(super) reported: u64,
    /// Its oldest block.
    pub(super) earliest: u64,
    /// The oldest block it has results of, where that is more than `earliest`.
    pub(super) results_from: u64,
    /// When to ask for its status.
    pub(super) next_ask: Duration,
    /// Requests for blocks that failed in a row, and for its status.
    pub(super) strikes: u32,
    pub(super) status_strikes: u32,
    /// Faults in a row, and when the last came.
    pub(super) failures: u32,
    pub(super) faulted: Duration,
    /// Answers in a row that did not come in time.
    pub(super) silences: u32,
    pub(super) subscription: Subscription,
}

/// A subscription to new blocks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subscription {
    Down { not_before: Duration, failures: u32 },
    Connecting { ticket: Ticket, deadline: Duration, failures: u32 },
    Up { ticket: Ticket, heard: Duration, pinged: Duration, block: u64 },
}

impl Subscription {
    pub(super) const NEW: Self = Self::Down { not_before: Duration::ZERO, failures: 0 };

    pub(super) const fn is_up(&self) -> bool {
        matches!(self, Self::Up { .. })
    }

    pub(super) const fn ticket(&self) -> Option<Ticket> {
        match self {
            Self::Down { .. } => None,
            Self::Connecting { ticket, .. } | Self::Up { ticket, .. } => Some(*ticket),
        }
    }

    /// How often it failed in a row.
    pub(super) const fn failures(&self) -> u32 {
        match self {
            Self::Down { failures, .. } | Self::Connecting { failures, .. } => *failures,
            Self::Up { .. } => 0,
        }
    }
}

impl Node {
    pub(super) const fn new(name: Arc<str>) -> Self {
        Self {
            name,
            fault: None,
            is_verified: false,
            height: 0,
            reported: 0,
            earliest: 0,
            results_from: 0,
            next_ask: Duration::ZERO,
            strikes: 0,
            status_strikes: 0,
            failures: 0,
            faulted: Duration::ZERO,
            silences: 0,
            subscription: Subscription::NEW,
        }
    }

    /// Whether it is known to be sound, however far it may be.
    pub(super) const fn is_sound(&self) -> bool {
        self.fault.is_none() && self.is_verified
    }

    pub(super) fn is_usable(&self, best: u64, max_lag: u64) -> bool {
        self.is_sound() && self.height.saturating_add(max_lag) >= best
    }

    /// The lowest height that it can give.
    pub(super) fn lowest(&self) -> u64 {
        self.earliest.max(self.results_from)
    }

    pub(super) fn has(&self, height: u64) -> bool {
        self.lowest() <= height && height <= self.height
    }

    /// Something is wrong with it.
    pub(super) fn blame(&mut self, fault: Unusable, now: Duration, config: &PlanConfig) {
        self.fault = Some(fault);
        self.is_verified = false;
        self.failures = self.failures.saturating_add(1);
        self.faulted = now;
        self.strikes = 0;
        self.next_ask = now.saturating_add(config.backoff_after(self.failures));
    }

    /// A request for blocks failed; too many are a fault.
    pub(super) fn strike(&mut self, reason: &str, now: Duration, config: &PlanConfig) {
        self.strikes = self.strikes.saturating_add(1);
        if self.strikes >= STRIKES && self.fault.is_none() {
            self.blame(Unusable::Failing { reason: reason.to_owned() }, now, config);
        }
    }

    /// It gave a block.
    pub(super) const fn praise(&mut self) {
        (self.strikes, self.failures, self.silences) = (0, 0, 0);
    }

    /// How long to wait for its answer: three block times, more after silence.
    pub(super) fn patience(&self, block_time: Duration, config: &PlanConfig) -> Duration {
        let wait = block_time.saturating_mul(3).max(Duration::from_millis(500));
        wait.saturating_mul(1 << self.silences.min(8)).min(config.patience)
    }
}
