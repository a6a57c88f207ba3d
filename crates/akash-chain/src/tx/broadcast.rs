//! Giving a signed transaction to a node.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::code::{Refusal, refusal_from_rpc};
use super::{SignedTx, TxFound, TxHash, TxResult};
use crate::query::{Failure, Malformed, Node, QueryError};
use crate::transport::RpcError;

/// How much to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BroadcastMode {
    /// Until the node has checked it.
    Sync,
    /// For nothing.
    Async,
    /// Until it is in a block; `block` in Go's flags.
    Commit,
}

impl BroadcastMode {
    const fn method(self) -> &'static str {
        match self {
            Self::Sync => "broadcast_tx_sync",
            Self::Async => "broadcast_tx_async",
            Self::Commit => "broadcast_tx_commit",
        }
    }
}

impl std::str::FromStr for BroadcastMode {
    type Err = BroadcastModeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "sync" => Ok(Self::Sync),
            "async" => Ok(Self::Async),
            "block" => Ok(Self::Commit),
            _ => Err(BroadcastModeError),
        }
    }
}

/// Why a text is not a broadcast mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("broadcast mode must be one of: sync, async, block")]
pub struct BroadcastModeError;

/// What became of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broadcast {
    /// The node has it (sync: and found nothing wrong with it). What the market says of it is only
    /// seen in the block.
    Pending,
    /// It is in a block, where it succeeded or failed.
    Delivered {
        /// Height of the block.
        height: u64,
        /// What it did there.
        result: TxResult,
    },
    /// The node does not take it. It costs nothing and its sequence is still free, unless the
    /// reason is that the node has it already.
    Refused(Refusal),
}

impl Broadcast {
    /// The refusal, before a block or in it.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Pending => None,
            Self::Refused(refusal) => Some(refusal.clone()),
            Self::Delivered { result, .. } if result.is_ok() => None,
            Self::Delivered { result, .. } => Some(Refusal {
                codespace: result.codespace.clone(),
                code: result.code,
                log: result.log.clone(),
            }),
        }
    }
}

/// Why it is not known what became of a transaction. The node may have it all the same: look for
/// its hash before it is sent in another form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BroadcastError {
    /// The node did not answer, or not in a way that says.
    #[error("transaction {hash} could not be broadcast")]
    Send {
        /// Its name.
        hash: TxHash,
        /// What went wrong.
        source: Failure,
    },
    /// It was sent, and did not come into a block in time.
    #[error("transaction {hash} was broadcast")]
    Wait {
        /// Its name.
        hash: TxHash,
        /// What is known of it.
        source: WaitError,
    },
}

/// What the node says in commit mode when no block took the transaction in time.
const COMMIT_TIMEOUT: &str = "timed out waiting for tx to be included in a block";

/// Gives `tx` to the node, once. In commit mode, when the node gives up waiting for a block, looks
/// for it as `wait` says.
pub async fn broadcast(
    node: &Node,
    tx: &SignedTx,
    mode: BroadcastMode,
    wait: Wait,
) -> Result<Broadcast, BroadcastError> {
    let hash = tx.hash();
    let params = Params { tx: STANDARD.encode(tx.raw()) };
    let answer: Result<Answer, RpcError> = node.rpc().call(mode.method(), &params).await;
    match read(hash, mode, answer) {
        Read::Known(broadcast) => Ok(broadcast),
        Read::Failed(source) => Err(BroadcastError::Send { hash, source }),
        Read::Wait => match wait_for(node, hash, wait).await {
            Ok(found) => Ok(Broadcast::Delivered { height: found.height, result: found.result }),
            Err(source) => Err(BroadcastError::Wait { hash, source }),
        },
    }
}

#[derive(Serialize)]
struct Params {
    tx: String,
}

/// The answers of all three modes: what is absent is zero.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    code: u32,
    codespace: String,
    log: String,
    hash: Option<TxHash>,
    check_tx: Option<Check>,
    tx_result: Option<TxResult>,
    height: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Check {
    code: u32,
    codespace: String,
    log: String,
}

enum Read {
    Known(Broadcast),
    Wait,
    Failed(Failure),
}

/// What an answer says, without asking anybody.
fn read(hash: TxHash, mode: BroadcastMode, answer: Result<Answer, RpcError>) -> Read {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return read_error(mode, error),
    };
    if let Some(other) = answer.hash.filter(|&other| other != hash) {
        let (part, expected) = ("transaction hash", "the hash of what was sent");
        let found = other.to_string();
        return Read::Failed(Malformed::Unexpected { part, found, expected }.into());
    }
    let check = answer.check_tx.unwrap_or(Check {
        code: answer.code,
        codespace: answer.codespace,
        log: answer.log,
    });
    if check.code != 0 {
        let Check { code, codespace, log } = check;
        return Read::Known(Broadcast::Refused(Refusal { codespace, code, log }));
    }
    if mode != BroadcastMode::Commit {
        return Read::Known(Broadcast::Pending);
    }
    let height = answer.height.and_then(|height| height.parse().ok());
    match (answer.tx_result, height.filter(|&height| height > 0)) {
        (Some(result), Some(height)) => Read::Known(Broadcast::Delivered { height, result }),
        _ => Read::Failed(Malformed::Missing { part: "height and result of the block" }.into()),
    }
}

fn read_error(mode: BroadcastMode, error: RpcError) -> Read {
    let text = error.refusal().unwrap_or_default();
    if let Some(refusal) = refusal_from_rpc(text) {
        return Read::Known(Broadcast::Refused(refusal));
    }
    if mode == BroadcastMode::Commit && text.contains(COMMIT_TIMEOUT) {
        return Read::Wait;
    }
    Read::Failed(error.into())
}

/// How often and how long to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Time between two looks.
    pub every: Duration,
    /// When to give up.
    pub at_most: Duration,
}

impl Default for Wait {
    /// Every second for thirty seconds, as in Go.
    fn default() -> Self {
        Self { every: Duration::from_secs(1), at_most: Duration::from_secs(30) }
    }
}

/// Why a transaction was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// It was in no block in time. It may come yet.
    #[error("transaction {hash} was in no block within {after:?}")]
    NotIncluded {
        /// Its name.
        hash: TxHash,
        /// How long was waited.
        after: Duration,
    },
    /// The node did not say. It may be in a block.
    #[error(transparent)]
    Query(#[from] QueryError),
}

/// Looks for a transaction until it is in a block.
/// A failure does not say that it never will be in one.
pub async fn wait_for(node: &Node, hash: TxHash, wait: Wait) -> Result<TxFound, WaitError> {
    let deadline = Instant::now() + wait.at_most;
    loop {
        if let Some(found) = node.tx(hash).await? {
            return Ok(found);
        }
        let next = Instant::now() + wait.every;
        if next > deadline {
            return Err(WaitError::NotIncluded { hash, after: wait.at_most });
        }
        tokio::time::sleep_until(next).await;
    }
}
