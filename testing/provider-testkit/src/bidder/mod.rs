//! The least that follows blocks and wants things of the chain: a follower, a lane, and a journal
//! that outlives both.
//!
//! ```text
//! Follower ── block ──► decide ── wants ──► Journal ──► LaneTask ── outcome ──► Journal
//!                                          (height and wants in one entry)
//! ```
//!
//! A block and what it leads to are one entry of the journal, written before the lane hears of
//! either. Whoever is killed starts again after the last entry and wants again what has no outcome,
//! so a block counts once over all lives and an intent ends once.
//!
//! Must not know faults: who breaks what is the test's business.

mod journal;
mod want;

use std::sync::{Arc, Mutex, PoisonError};

use akash_chain::follow::{FollowConfig, Followed, FollowedBlock, Follower};
use akash_chain::query::{Connection, Node, Query};
use akash_chain::transport::{Endpoint, Limits, RpcClient};
use akash_chain::tx::lane::{LaneBlock, LaneConfig, LaneHandle, LaneTask};
use akash_keys::SecretKey;
use akash_types::Intent;
use tokio::task::JoinHandle;

pub use journal::{Broken, Entry, Journal};
pub use want::{Want, wants};

/// Whom a bidder talks to, and as whom.
#[derive(Debug)]
pub struct Settings {
    /// How blocks are followed, and from whom.
    pub follow: FollowConfig,
    /// The node that is asked and given transactions.
    pub rpc: Endpoint,
    /// The same node's gRPC, if that is to be used.
    pub grpc: Option<Endpoint>,
    /// Bounds of its calls.
    pub limits: Limits,
    /// The provider's key.
    pub key: SecretKey,
    /// How transactions are made.
    pub lane: LaneConfig,
}

/// Why a bidder stopped.
#[derive(Debug)]
pub enum Stopped {
    /// It got something that it must never get.
    Broken(Broken),
    /// It could not start.
    Setup(String),
    /// The follower or the lane ended by itself.
    Ended(&'static str),
}

impl From<Broken> for Stopped {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

/// Ends a task with its owner.
struct Bound(JoinHandle<()>);

impl Drop for Bound {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Follows, wants and writes down until something is wrong or the future is dropped, which is as
/// sudden as a crash.
pub async fn run(settings: Settings, journal: Arc<Mutex<Journal>>) -> Result<(), Stopped> {
    let Settings { follow, rpc, grpc, limits, key, lane } = settings;
    let account = lane.account;
    let chain_id = follow.plan.chain_id.clone();
    let rpc = RpcClient::new(rpc, limits).map_err(setup)?;
    let query = Query::new(Connection::new(&rpc, grpc.as_ref(), limits).map_err(setup)?);
    let (task, handle, mut ended) = LaneTask::new(lane, key, chain_id, query, Node::new(rpc));
    let _lane = Bound(tokio::spawn(task.run()));

    let (cursor, open) = with(&journal, |journal| (journal.cursor(), journal.open(account)));
    submit(&handle, open).await?;
    let mut follower = Follower::start(follow, Some(cursor)).map_err(setup)?;
    loop {
        tokio::select! {
            item = follower.next() => match item {
                Some(Followed::Block(block)) => {
                    let wanted = with(&journal, |journal| take(journal, &block, account))?;
                    let block = LaneBlock::of_followed(&block, account);
                    handle.block(block).await.map_err(|_| Stopped::Ended("lane"))?;
                    submit(&handle, wanted).await?;
                }
                Some(Followed::Resync(resync)) => {
                    return Err(Broken(format!("blocks were left out: {resync:?}")).into());
                }
                None => return Err(Stopped::Ended("follower")),
            },
            outcome = ended.recv() => {
                let end = outcome.ok_or(Stopped::Ended("lane"))?;
                with(&journal, |journal| journal.end(end.intent, &end.outcome))?;
            }
        }
    }
}

/// Writes a block down with what it leads to.
fn take(
    journal: &mut Journal,
    block: &FollowedBlock,
    account: akash_types::Address,
) -> Result<Vec<Intent>, Broken> {
    let wanted = wants(journal, block, account);
    journal.block(block.height, wanted, account)
}

async fn submit(lane: &LaneHandle, intents: Vec<Intent>) -> Result<(), Stopped> {
    if intents.is_empty() {
        return Ok(());
    }
    lane.submit(intents).await.map_err(|_| Stopped::Ended("lane"))
}

/// Looks at a journal, or writes it.
pub fn with<T>(journal: &Mutex<Journal>, look: impl FnOnce(&mut Journal) -> T) -> T {
    look(&mut journal.lock().unwrap_or_else(PoisonError::into_inner))
}

fn setup(error: impl std::error::Error) -> Stopped {
    Stopped::Setup(error.to_string())
}
