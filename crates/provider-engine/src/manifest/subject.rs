//! What is under way for one deployment.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use akash_sdl::{Manifest, Version};
use akash_types::LeaseId;

use super::RequestId;
use crate::chain::DeploymentRead;
use crate::input::Received;
use crate::time::Now;

/// What is under way for one deployment.
#[derive(Clone, Debug, Default)]
pub(super) struct Subject {
    /// Submissions that wait for chain data. There are some only while a read is under way.
    pub(super) waiting: Vec<Submission>,
    pub(super) reading: Option<Reading>,
    /// What the chain said last.
    pub(super) known: Option<Known>,
    /// The valid manifest that the cluster is asked to keep.
    pub(super) holding: Option<Holding>,
    /// Leases that ended meanwhile, whatever a read from before says.
    pub(super) ended: BTreeSet<LeaseId>,
}

/// A manifest and who waits for the answer.
#[derive(Clone, Debug)]
pub(super) struct Submission {
    pub(super) waiter: Waiter,
    pub(super) manifest: Arc<Manifest>,
    pub(super) version: Version,
    pub(super) received: Received,
    /// The turn in which it came.
    pub(super) arrived: u64,
}

/// A request and until when it may wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) request: RequestId,
    pub(super) deadline: Now,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// The turn in which it began.
    pub(super) begun: u64,
    pub(super) since: Now,
}

/// What the chain said.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) facts: DeploymentRead,
    pub(super) height: u64,
    /// The turn in which the read began.
    pub(super) begun: u64,
    /// When the answer came.
    pub(super) at: Now,
}

/// A manifest on its way into the cluster.
#[derive(Clone, Debug)]
pub(super) struct Holding {
    pub(super) version: Version,
    pub(super) waiters: Vec<Waiter>,
    /// All leases that shall run it.
    pub(super) leases: BTreeSet<LeaseId>,
    /// Those for which the cluster has not answered.
    pub(super) left: BTreeSet<LeaseId>,
}

impl Subject {
    /// Whether there is anything to remember.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty()
            && self.reading.is_none()
            && self.known.is_none()
            && self.holding.is_none()
    }

    /// Takes in what the chain said at `height`. An answer older than one that is known changes
    /// nothing but that the chain was asked again.
    pub(super) fn learn(&mut self, facts: DeploymentRead, height: u64, begun: u64, at: Now) {
        match &mut self.known {
            Some(known) if known.height > height => known.begun = begun,
            known => *known = Some(Known { facts, height, begun, at }),
        }
        if let Some(known) = &mut self.known {
            known.facts.leases.retain(|lease| !self.ended.contains(lease));
        }
    }

    /// When the first request has waited long enough, or what is known is of no use any more: that
    /// is forgotten some time after its greatest age, so that one look is enough for many.
    pub(super) fn deadline(&self, greatest_age: Duration) -> Option<Now> {
        let waiting = self.waiting.iter().map(|submission| submission.waiter.deadline);
        let holding = self.holding.iter().flat_map(|holding| &holding.waiters);
        let forget_after = greatest_age.saturating_mul(2).saturating_add(Duration::from_secs(1));
        let known = self.known.iter().map(|known| known.at.after(forget_after));
        waiting.chain(holding.map(|waiter| waiter.deadline)).chain(known).min()
    }
}
