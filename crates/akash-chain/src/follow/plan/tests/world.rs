//! A chain, a few nodes that may be wrong in many ways, and a virtual clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::super::*;
use crate::query::{BlockHash, BlockHeader};

pub(super) const CHAIN: &str = "local";
pub(super) const BLOCK_TIME: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing it is asked is ever answered, and its subscription says nothing.
    Silent,
    /// Every call is refused.
    Errors,
    /// Results cannot be had, all else can.
    NoResults,
    /// It knows nothing of the newest blocks.
    Lag(u64),
    CatchingUp,
    WrongChain,
    /// It has other blocks than everyone else.
    Fork,
    Closes,
    /// Its subscription is open and tells of nothing.
    Deaf,
    /// It threw away all but so many blocks.
    Prune(u64),
}

#[derive(Clone, Debug, Default)]
pub(super) struct NodeState {
    pub(super) faults: Vec<Fault>,
    lowest: u64,
    ticket: Option<Ticket>,
}

impl NodeState {
    fn has(&self, like: impl Fn(&Fault) -> bool) -> bool {
        self.faults.iter().any(like)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Block,
    Answer(Input<u64>),
    Wake,
    Room,
}

pub(super) struct World {
    pub(super) plan: Plan<u64>,
    pub(super) nodes: Vec<NodeState>,
    pub(super) now: Duration,
    pub(super) head: u64,
    pub(super) cursor: u64,
    pub(super) resyncs: Vec<Resync>,
    pub(super) delivered: u64,
    pub(super) status: FollowStatus,
    pub(super) pings: u64,
    last_hash: Option<BlockHash>,
    queue: BinaryHeap<Reverse<(Duration, u64)>>,
    events: std::collections::BTreeMap<u64, Event>,
    sequence: u64,
    room_asked: bool,
    /// How likely an answer is lost, doubled or late, in percent.
    pub(super) chaos: u64,
    chance: u64,
}

/// The hash of a block on a branch.
pub(super) fn hash(height: u64, fork: bool) -> BlockHash {
    let mut bytes = [u8::from(fork); 32];
    bytes[..8].copy_from_slice(&height.to_be_bytes());
    BlockHash(bytes)
}

pub(super) fn header(height: u64, fork: bool) -> BlockHeader {
    BlockHeader {
        height,
        time: SystemTime::UNIX_EPOCH + BLOCK_TIME * u32::try_from(height).unwrap(),
        hash: hash(height, fork),
        previous: Some(hash(height - 1, fork)),
    }
}

pub(super) fn config() -> PlanConfig {
    let mut config = PlanConfig { max_gap: 500, ..PlanConfig::new(CHAIN) };
    config.backoff.most = Duration::from_secs(8);
    config
}

impl World {
    pub(super) fn new(config: PlanConfig, nodes: usize, head: u64, cursor: u64, seed: u64) -> Self {
        Self::with_fault(config, nodes, head, cursor, seed, None)
    }

    /// As new, with something wrong from the start.
    pub(super) fn with_fault(
        config: PlanConfig,
        nodes: usize,
        head: u64,
        cursor: u64,
        seed: u64,
        fault: Option<(usize, Fault)>,
    ) -> Self {
        let names = (0..nodes).map(|index| Arc::from(format!("node{index}")));
        let mut world = Self {
            plan: Plan::new(config, names, Some(cursor), Duration::ZERO),
            nodes: vec![NodeState { lowest: 1, ..NodeState::default() }; nodes],
            now: Duration::ZERO,
            head,
            cursor,
            resyncs: Vec::new(),
            delivered: 0,
            status: FollowStatus::default(),
            pings: 0,
            last_hash: None,
            queue: BinaryHeap::new(),
            events: std::collections::BTreeMap::new(),
            sequence: 0,
            room_asked: false,
            chaos: 0,
            chance: seed,
        };
        if let Some((node, fault)) = fault {
            world.fault(node, fault);
        }
        world.at(BLOCK_TIME, Event::Block);
        world.handle(Input::Tick);
        world
    }

    pub(super) fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(Reverse((at, id))) = self.queue.peek().copied() {
            if at > end {
                break;
            }
            self.queue.pop();
            self.now = at;
            match self.events.remove(&id).unwrap() {
                Event::Block => self.make_block(),
                Event::Answer(input) => self.handle(input),
                Event::Wake => self.handle(Input::Tick),
                Event::Room => {
                    self.room_asked = false;
                    self.handle(Input::Room);
                }
            }
        }
        self.now = end;
    }

    pub(super) fn fault(&mut self, node: usize, fault: Fault) {
        let head = self.head;
        let state = &mut self.nodes[node];
        match fault {
            Fault::Prune(keep) => state.lowest = head.saturating_sub(keep).max(1),
            Fault::Closes => {
                if let Some(ticket) = state.ticket.take() {
                    let news = News::Down;
                    self.soon(Input::Subscription { ticket, news });
                }
            }
            fault => state.faults.push(fault),
        }
    }

    pub(super) fn heal(&mut self) {
        for node in &mut self.nodes {
            node.faults.clear();
        }
        self.chaos = 0;
    }

    fn below(&mut self, end: u64) -> u64 {
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        (self.chance >> 33) % end
    }

    fn at(&mut self, time: Duration, event: Event) {
        self.sequence += 1;
        self.queue.push(Reverse((time, self.sequence)));
        self.events.insert(self.sequence, event);
    }

    fn soon(&mut self, input: Input<u64>) {
        let delay = Duration::from_millis(1 + self.below(30));
        self.at(self.now + delay, Event::Answer(input));
    }

    /// Brings an answer, unless chance will have it otherwise.
    fn answer(&mut self, node: usize, input: Input<u64>) {
        if self.nodes[node].has(|fault| *fault == Fault::Silent) {
            return;
        }
        match self.below(100) {
            luck if luck >= self.chaos => self.soon(input),
            luck if luck % 3 == 0 => {}
            luck if luck % 3 == 1 => {
                self.soon(input.clone());
                self.soon(input);
            }
            _ => {
                let delay = Duration::from_millis(self.below(6_000));
                self.at(self.now + delay, Event::Answer(input));
            }
        }
    }

    fn make_block(&mut self) {
        self.head += 1;
        self.at(self.now + BLOCK_TIME, Event::Block);
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            let mute = node.has(|fault| matches!(fault, Fault::Silent | Fault::Deaf));
            if let Some(ticket) = node.ticket.filter(|_| !mute) {
                let news = News::Block(self.height(index));
                self.soon(Input::Subscription { ticket, news });
            }
        }
    }

    fn height(&self, node: usize) -> u64 {
        let lag = self.nodes[node].faults.iter().map(|fault| match fault {
            Fault::Lag(blocks) => *blocks,
            _ => 0,
        });
        self.head.saturating_sub(lag.max().unwrap_or(0)).max(1)
    }

    fn refusal(&self, node: usize, height: u64) -> Option<Problem> {
        let latest = self.height(node);
        let lowest = self.nodes[node].lowest;
        if self.nodes[node].has(|fault| *fault == Fault::Errors) {
            return Some(Problem::Failed { reason: "broken".to_owned() });
        }
        if height > latest {
            return Some(Problem::NotYet { latest: Some(latest) });
        }
        (height < lowest).then_some(Problem::Pruned { lowest })
    }

    fn handle(&mut self, input: Input<u64>) {
        let is_room = input == Input::Room;
        let was_ready = self.plan.is_ready();
        let before = (self.delivered, self.resyncs.len());
        for effect in self.plan.handle(self.now, input) {
            self.perform(effect);
        }
        let blocks = usize::try_from(self.delivered - before.0).unwrap();
        let items = blocks + self.resyncs.len() - before.1;
        assert_eq!(items, usize::from(is_room && was_ready), "one item for each room");
        if self.plan.is_ready() && !self.room_asked {
            self.room_asked = true;
            let delay = Duration::from_millis(self.below(4));
            self.at(self.now + delay, Event::Room);
        }
    }

    fn perform(&mut self, effect: Effect<u64>) {
        match effect {
            Effect::AskStatus { node, ticket, .. } => {
                let answer = self.node_status(node);
                self.answer(node, Input::Status { ticket, answer });
            }
            Effect::FetchHeaders { node, ticket, from, to, .. } => {
                assert!(from <= to && to - from < 20, "{from}..={to}");
                let fork = self.nodes[node].has(|fault| *fault == Fault::Fork);
                let low = from.max(self.nodes[node].lowest);
                let high = to.min(self.height(node));
                let answer = match self.refusal(node, if low > high { from } else { low }) {
                    Some(problem) => Err(problem),
                    None => Ok((low..=high).map(|height| header(height, fork)).collect()),
                };
                self.answer(node, Input::Headers { ticket, answer });
            }
            Effect::FetchResults { node, ticket, height, .. } => {
                let missing = self.nodes[node].has(|fault| *fault == Fault::NoResults)
                    || (height == self.head && self.below(3) == 0);
                let answer = match self.refusal(node, height) {
                    Some(problem) => Err(problem),
                    None if missing => Err(Problem::NotYet { latest: None }),
                    None => Ok(Fetched { block: height, bytes: 1_000 }),
                };
                self.answer(node, Input::Results { ticket, answer });
            }
            Effect::Subscribe { node, ticket, .. } => {
                self.nodes[node].ticket = Some(ticket);
                let news = match self.nodes[node].has(|fault| *fault == Fault::Errors) {
                    true => News::Down,
                    false => News::Up,
                };
                self.answer(node, Input::Subscription { ticket, news });
            }
            Effect::Unsubscribe { node } => self.nodes[node].ticket = None,
            Effect::Ping { node } => {
                self.pings += 1;
                let ticket = self.nodes[node].ticket;
                if let Some(ticket) = ticket {
                    let news = News::Alive;
                    self.answer(node, Input::Subscription { ticket, news });
                }
            }
            Effect::Deliver { header, block } => {
                assert_eq!((header.height, block), (self.cursor + 1, self.cursor + 1));
                if let Some(hash) = self.last_hash {
                    assert_eq!(header.previous, Some(hash), "the parent was delivered before");
                }
                self.last_hash = Some(header.hash);
                self.cursor += 1;
                self.delivered += 1;
            }
            Effect::Resync(resync) => {
                assert_eq!(resync.from, self.cursor + 1);
                assert!(resync.to >= resync.from && resync.to <= self.head, "{resync:?}");
                self.last_hash = None;
                self.cursor = resync.to;
                self.resyncs.push(resync);
            }
            Effect::Publish(status) => self.status = status,
            Effect::WakeAt(time) => {
                assert!(time + Duration::from_secs(3_600) > self.now);
                self.at(time.max(self.now), Event::Wake);
            }
            Effect::Renew { .. } => {}
        }
    }

    fn node_status(&self, node: usize) -> Result<StatusAnswer, Problem> {
        let state = &self.nodes[node];
        if state.has(|fault| *fault == Fault::Errors) {
            return Err(Problem::Failed { reason: "broken".to_owned() });
        }
        let wrong = state.has(|fault| *fault == Fault::WrongChain);
        let height = self.height(node);
        Ok(StatusAnswer {
            chain_id: if wrong { "other" } else { CHAIN }.to_owned(),
            height,
            hash: Some(hash(height, state.has(|fault| *fault == Fault::Fork))),
            earliest: state.lowest,
            catching_up: state.has(|fault| *fault == Fault::CatchingUp),
        })
    }

    pub(super) fn health(&self, node: usize) -> &crate::follow::Health {
        &self.status.nodes[node].health
    }
}
