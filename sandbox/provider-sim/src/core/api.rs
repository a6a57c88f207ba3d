//! The way to the cluster, which can fail without the cluster failing.

use std::collections::BTreeMap;
use std::time::Duration;

use provider_engine::cluster::command::{Command, CommandAnswer, CommandFailure};
use provider_engine::cluster::view::ViewChange;
use serde::{Deserialize, Serialize};

use super::timers::Timer;
use super::{SimCluster, SimOutput};

/// How often out of a thousand commands something goes wrong on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// It is not done, and the answer says that nobody answered.
    pub fail: u32,
    /// It is done, and the answer says that nobody answered.
    pub fail_after: u32,
    /// It is done, and no answer comes.
    pub lose: u32,
    /// The answer comes twice.
    pub double: u32,
    /// The answer comes late.
    pub late: u32,
    /// By how much, at most.
    pub late_by: Duration,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Api {
    pub(super) down: bool,
    /// When it answers again by itself.
    back_at: Option<Duration>,
    pub(super) faults: Faults,
    /// It answers again since the last step.
    pub(super) is_back: bool,
    late: BTreeMap<u64, CommandAnswer>,
    next_late: u64,
}

/// What is said while it does not answer.
pub(super) const DOWN: &str = "the simulated API is switched off";

impl SimCluster {
    /// Does what was asked, and sees to the answer's fate.
    pub(super) fn command(&mut self, command: Command, outputs: &mut Vec<SimOutput>) {
        let Command { id, operation } = command;
        let faults = self.api.faults;
        let unavailable = |why: &str| Err(CommandFailure::Unavailable(why.to_owned()));
        let result = if self.api.down {
            unavailable(DOWN)
        } else if self.random.chance(faults.fail) {
            unavailable("a simulated fault: nothing was done")
        } else {
            let result = self.operate(operation);
            match self.random.chance(faults.fail_after) {
                true => unavailable("a simulated fault: the connection broke"),
                false => result,
            }
        };
        if self.random.chance(faults.lose) {
            return;
        }
        let answer = CommandAnswer { id, result };
        if self.random.chance(faults.double) {
            self.answer_late(answer.clone());
        }
        match self.random.chance(faults.late) {
            true => self.answer_late(answer),
            false => outputs.push(SimOutput::Answer(answer)),
        }
    }

    fn answer_late(&mut self, answer: CommandAnswer) {
        let most = u64::try_from(self.api.faults.late_by.as_millis()).unwrap_or(u64::MAX);
        let due = self.now.saturating_add(Duration::from_millis(self.random.below(most)));
        let number = self.api.next_late;
        self.api.next_late = number.wrapping_add(1);
        self.api.late.insert(number, answer);
        self.timers.set(due, Timer::Answer(number));
    }

    /// Gives the answer that was held back.
    pub(super) fn late_answer(&mut self, number: u64, outputs: &mut Vec<SimOutput>) {
        outputs.extend(self.api.late.remove(&number).map(SimOutput::Answer));
    }

    /// Stops answering, for ever or for a time.
    pub(super) fn api_down(&mut self, span: Option<Duration>, outputs: &mut Vec<SimOutput>) {
        if !self.api.down {
            outputs.push(SimOutput::View(ViewChange::Lost));
        }
        self.api.down = true;
        self.api.is_back = false;
        self.api.back_at = span.map(|span| self.now.saturating_add(span));
        if let Some(due) = self.api.back_at {
            self.timers.set(due, Timer::ApiBack);
        }
    }

    pub(super) fn api_up(&mut self) {
        self.api.is_back = self.api.is_back || self.api.down;
        self.api.down = false;
        self.api.back_at = None;
    }

    /// The moment has come to answer again, unless it was put off since.
    pub(super) fn api_due(&mut self) {
        if self.api.back_at.is_some_and(|due| due <= self.now) {
            self.api_up();
        }
    }
}
