//! What happened on chain.

use serde::{Deserialize, Serialize};

/// The newest block that was followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Its height.
    pub height: u64,
    /// Its time, in milliseconds since 1970.
    pub time_ms: u64,
    /// The chain it belongs to.
    #[serde(default)]
    pub chain_id: String,
    /// Orders that were opened in it.
    #[serde(default)]
    pub orders_created: u64,
    /// Leases of this provider that began in it.
    #[serde(default)]
    pub leases_created: u64,
    /// Leases of this provider that ended in it.
    #[serde(default)]
    pub leases_closed: u64,
}

/// The lease of this provider that changed last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseChange {
    /// The tenant.
    pub owner: String,
    /// The deployment.
    pub dseq: u64,
    /// The group.
    pub gseq: u32,
    /// The order.
    pub oseq: u32,
    /// The provider.
    pub provider: String,
    /// How it is now.
    pub state: LeaseState,
    /// Why it ended, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// First height that its escrow account does not pay; there while the account is dry and the
    /// lease still active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_at: Option<u64>,
    /// The height at which it became so.
    #[serde(default)]
    pub height: u64,
}

/// How a lease is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseState {
    /// It runs and is paid.
    Active,
    /// It has ended because its escrow account ran dry.
    InsufficientFunds,
    /// It has ended.
    Closed,
    /// A word from a newer version.
    #[default]
    #[serde(other)]
    Unknown,
}
