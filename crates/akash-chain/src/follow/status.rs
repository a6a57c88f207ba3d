//! How the following goes, for whoever wants to look.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::plan::Resync;

/// How the following goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowStatus {
    /// Height of the last block that was delivered; `None` before it is known where to begin.
    pub cursor: Option<u64>,
    /// Height of the newest block that any usable node has.
    pub head: Option<u64>,
    /// How many blocks are still to be delivered.
    pub lag: u64,
    /// Time of the last block that was delivered, as the chain counts it.
    pub last_block_time: Option<SystemTime>,
    /// When a new block was last heard of, on the clock that drives the plan.
    pub head_seen: Option<Duration>,
    /// What is taken for the time between blocks.
    pub block_time: Duration,
    /// No new block has come for too long, or no node can be used.
    pub stalled: bool,
    /// Whether some node tells of new blocks by itself.
    pub subscribed: bool,
    /// Blocks that were left out and not yet followed by a delivered one.
    pub resync: Option<Resync>,
    /// The nodes, in the order they were given.
    pub nodes: Vec<NodeHealth>,
}

/// How one node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeHealth {
    /// Its address.
    pub name: Arc<str>,
    /// Height of its newest block, as far as is known.
    pub height: u64,
    /// Whether its subscription is alive.
    pub subscribed: bool,
    /// Whether it is used.
    pub health: Health,
}

/// Whether a node is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It has not been asked, or has not shown yet that it follows the same branch.
    Unknown,
    /// It is used.
    Usable,
    /// It is not.
    Unusable(Unusable),
}

/// Why a node is not used. It is asked again from time to time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It does not say how it is.
    #[error("does not answer: {reason}")]
    Unreachable {
        /// What went wrong.
        reason: String,
    },
    /// It says how it is, but does not give its blocks.
    #[error("does not give its blocks: {reason}")]
    Failing {
        /// What went wrong last.
        reason: String,
    },
    /// It keeps no results of blocks.
    #[error("keeps no results of blocks; set discard_abci_responses = false in its config.toml")]
    NoResults,
    /// It is on another chain.
    #[error("is on chain {found:?}")]
    WrongChain {
        /// Which.
        found: String,
    },
    /// It is still reading old blocks.
    #[error("is catching up, at height {height}")]
    CatchingUp {
        /// How far it is.
        height: u64,
    },
    /// It is too far behind.
    #[error("is at height {height}, another at {best}")]
    Lagging {
        /// How far it is.
        height: u64,
        /// How far the best is, or we are.
        best: u64,
    },
    /// Its height went back.
    #[error("went back from height {from} to {to}")]
    WentBack {
        /// What it had.
        from: u64,
        /// What it has.
        to: u64,
    },
    /// It has another block at a height that was delivered.
    #[error("has another block at height {height}")]
    Forked {
        /// At which height.
        height: u64,
    },
}

impl FollowStatus {
    /// Whether two differ in more than how far things are.
    pub(super) fn differs_beyond_progress(&self, other: &Self) -> bool {
        let state = |status: &Self| (status.stalled, status.subscribed, status.resync);
        let same_node = |a: &NodeHealth, b: &NodeHealth| {
            a.subscribed == b.subscribed && same_kind(&a.health, &b.health)
        };
        state(self) != state(other)
            || self.cursor.is_some() != other.cursor.is_some()
            || self.nodes.len() != other.nodes.len()
            || !self.nodes.iter().zip(&other.nodes).all(|(a, b)| same_node(a, b))
    }
}

fn same_kind(a: &Health, b: &Health) -> bool {
    match (a, b) {
        (Health::Unusable(a), Health::Unusable(b)) => {
            std::mem::discriminant(a) == std::mem::discriminant(b)
        }
        (a, b) => a == b,
    }
}
