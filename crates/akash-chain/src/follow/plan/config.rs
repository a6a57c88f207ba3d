//! What the plan is told before it starts.

use std::time::Duration;

use akash_types::Backoff;

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
    pub(super) fn backoff_after(&self, failures: u32) -> Duration {
        self.backoff.after(failures, self.salt)
    }
}
