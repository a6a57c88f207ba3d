//! Starting, and what the consumer holds.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::block::Followed;
use super::plan::{Plan, PlanConfig};
use super::status::FollowStatus;
use super::task::{Reached, Task};
use crate::transport::{Endpoint, Limits, RpcClient, SetupError};

/// How blocks are followed, and from whom.
#[derive(Clone, Debug)]
pub struct FollowConfig {
    /// CometBFT RPC addresses of the nodes. All of them are used as long as they are well.
    pub nodes: Vec<Endpoint>,
    /// Bounds of one call. How long an answer may take is the plan's to say.
    pub limits: Limits,
    /// Bounds and waits of the following.
    pub plan: PlanConfig,
    /// How many items may wait for the consumer besides the plan's window.
    pub queue: usize,
}

impl FollowConfig {
    /// What suits the main network.
    pub fn new(chain_id: impl Into<String>, nodes: Vec<Endpoint>) -> Self {
        Self { nodes, limits: Limits::default(), plan: PlanConfig::new(chain_id), queue: 16 }
    }
}

/// Why blocks cannot be followed at all.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// There is nobody to ask.
    #[error("no node to follow blocks from: give at least one RPC address")]
    NoNodes,
    /// A client cannot be set up.
    #[error("preparing to follow blocks from {node}")]
    Setup {
        /// Of which node.
        node: String,
        /// Why not.
        source: SetupError,
    },
}

/// Blocks as they come. Dropping it stops the following.
#[derive(Debug)]
pub struct Follower {
    items: mpsc::Receiver<Followed>,
    status: watch::Receiver<FollowStatus>,
    origin: Instant,
    task: JoinHandle<()>,
}

impl Follower {
    /// Follows blocks from the one after `from`; without it, from the newest there is. Connects in
    /// the background, for as long as it takes. Needs a tokio runtime.
    pub fn start(config: FollowConfig, from: Option<u64>) -> Result<Self, FollowError> {
        if config.nodes.is_empty() {
            return Err(FollowError::NoNodes);
        }
        let names: Vec<Arc<str>> =
            config.nodes.iter().map(|node| Arc::from(node.to_string())).collect();
        let mut nodes = Vec::with_capacity(config.nodes.len());
        for endpoint in config.nodes {
            let node = endpoint.to_string();
            let rpc = RpcClient::new(endpoint, config.limits)
                .map_err(|source| FollowError::Setup { node, source })?;
            nodes.push(Reached::new(rpc, config.limits));
        }
        let salt = RandomState::new().hash_one(());
        let plan = PlanConfig { salt, ..config.plan };
        let plan = Plan::new(plan, names, from, Duration::ZERO);
        let (items, receiver) = mpsc::channel(config.queue.max(1));
        let (status, statuses) = watch::channel(plan.status(Duration::ZERO));
        let origin = Instant::now();
        let task = tokio::spawn(Task { plan, nodes, items, status, origin }.run());
        Ok(Self { items: receiver, status: statuses, origin, task })
    }

    /// The next item. Cancel safe: nothing is lost when the future is dropped. `None` only if the
    /// following has broken down, which is a bug.
    pub async fn next(&mut self) -> Option<Followed> {
        self.items.recv().await
    }

    /// How the following goes, now and from now on.
    pub fn status(&self) -> watch::Receiver<FollowStatus> {
        self.status.clone()
    }

    /// The time on the clock that [`FollowStatus::head_seen`] is on.
    pub fn now(&self) -> Duration {
        self.origin.elapsed()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.task.abort();
    }
}
