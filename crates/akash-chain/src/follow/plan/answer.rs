//! What answers mean.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Plan;
use super::input::{Effect, Fetched, Problem, StatusAnswer, Ticket};
use super::window::Part;
use crate::follow::status::Unusable;
use crate::query::BlockHeader;

/// How often a node may lack a block that is not its newest before it is believed to have lost it.
const MISSES: u32 = 8;
/// Status answers that may fail in a row before a node that worked is left alone.
const STATUS_STRIKES: u32 = 2;

impl<B> Plan<B> {
    pub(super) fn on_status(
        &mut self,
        now: Duration,
        ticket: Ticket,
        answer: Result<StatusAnswer, Problem>,
        out: &mut Vec<Effect<B>>,
    ) {
        let Some(asked) = self.asks.close(ticket) else { return };
        let block_time = self.pulse.block_time();
        let status = match answer {
            Ok(status) => status,
            Err(problem) => return self.on_status_problem(now, asked.node, &problem, out),
        };
        let fault = self.fault_in(asked.node, &status);
        let Some(node) = self.nodes.get_mut(asked.node) else { return };
        node.status_strikes = 0;
        node.silences = 0;
        node.next_ask = now.saturating_add(block_time);
        if let Some(fault) = fault {
            // What it says of its height is kept for whoever looks, unless it is of another chain.
            if !matches!(fault, Unusable::WrongChain { .. }) {
                node.height = status.height;
                node.reported = node.reported.max(status.height);
            }
            return self.blame(now, asked.node, fault);
        }
        node.reported = status.height;
        node.height = if node.is_sound() { node.height.max(status.height) } else { status.height };
        node.earliest = status.earliest;
        if now.saturating_sub(node.faulted) > self.config.backoff.most {
            node.failures = 0;
        }
        if !node.is_sound() {
            self.verify(now, asked.node, out);
        }
    }

    /// What is wrong with a node that reports this.
    fn fault_in(&self, node: usize, status: &StatusAnswer) -> Option<Unusable> {
        let node = self.nodes.get(node)?;
        let height = status.height;
        if status.chain_id != self.config.chain_id {
            return Some(Unusable::WrongChain { found: status.chain_id.clone() });
        }
        if status.catching_up {
            return Some(Unusable::CatchingUp { height });
        }
        if height < node.reported {
            return Some(Unusable::WentBack { from: node.reported, to: height });
        }
        let contradicts = |hash| self.known.contradicts(height, hash);
        status.hash.is_some_and(contradicts).then_some(Unusable::Forked { height })
    }

    fn on_status_problem(
        &mut self,
        now: Duration,
        index: usize,
        problem: &Problem,
        out: &mut Vec<Effect<B>>,
    ) {
        self.on_silence(index, problem, out);
        let block_time = self.pulse.block_time();
        let Some(node) = self.nodes.get_mut(index) else { return };
        node.status_strikes = node.status_strikes.saturating_add(1);
        node.next_ask = now.saturating_add(block_time.min(self.config.backoff.first));
        if !node.is_sound() || node.status_strikes >= STATUS_STRIKES {
            self.blame(now, index, Unusable::Unreachable { reason: words(problem) });
        }
    }

    /// A node that was at fault, or is new, shows that it has the block we delivered last.
    fn verify(&mut self, now: Duration, index: usize, out: &mut Vec<Effect<B>>) {
        let newest = self.known.newest();
        let Some(node) = self.nodes.get_mut(index) else { return };
        match newest {
            None => (node.fault, node.is_verified) = (None, true),
            // It cannot show anything yet; it is asked again with its next status.
            Some((height, _)) if node.height < height => {
                let best = self.best().max(height);
                if let Some(node) = self.nodes.get_mut(index) {
                    node.fault = Some(Unusable::Lagging { height: node.height, best });
                }
            }
            Some((height, _)) => {
                if !self.asks.any(index, |question| matches!(question, Question::Probe(_))) {
                    let (ticket, within) = self.ask(now, index, Question::Probe(height));
                    let (from, to) = (height, height);
                    out.push(Effect::FetchHeaders { node: index, ticket, from, to, within });
                }
            }
        }
    }

    pub(super) fn on_headers(
        &mut self,
        now: Duration,
        ticket: Ticket,
        answer: Result<Vec<BlockHeader>, Problem>,
        out: &mut Vec<Effect<B>>,
    ) {
        let Some(asked) = self.asks.close(ticket) else { return };
        if let Question::Probe(height) = asked.question {
            return self.on_probe(now, asked.node, height, answer, out);
        }
        let soon = now.saturating_add(self.soon());
        let headers = match answer {
            Ok(headers) => headers,
            Err(problem) => {
                let wanted: Vec<u64> = self.asked_headers(ticket);
                let until = self.until(now, &problem, wanted.first().copied(), true);
                for height in &wanted {
                    if let Some(slot) = self.window.slot(*height) {
                        slot.header.again(until, asked.node);
                    }
                }
                return self.on_fetch_problem(now, asked.node, wanted.first(), &problem, out);
            }
        };
        for height in self.asked_headers(ticket) {
            let found = headers.iter().find(|header| header.height == height);
            if let Some(slot) = self.window.slot(height) {
                match found {
                    Some(header) => {
                        slot.header = Part::Here { node: asked.node, value: *header };
                    }
                    None => slot.header.again(soon, asked.node),
                }
            }
        }
    }

    fn asked_headers(&self, ticket: Ticket) -> Vec<u64> {
        let slots = self.window.slots().filter(|(_, slot)| slot.header.is_asked_as(ticket));
        slots.map(|(height, _)| height).collect()
    }

    fn on_probe(
        &mut self,
        now: Duration,
        index: usize,
        height: u64,
        answer: Result<Vec<BlockHeader>, Problem>,
        out: &mut Vec<Effect<B>>,
    ) {
        let Some(node) = self.nodes.get_mut(index) else { return };
        match answer {
            Ok(headers) => {
                let found = headers.iter().find(|header| header.height == height);
                // Delivered blocks may be forgotten by now; then there is nothing to compare with.
                match (found, self.known.get(height)) {
                    (Some(header), Some(hash)) if header.hash != hash => {
                        self.blame(now, index, Unusable::Forked { height });
                    }
                    (Some(_), Some(_)) | (_, None) => {
                        (node.fault, node.is_verified) = (None, true);
                    }
                    // Asked again with its next status.
                    (None, Some(_)) => {}
                }
            }
            // What it threw away it cannot show, and that is no fault of its branch.
            Err(Problem::Pruned { lowest }) => {
                node.results_from = node.results_from.max(lowest);
                (node.fault, node.is_verified) = (None, true);
            }
            Err(problem) => {
                self.on_silence(index, &problem, out);
                self.blame(now, index, Unusable::Failing { reason: words(&problem) });
            }
        }
    }

    pub(super) fn on_results(
        &mut self,
        now: Duration,
        ticket: Ticket,
        answer: Result<Fetched<B>, Problem>,
        out: &mut Vec<Effect<B>>,
    ) {
        let Some(asked) = self.asks.close(ticket) else { return };
        let Question::Results(height) = asked.question else { return };
        let is_wanted =
            self.window.slot(height).is_some_and(|slot| slot.results.is_asked_as(ticket));
        match answer {
            Ok(fetched) => {
                if let Some(node) = self.nodes.get_mut(asked.node) {
                    node.praise();
                }
                if is_wanted {
                    self.window.fill(height, asked.node, fetched);
                }
            }
            Err(problem) => {
                let until = self.until(now, &problem, Some(height), false);
                if let Some(slot) = self.window.slot(height).filter(|_| is_wanted) {
                    slot.results.again(until, asked.node);
                }
                self.on_fetch_problem(now, asked.node, Some(&height), &problem, out);
            }
        }
    }

    /// What a failed fetch says about the node.
    fn on_fetch_problem(
        &mut self,
        now: Duration,
        index: usize,
        height: Option<&u64>,
        problem: &Problem,
        out: &mut Vec<Effect<B>>,
    ) {
        self.on_silence(index, problem, out);
        let Some(node) = self.nodes.get_mut(index) else { return };
        match problem {
            Problem::NotYet { latest } => {
                // A height it was believed to have: a hint was wrong, or its answer is old.
                if let Some(latest) = latest {
                    node.height = node.height.min(*latest);
                }
                let Some(height) = height.copied() else { return };
                let is_newest = node.height <= height.saturating_add(1);
                let Some(slot) = self.window.slot(height).filter(|_| !is_newest) else { return };
                match slot.missed.iter_mut().find(|(node, _)| *node == index) {
                    Some((_, misses)) if *misses >= MISSES => {
                        node.results_from = node.results_from.max(height.saturating_add(1));
                    }
                    Some((_, misses)) => *misses += 1,
                    None => slot.missed.push((index, 1)),
                }
            }
            Problem::Pruned { lowest } => node.results_from = node.results_from.max(*lowest),
            Problem::NoResults => self.blame(now, index, Unusable::NoResults),
            Problem::Silent | Problem::Failed { .. } => {
                node.strike(&words(problem), now, &self.config);
            }
        }
    }

    /// Silence may mean that connections lead nowhere: the next try uses new ones.
    fn on_silence(&mut self, index: usize, problem: &Problem, out: &mut Vec<Effect<B>>) {
        if !matches!(problem, Problem::Silent) {
            return;
        }
        if let Some(node) = self.nodes.get_mut(index) {
            node.silences = node.silences.saturating_add(1);
            out.push(Effect::Renew { node: index });
        }
    }

    /// When a height is asked for again.
    fn until(
        &mut self,
        now: Duration,
        problem: &Problem,
        height: Option<u64>,
        is_header: bool,
    ) -> Duration {
        let wait = match problem {
            Problem::NotYet { .. } => self.soon(),
            // Another node may have it at once.
            Problem::Pruned { .. } | Problem::NoResults | Problem::Silent => Duration::ZERO,
            Problem::Failed { .. } => {
                let slot = height.and_then(|height| self.window.slot(height));
                let tries = slot.map_or(0, |slot| match is_header {
                    true => slot.header.tries(),
                    false => slot.results.tries(),
                });
                self.config.backoff_after(tries.saturating_add(1)).min(self.pulse.block_time())
            }
        };
        now.saturating_add(wait)
    }

    /// Marks a node as not to be used. What came from a node that is not on our branch is not used
    /// either.
    pub(super) fn blame(&mut self, now: Duration, index: usize, fault: Unusable) {
        let is_foreign = matches!(
            fault,
            Unusable::WrongChain { .. } | Unusable::Forked { .. } | Unusable::WentBack { .. }
        );
        if is_foreign {
            self.window.forget(index);
        }
        if let Some(node) = self.nodes.get_mut(index) {
            node.blame(fault, now, &self.config);
        }
    }

    /// A short while: for what should be there any moment.
    pub(super) fn soon(&self) -> Duration {
        let most = Duration::from_secs(1);
        (self.pulse.block_time() / 16).clamp(Duration::from_millis(10), most)
    }

    /// Asks a node; the ticket, and how long to wait.
    pub(super) fn ask(
        &mut self,
        now: Duration,
        node: usize,
        question: Question,
    ) -> (Ticket, Duration) {
        let block_time = self.pulse.block_time();
        let within =
            self.nodes.get(node).map_or(block_time, |node| node.patience(block_time, &self.config));
        // Whoever asks keeps to `within`; this is for answers that were lost on the way here.
        let deadline = now.saturating_add(within).saturating_add(GRACE);
        (self.asks.open(Asked { node, question, deadline }), within)
    }
}

const GRACE: Duration = Duration::from_millis(500);

fn words(problem: &Problem) -> String {
    match problem {
        Problem::NotYet { .. } => "it does not have this block yet".to_owned(),
        Problem::Pruned { lowest } => format!("its lowest block is {lowest}"),
        Problem::NoResults => "it keeps no results of blocks".to_owned(),
        Problem::Silent => "no answer in time".to_owned(),
        Problem::Failed { reason } => reason.clone(),
    }
}

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
