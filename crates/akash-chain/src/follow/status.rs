//! How the following goes, for whoever wants to look.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::plan::{Problem, Resync};
use crate::transport::{RpcError, Unavailable, chain};

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

/// What it means that a question about `height` was answered with this.
pub(super) fn problem_of(error: &RpcError, height: u64) -> Problem {
    match error {
        RpcError::Unavailable(Unavailable::Timeout { .. }) => Problem::Silent,
        RpcError::Refused(refusal) => {
            refused(&refusal.data, height).unwrap_or_else(|| failed(error))
        }
        RpcError::Unavailable(_) | RpcError::Malformed(_) => failed(error),
    }
}

fn failed(error: &RpcError) -> Problem {
    Problem::Failed { reason: chain(error) }
}

/// CometBFT's own words; `None` for others.
fn refused(text: &str, height: u64) -> Option<Problem> {
    if text.contains("could not find results for height") {
        return Some(Problem::NotYet { latest: None });
    }
    if text.contains("must be less than or equal to the current blockchain height") {
        return Some(Problem::NotYet { latest: number_after(text, "blockchain height ") });
    }
    if text.contains("lowest height is") {
        // Whatever it says, it does not have this one.
        let lowest = number_after(text, "lowest height is ").unwrap_or_default();
        return Some(Problem::Pruned { lowest: lowest.max(height.saturating_add(1)) });
    }
    if text.contains("node is not persisting") {
        return Some(Problem::NoResults);
    }
    if text.contains("can't be greater than max height") {
        // Bounds as the node moved them: the lower one to its lowest, the upper to its newest.
        let (low, high) =
            (number_after(text, "min height ")?, number_after(text, "than max height ")?);
        return Some(match low > height {
            true => Problem::Pruned { lowest: low },
            false => Problem::NotYet { latest: Some(high) },
        });
    }
    None
}

fn number_after(text: &str, words: &str) -> Option<u64> {
    let (_, rest) = text.split_once(words)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::RpcRefusal;

    #[test]
    fn the_nodes_words_are_understood() {
        for (text, expected) in [
            ("could not find results for height #7", Problem::NotYet { latest: None }),
            (
                "height 7 must be less than or equal to the current blockchain height 6",
                Problem::NotYet { latest: Some(6) },
            ),
            ("height 7 is not available, lowest height is 42", Problem::Pruned { lowest: 42 }),
            ("height 7 is not available, lowest height is 3", Problem::Pruned { lowest: 8 }),
            ("node is not persisting finalize block responses", Problem::NoResults),
            (
                "min height 7 can't be greater than max height 6",
                Problem::NotYet { latest: Some(6) },
            ),
            ("min height 42 can't be greater than max height 26", Problem::Pruned { lowest: 42 }),
        ] {
            let refusal = RpcRefusal {
                code: -32603,
                message: "Internal error".to_owned(),
                data: text.to_owned(),
            };
            assert_eq!(problem_of(&RpcError::Refused(refusal), 7), expected, "{text}");
        }
    }

    #[test]
    fn other_words_are_failures_and_silence_is_silence() {
        let refusal = |data: &str| {
            let (code, message) = (-32603, String::new());
            problem_of(&RpcError::Refused(RpcRefusal { code, message, data: data.to_owned() }), 7)
        };
        for text in ["", "panic", "min height can't be greater than max height"] {
            assert!(matches!(refusal(text), Problem::Failed { .. }), "{text}");
        }
        let timeout = Unavailable::Timeout {
            endpoint: "http://node".to_owned(),
            after: std::time::Duration::from_secs(1),
        };
        assert_eq!(problem_of(&RpcError::Unavailable(timeout), 7), Problem::Silent);
    }
}
