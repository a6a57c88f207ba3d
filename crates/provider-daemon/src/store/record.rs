//! A decision as it is written down.

use provider_engine::journal::{Decision, Entry};
use serde::{Deserialize, Serialize};

use super::detail::detail;
use super::error::StoreError;

/// Most characters of words. A tenant's manifest can make a refusal long.
const WORDS: usize = 2_000;

/// Most bytes of detail; without it the words have to do.
const DETAIL: usize = 4_096;

/// A decision as it is written down, and shown to whoever asks why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, derive_more::Display)]
#[display("height {}: {}", self.height, self.words)]
pub struct Record {
    /// Its place in the journal.
    #[serde(default)]
    pub sequence: u64,
    /// Height of the newest block then.
    pub height: u64,
    /// Its time, in seconds since 1970.
    pub time: u64,
    /// About what: an order, a deployment, or the provider, as text.
    pub subject: String,
    /// A name of what was decided that does not change.
    pub kind: String,
    pub words: String,
    /// What mattered, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<serde_json::Value>,
}

impl Record {
    pub(super) fn new(sequence: u64, entry: &Entry) -> Self {
        let detail = detail(&entry.decision)
            .filter(|detail| serde_json::to_vec(detail).is_ok_and(|bytes| bytes.len() <= DETAIL));
        Self {
            sequence,
            height: entry.height,
            time: entry.time.unix(),
            subject: entry.subject.to_string(),
            kind: kind(&entry.decision).to_owned(),
            words: shortened(&entry.decision.to_string()),
            detail,
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        // Numbers, texts and a JSON value always have a JSON form.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn read(sequence: u64, bytes: &[u8]) -> Result<Self, StoreError> {
        let read = serde_json::from_slice(bytes);
        let read: Self =
            read.map_err(|source| StoreError::Row { row: format!("entries/{sequence}"), source })?;
        Ok(Self { sequence, ..read })
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(WORDS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

/// A name of what was decided, for the journal and for metrics. Names do not change.
pub const fn kind(decision: &Decision) -> &'static str {
    match decision {
        Decision::Noticed => "noticed",
        Decision::Declined(_) => "declined",
        Decision::Reserved(_) => "reserved",
        Decision::Bid(_) => "bid",
        Decision::BidOpen { .. } => "bid_open",
        Decision::Failed { .. } => "failed",
        Decision::CloseBid(_) => "close_bid",
        Decision::Ended(_) => "ended",
        Decision::Won(_) => "won",
        Decision::Adopted { .. } => "adopted",
        Decision::Accepted { .. } => "accepted",
        Decision::Refused { .. } => "refused",
        Decision::Deploy => "deploy",
        Decision::DeployFailed { .. } => "deploy_failed",
        Decision::Healthy => "healthy",
        Decision::Unhealthy(_) => "unhealthy",
        Decision::Close(_) => "close",
        Decision::Spared { .. } => "spared",
        Decision::Reclaim => "reclaim",
        Decision::Teardown(_) => "teardown",
        Decision::Gone => "gone",
        Decision::Withdraw { .. } => "withdraw",
        Decision::Earned { .. } => "earned",
        Decision::Withheld(_) => "withheld",
        Decision::Moved(_) => "moved",
        Decision::Escrow { .. } => "escrow",
        Decision::Drift(_) => "drift",
        Decision::BreakerOpen { .. } => "breaker_open",
        Decision::BreakerShut => "breaker_shut",
        Decision::Maintenance(_) => "maintenance",
        Decision::Isolation(_) => "isolation",
        Decision::ClusterKnown { .. } => "cluster_known",
        Decision::ClusterUnknown { .. } => "cluster_unknown",
        Decision::Rival { .. } => "rival",
        Decision::Wallet { .. } => "wallet",
        Decision::Operator { .. } => "operator",
    }
}
