//! Every decision of the follower: whom to ask for what, what to believe, what to deliver.
//!
//! A state machine without IO, clock or chance: [`Plan::handle`] takes the time and what happened,
//! and says what is to be done. Time is counted from any origin the caller likes. It must not know
//! sockets, tasks or what is inside a block, so that a simulation can drive it as the follower does.
//!
//! ```text
//!  node:    Unknown ── status fine ──► (shows our last block) ──► Usable ◄──► Lagging
//!              ▲                                                    │
//!              └── status fine again, after a wait ◄── Unusable ◄───┘ fault
//!
//!  height:  Wanted ──► Asked ──► Here ──► delivered, once every height below is
//!              ▲         │
//!              └─ error ─┘    never skipped: asked for again, rather from another node
//! ```
//!
//! **Invariant.** Heights that are delivered or left out by a resync are consecutive from the cursor,
//! each once, whatever nodes say.
//! **Invariant.** A delivered block names the delivered block before it as its parent.
//! **Invariant.** Once nodes answer again, the newest block is reached.

mod answer;
mod deliver;
mod input;
mod known;
mod listen;
mod node;
mod publish;
mod schedule;
mod window;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use akash_types::Backoff;
use answer::Asks;
use known::Known;
use listen::Pulse;
use node::Node;
use window::Window;

use super::status::FollowStatus;

pub use input::{
    Effect, Fetched, Input, News, Problem, Resync, ResyncReason, StatusAnswer, Ticket,
};

/// The follower's decisions, for blocks whose content is a `B`.
#[derive(Clone, Debug)]
pub struct Plan<B> {
    config: PlanConfig,
    nodes: Vec<Node>,
    asks: Asks,
    /// Height of the last block that was delivered.
    cursor: Option<u64>,
    window: Window<B>,
    known: Known,
    pulse: Pulse,
    /// Heights to be left out, once the consumer has room to hear it; and those it last heard of.
    pending: Option<Resync>,
    resyncing: Option<Resync>,
    /// Since when every node is on another branch.
    branch_lost: Option<Duration>,
    /// The newest height that was heard of, and when.
    head_seen: (u64, Duration),
    last_block_time: Option<SystemTime>,
    published: FollowStatus,
    published_at: Duration,
    wake: Option<Duration>,
}

impl<B> Plan<B> {
    /// A plan for nodes with these names. It begins after `from`, or at the newest block.
    pub fn new(
        config: PlanConfig,
        names: impl IntoIterator<Item = Arc<str>>,
        from: Option<u64>,
        now: Duration,
    ) -> Self {
        let pulse = Pulse::new(config.block_time_floor, config.block_time_ceiling);
        Self {
            nodes: names.into_iter().map(Node::new).collect(),
            asks: Asks::default(),
            cursor: from,
            window: Window::new(from.map_or(0, |from| from.saturating_add(1))),
            known: Known::default(),
            pulse,
            pending: None,
            resyncing: None,
            branch_lost: None,
            head_seen: (0, now),
            last_block_time: None,
            published: FollowStatus::default(),
            published_at: now,
            wake: None,
            config,
        }
    }

    /// What is to be done now that this happened.
    pub fn handle(&mut self, now: Duration, input: Input<B>) -> Vec<Effect<B>> {
        let mut out = Vec::new();
        match input {
            Input::Tick => {}
            Input::Room => self.on_room(&mut out),
            Input::Status { ticket, answer } => self.on_status(now, ticket, answer, &mut out),
            Input::Headers { ticket, answer } => self.on_headers(now, ticket, answer, &mut out),
            Input::Results { ticket, answer } => self.on_results(now, ticket, answer, &mut out),
            Input::Subscription { ticket, news } => self.on_news(now, ticket, news),
        }
        self.expire(now, &mut out);
        self.begin();
        self.see_head(now);
        self.look_for_gap();
        self.look_for_branch(now);
        self.check_link(now);
        self.ask_statuses(now, &mut out);
        self.listen(now, &mut out);
        if self.cursor.is_some() && self.pending.is_none() {
            self.fetch(now, &mut out);
        }
        self.publish(now, &mut out);
        self.wake(now, &mut out);
        out
    }

    /// The newest height of the sound nodes, or the cursor's.
    fn best(&self) -> u64 {
        let sound = self.nodes.iter().filter(|node| node.is_sound()).map(|node| node.height);
        sound.chain(self.cursor).max().unwrap_or(0)
    }

    fn wake(&mut self, now: Duration, out: &mut Vec<Effect<B>>) {
        let asks = self.nodes.iter().enumerate().filter(|(index, _)| {
            !self.asks.any(*index, |question| question == answer::Question::Status)
        });
        let next = [
            asks.map(|(_, node)| node.next_ask).min(),
            self.asks.first_deadline(),
            self.listen_next(),
            self.fetch_next(now),
            self.publish_next(now),
            self.branch_next(now),
        ];
        let next = next.into_iter().flatten().min();
        // A time that has come is spent: what is to be done at once is said anew.
        let told = self.wake.filter(|wake| *wake > now);
        if next != told {
            self.wake = next;
            out.extend(next.map(Effect::WakeAt));
        }
    }
}

/// How blocks are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanConfig {
    /// The chain to follow; nodes of another one are not used.
    pub chain_id: String,
    /// How many heights may be asked for or wait for the consumer at once.
    pub window: u64,
    /// How many bytes may wait for the consumer, as the node sent them. The next height is fetched
    /// in any case.
    pub window_bytes: usize,
    /// How many requests one node gets at once.
    pub requests_per_node: usize,
    /// A node that is more blocks than this behind the best is not used.
    pub max_lag: u64,
    /// More blocks than this are not fetched one by one: the consumer is told to look at the state.
    pub max_gap: u64,
    /// The shortest time between blocks that is believed. What depends on the block time, such as
    /// how long silence is borne, never gets shorter than this allows.
    pub block_time_floor: Duration,
    /// The longest time between blocks that is believed.
    pub block_time_ceiling: Duration,
    /// After so many block times without a new block the chain counts as stalled.
    pub stall_after: u32,
    /// After so many block times in which every node was on another branch than ours, that one
    /// counts.
    pub other_branch_after: u32,
    /// Waits before a node that failed is tried again.
    pub backoff: Backoff,
    /// Sets the waits of several processes apart; 0 leaves them as they are.
    pub salt: u64,
    /// The longest wait for one answer.
    pub patience: Duration,
}

impl PlanConfig {
    /// What suits the main network, for a chain of this name.
    pub fn new(chain_id: impl Into<String>) -> Self {
        Self {
            chain_id: chain_id.into(),
            window: 64,
            window_bytes: 64 << 20,
            requests_per_node: 16,
            max_lag: 5,
            max_gap: 20_000,
            block_time_floor: Duration::from_secs(1),
            block_time_ceiling: Duration::from_secs(30),
            stall_after: 10,
            other_branch_after: 20,
            backoff: Backoff { first: Duration::from_millis(500), most: Duration::from_secs(30) },
            salt: 0,
            patience: Duration::from_secs(30),
        }
    }

    /// The wait after the given number of failures in a row.
    fn backoff_after(&self, failures: u32) -> Duration {
        self.backoff.after(failures, self.salt)
    }
}

#[cfg(test)]
mod tests;
