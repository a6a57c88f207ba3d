//! What the balance checker is told.

use akash_types::{Coin, DeploymentId, LeaseId};

use super::wallet::Funds;
use crate::chain::AccountRead;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EscrowInput {
    /// The head moved, or time passed: nothing else.
    Tick,
    /// A lease of ours exists and is paid. May be said again.
    LeaseStarted {
        lease: LeaseId,
        created_at: u64,
    },
    LeaseEnded {
        lease: LeaseId,
        height: u64,
    },
    /// Answer to [`ReadAccount`](super::EscrowEffect::ReadAccount).
    AccountRead {
        deployment: DeploymentId,
        height: u64,
        /// What the chain said.
        read: AccountRead,
    },
    /// Answer to [`ReadWallet`](super::EscrowEffect::ReadWallet).
    WalletRead {
        height: u64,
        funds: Funds,
    },
    /// What became of [`Withdraw`](super::EscrowEffect::Withdraw).
    WithdrawEnded {
        lease: LeaseId,
        outcome: WithdrawOutcome,
    },
    /// The operator wants the money now.
    WithdrawNow(WithdrawScope),
}

/// Which leases the operator means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithdrawScope {
    All,
    Lease(LeaseId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WithdrawOutcome {
    Landed {
        height: u64,
        /// Its share of the transaction's fee.
        fee: Option<Coin>,
    },
    /// Nothing was sent, because there was nothing to do any more.
    NothingToDo,
    Failed {
        /// What the chain or the lane said.
        reason: String,
        /// Whether the same message can never succeed.
        permanent: bool,
        /// What the attempt cost.
        fee: Option<Coin>,
    },
}
