//! Commands to the cluster: one under way per lease, the newest wins.
//!
//! A command whose fate is not known is given again, since every one may be carried out twice. A
//! newer one waits for the answer to the older; a teardown is never replaced.

use std::time::Duration;

use akash_types::{Backoff, LeaseId};

use super::in_flight::InFlight;
use crate::cluster::command::{Command, CommandAnswer, CommandFailure, CommandId, Operation};
use crate::time::Now;

/// How commands that failed are repeated.
const RETRY: Backoff = Backoff { first: Duration::from_secs(1), most: Duration::from_secs(60) };

/// After this long without a word, a command counts as lost and is given again.
const LOST_AFTER: Duration = Duration::from_secs(300);

#[derive(Clone, Debug)]
struct Slot {
    operation: Operation,
    next: Option<Operation>,
}

/// A command that is over, and how it went.
pub(crate) type Ended = (Operation, Result<(), CommandFailure>);

/// Commands about no lease share a slot of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands(InFlight<Option<LeaseId>, Slot>);

impl Commands {
    /// Wants `operation` done. Gives the command, if it can be given now.
    pub(crate) fn want(&mut self, now: Now, operation: Operation) -> Option<Command> {
        let lease = operation.lease();
        if let Some(request) = self.0.get_mut(&lease) {
            let slot = &mut request.item;
            if slot.operation == operation {
                slot.next = None;
            } else if !matches!(slot.next, Some(Operation::Teardown { .. })) {
                slot.next = Some(operation);
            }
            return None;
        }
        Some(self.give(now, lease, operation))
    }

    /// Whether something is under way for a lease.
    pub(crate) fn is_busy(&self, lease: LeaseId) -> bool {
        self.0.contains(&Some(lease))
    }

    /// An answer came. Gives what it ends, if it ends something, and the command to give next.
    pub(crate) fn hear(
        &mut self,
        now: Now,
        answer: CommandAnswer,
    ) -> (Option<Ended>, Option<Command>) {
        let Some(lease) = self.0.answered(answer.id.0) else { return (None, None) };
        let Some(request) = self.0.get_mut(&lease) else { return (None, None) };
        // A hold that nobody answered is told to the tenant, who asks again; all else we repeat.
        let slot = &request.item;
        let repeats = !matches!(slot.operation, Operation::Hold(_)) && slot.next.is_none();
        if matches!(answer.result, Err(CommandFailure::Unavailable(_))) && repeats {
            request.failures = request.failures.saturating_add(1);
            let pause = RETRY.after(request.failures, answer.id.0);
            self.0.again_at(lease, now.after(pause));
            return (None, None);
        }
        let Some(Slot { operation, next }) = self.0.remove(&lease) else { return (None, None) };
        let ended = Some((operation, answer.result));
        (ended, next.map(|operation| self.give(now, lease, operation)))
    }

    /// What is to be given again by now.
    pub(crate) fn due(&mut self, now: Now) -> Vec<Command> {
        let mut again = Vec::new();
        while let Some((number, lease)) = self.0.pop_due(now) {
            let Some(request) = self.0.get_mut(&lease) else { continue };
            let slot = &mut request.item;
            if let Some(next) = slot.next.take() {
                slot.operation = next;
            }
            again.push(Command { id: CommandId(number), operation: slot.operation.clone() });
            self.0.again_at(lease, now.after(LOST_AFTER));
        }
        again
    }

    pub(crate) fn next_due(&self) -> Option<Now> {
        self.0.next_due()
    }

    fn give(&mut self, now: Now, lease: Option<LeaseId>, operation: Operation) -> Command {
        let number = self.0.begin(lease, Slot { operation: operation.clone(), next: None });
        self.0.again_at(lease, now.after(LOST_AFTER));
        Command { id: CommandId(number), operation }
    }
}
