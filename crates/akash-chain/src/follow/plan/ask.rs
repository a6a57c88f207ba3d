//! What was asked and not yet answered.

use std::collections::BTreeMap;
use std::time::Duration;

use super::input::Ticket;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Status,
    /// Whether the node has the same block as we at a height.
    Probe(u64),
    Headers,
    Results(u64),
}

impl Question {
    const fn is_fetch(self) -> bool {
        matches!(self, Self::Headers | Self::Results(_))
    }
}

/// A question that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) node: usize,
    pub(super) question: Question,
    pub(super) deadline: Duration,
}

/// All of them, by ticket. Each is answered, or given up, exactly once.
#[derive(Clone, Debug, Default)]
pub(super) struct Asks {
    open: BTreeMap<Ticket, Asked>,
    last: Ticket,
    /// How many requests for blocks each node works on.
    loads: BTreeMap<usize, usize>,
}

impl Asks {
    /// A ticket that was never given.
    pub(super) fn ticket(&mut self) -> Ticket {
        self.last += 1;
        self.last
    }

    pub(super) fn open(&mut self, asked: Asked) -> Ticket {
        let ticket = self.ticket();
        if asked.question.is_fetch() {
            *self.loads.entry(asked.node).or_default() += 1;
        }
        self.open.insert(ticket, asked);
        ticket
    }

    pub(super) fn close(&mut self, ticket: Ticket) -> Option<Asked> {
        let asked = self.open.remove(&ticket)?;
        if let Some(load) = self.loads.get_mut(&asked.node).filter(|_| asked.question.is_fetch()) {
            *load = load.saturating_sub(1);
        }
        Some(asked)
    }

    pub(super) fn question(&self, ticket: Ticket) -> Option<Question> {
        self.open.get(&ticket).map(|asked| asked.question)
    }

    /// A question whose time is over.
    pub(super) fn overdue(&self, now: Duration) -> Option<Ticket> {
        self.open.iter().find(|(_, asked)| asked.deadline <= now).map(|(ticket, _)| *ticket)
    }

    pub(super) fn first_deadline(&self) -> Option<Duration> {
        self.open.values().map(|asked| asked.deadline).min()
    }

    /// How many requests for blocks a node works on.
    pub(super) fn load(&self, node: usize) -> usize {
        self.loads.get(&node).copied().unwrap_or_default()
    }

    /// Whether a node has such a question open.
    pub(super) fn any(&self, node: usize, like: impl Fn(Question) -> bool) -> bool {
        self.open.values().any(|asked| asked.node == node && like(asked.question))
    }
}
