//! What the balance checker is told.

use akash_types::{Coin, DecCoin, DeploymentId, EscrowAccount, EscrowPayment, LeaseId};

use super::wallet::Funds;
use crate::time::BlockTime;

/// The newest block the follower has delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Its height.
    pub height: u64,
    /// Its time.
    pub time: BlockTime,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EscrowInput {
    /// The head moved, or time passed: nothing else.
    Tick,
    /// A lease of ours exists and is paid. May be said again.
    LeaseStarted {
        /// Which one.
        lease: LeaseId,
        /// Height at which it was created.
        created_at: u64,
    },
    /// A lease of ours is over.
    LeaseEnded {
        /// Which one.
        lease: LeaseId,
        /// Height at which it is known to be over.
        height: u64,
    },
    /// Answer to [`ReadAccount`](super::EscrowEffect::ReadAccount).
    AccountRead {
        /// Whose account.
        deployment: DeploymentId,
        /// Height of which the answer is, all of it.
        height: u64,
        /// What the chain said.
        result: Result<AccountFacts, Unavailable>,
    },
    /// Answer to [`ReadWallet`](super::EscrowEffect::ReadWallet).
    WalletRead {
        /// Height of which the answer is.
        height: u64,
        /// What can be spent.
        result: Result<Funds, Unavailable>,
    },
    /// What became of [`Withdraw`](super::EscrowEffect::Withdraw).
    WithdrawEnded {
        /// From which lease.
        lease: LeaseId,
        /// How it ended.
        outcome: WithdrawOutcome,
    },
    /// The operator wants the money now.
    WithdrawNow(WithdrawScope),
}

/// Which leases the operator means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithdrawScope {
    /// Every lease.
    All,
    /// This one.
    Lease(LeaseId),
}

/// What a synced node says about the account of a deployment, all at one height.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountFacts {
    /// The account; that there is none is an answer too.
    pub account: Option<EscrowAccount>,
    /// Every lease of the deployment that is active or reclaiming, of all providers: each is paid
    /// from the account. A query for active ones alone leaves out the reclaiming ones.
    pub leases: Vec<PaidLease>,
    /// Our own payments from the account, in whatever state.
    pub payments: Vec<EscrowPayment>,
}

/// A lease and what it is paid per block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaidLease {
    /// Which one.
    pub lease: LeaseId,
    /// Its price.
    pub rate: DecCoin,
}

/// The chain gave no answer. It proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the chain did not answer: {reason}")]
pub struct Unavailable {
    /// What went wrong.
    pub reason: String,
}

/// How a withdrawal ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WithdrawOutcome {
    /// It is in a block.
    Landed {
        /// Height of the block.
        height: u64,
        /// Its share of the transaction's fee.
        fee: Option<Coin>,
    },
    /// Nothing was sent, because there was nothing to do any more.
    NothingToDo,
    /// It was refused.
    Failed {
        /// What the chain or the lane said.
        reason: String,
        /// Whether the same message can never succeed.
        permanent: bool,
        /// What the attempt cost.
        fee: Option<Coin>,
    },
}
