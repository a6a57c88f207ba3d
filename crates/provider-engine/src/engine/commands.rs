//! Commands to the cluster: one under way per lease, the newest wins.
//!
//! A command whose fate is not known is given again, since every one may be carried out twice. A
//! newer one waits for the answer to the older; a teardown is never replaced.

use std::collections::BTreeMap;
use std::time::Duration;

use super::timers::Timers;
use crate::cluster::command::{Command, CommandAnswer, CommandFailure, CommandId, Operation};
use crate::time::Now;
use akash_types::{Backoff, LeaseId};

/// How commands that failed are repeated.
const RETRY: Backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_secs(60) };

/// After this long without a word, a command counts as lost and is given again.
const LOST_AFTER: Duration = Duration::from_secs(300);

#[derive(Clone, Debug)]
struct Slot {
    id: CommandId,
    operation: Operation,
    failures: u32,
    next: Option<Operation>,
}

pub(super) type Ended = (Operation, Result<(), CommandFailure>);

/// All of them. Commands about no lease share a slot of their own.
#[derive(Clone, Debug, Default)]
pub(super) struct Commands {
    next: u64,
    slots: BTreeMap<Option<LeaseId>, Slot>,
    by_id: BTreeMap<CommandId, Option<LeaseId>>,
    again: Timers<Now, Option<LeaseId>>,
}

impl Commands {
    /// Wants `operation` done. Gives the command, if it can be given now.
    pub(super) fn want(&mut self, now: Now, operation: Operation) -> Option<Command> {
        let lease = operation.lease();
        if let Some(slot) = self.slots.get_mut(&lease) {
            if slot.operation == operation {
                slot.next = None;
            } else if !matches!(slot.next, Some(Operation::Teardown { .. })) {
                slot.next = Some(operation);
            }
            return None;
        }
        Some(self.give(now, lease, operation, 0))
    }

    /// Whether something is under way for a lease.
    pub(super) fn is_busy(&self, lease: LeaseId) -> bool {
        self.slots.contains_key(&Some(lease))
    }

    /// An answer came. Gives what it ends, if it ends something, and the command to give next.
    pub(super) fn hear(
        &mut self,
        now: Now,
        answer: CommandAnswer,
    ) -> (Option<Ended>, Option<Command>) {
        let Some(lease) = self.by_id.remove(&answer.id) else { return (None, None) };
        let Some(mut slot) = self.slots.remove(&lease) else { return (None, None) };
        // A hold that nobody answered is told to the tenant, who asks again; all else we repeat.
        let repeats = !matches!(slot.operation, Operation::Hold(_)) && slot.next.is_none();
        if matches!(answer.result, Err(CommandFailure::Unavailable(_))) && repeats {
            slot.failures = slot.failures.saturating_add(1);
            self.again.set(lease, now.after(RETRY.after(slot.failures, answer.id.0)));
            self.slots.insert(lease, slot);
            return (None, None);
        }
        self.again.clear(&lease);
        let next = slot.next.take();
        let ended = Some((slot.operation, answer.result));
        (ended, next.map(|operation| self.give(now, lease, operation, 0)))
    }

    pub(super) fn due(&mut self, now: Now) -> Vec<Command> {
        let mut again = Vec::new();
        while let Some(lease) = self.again.pop(now) {
            if let Some(mut slot) = self.slots.remove(&lease) {
                self.by_id.remove(&slot.id);
                let operation = slot.next.take().unwrap_or(slot.operation);
                again.push(self.give(now, lease, operation, slot.failures));
            }
        }
        again
    }

    pub(super) fn next_due(&self) -> Option<Now> {
        self.again.next()
    }

    fn give(
        &mut self,
        now: Now,
        lease: Option<LeaseId>,
        operation: Operation,
        failures: u32,
    ) -> Command {
        self.next = self.next.wrapping_add(1);
        let id = CommandId(self.next);
        self.again.set(lease, now.after(LOST_AFTER));
        let slot = Slot { id, operation: operation.clone(), failures, next: None };
        self.slots.insert(lease, slot);
        self.by_id.insert(id, lease);
        Command { id, operation }
    }
}
