//! What the plan hears, and what it wants done.

use std::time::Duration;

use super::super::status::FollowStatus;
use crate::query::{BlockHash, BlockHeader};

/// What happened. Nodes are named by their place in the list the plan was made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<B> {
    /// Time passed, nothing else.
    Tick,
    /// The consumer can take one item now. Answered by at most one [`Effect::Deliver`] or
    /// [`Effect::Resync`]; by exactly one if the plan is ready.
    Room,
    /// An answer to [`Effect::AskStatus`].
    Status {
        /// The effect's ticket.
        ticket: Ticket,
        /// What came.
        answer: Result<StatusAnswer, Problem>,
    },
    /// An answer to [`Effect::FetchHeaders`].
    Headers {
        /// The effect's ticket.
        ticket: Ticket,
        /// What came, in any order.
        answer: Result<Vec<BlockHeader>, Problem>,
    },
    /// An answer to [`Effect::FetchResults`].
    Results {
        /// The effect's ticket.
        ticket: Ticket,
        /// What came.
        answer: Result<Fetched<B>, Problem>,
    },
    /// A subscription that [`Effect::Subscribe`] asked for.
    Subscription {
        /// The effect's ticket.
        ticket: Ticket,
        /// What of it.
        news: News,
    },
}

/// What is heard of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// The node has accepted it.
    Up,
    /// There is a block of this height.
    Block(u64),
    /// A sign of life: an answer to a ping, or any other frame.
    Alive,
    /// It is over, or never came to be.
    Down,
}

/// Ties an answer to what was asked. An answer with a ticket that the plan has given up is ignored.
pub type Ticket = u64;

/// What a node says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusAnswer {
    /// Which chain it is on.
    pub chain_id: String,
    /// Height of its newest block.
    pub height: u64,
    /// Hash of that block.
    pub hash: Option<BlockHash>,
    /// Height of the oldest block it still has.
    pub earliest: u64,
    /// Whether it is still reading old blocks.
    pub catching_up: bool,
}

/// The results of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched<B> {
    /// What the consumer gets.
    pub block: B,
    /// What it weighs while it waits.
    pub bytes: usize,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The node does not have this height yet. Of the newest block this is common.
    NotYet {
        /// The newest it has, if it says so.
        latest: Option<u64>,
    },
    /// The node has thrown this height away.
    Pruned {
        /// The lowest it has.
        lowest: u64,
    },
    /// The node is set up to keep no results of blocks.
    NoResults,
    /// Nothing came in time.
    Silent,
    /// Anything else.
    Failed {
        /// What went wrong.
        reason: String,
    },
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<B> {
    /// Ask a node for its status.
    AskStatus {
        /// Which node.
        node: usize,
        /// For the answer.
        ticket: Ticket,
        /// How long to wait for it.
        within: Duration,
    },
    /// Fetch headers of a few blocks.
    FetchHeaders {
        /// From which node.
        node: usize,
        /// For the answer.
        ticket: Ticket,
        /// The first height.
        from: u64,
        /// The last height.
        to: u64,
        /// How long to wait for it.
        within: Duration,
    },
    /// Fetch what a block did.
    FetchResults {
        /// From which node.
        node: usize,
        /// For the answer.
        ticket: Ticket,
        /// Which block.
        height: u64,
        /// How long to wait for it.
        within: Duration,
    },
    /// Open new connections to a node from now on: the old ones may lead nowhere.
    Renew {
        /// Which node.
        node: usize,
    },
    /// Subscribe to new blocks.
    Subscribe {
        /// At which node.
        node: usize,
        /// For news of it.
        ticket: Ticket,
        /// How long it may take.
        within: Duration,
    },
    /// Send a ping on a subscription.
    Ping {
        /// At which node.
        node: usize,
    },
    /// Drop a subscription.
    Unsubscribe {
        /// At which node.
        node: usize,
    },
    /// Give the consumer a block: the one after the last given.
    Deliver {
        /// Its header.
        header: BlockHeader,
        /// What it did.
        block: B,
    },
    /// Tell the consumer to look at the state instead of blocks.
    Resync(Resync),
    /// Let everyone see how things are.
    Publish(FollowStatus),
    /// Come back at this time at the latest, whatever was said before.
    WakeAt(Duration),
}

/// Blocks that will not be delivered: the consumer asks for the state of the chain instead, as it is
/// at `to` or later, and goes on with the block after `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resync {
    /// The first height that is left out.
    pub from: u64,
    /// The last height that is left out.
    pub to: u64,
    /// Why.
    pub reason: ResyncReason,
}

/// Why blocks are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResyncReason {
    /// There are more than are worth fetching.
    GapTooLarge {
        /// How many.
        blocks: u64,
    },
    /// No node that can be used has them any more.
    Pruned {
        /// The lowest height that one of them has.
        lowest: u64,
    },
    /// Every node that answers has other blocks than those that were delivered, and has had for
    /// long: the chain was taken back and went on from there.
    OtherBranch,
}
