//! What the balance checker wants done or known.

use std::time::Duration;

use akash_types::{Coin, DecCoin, DeploymentId, LeaseId};

use super::wallet::{Funds, WalletState};
use crate::chain::AccountRead;
use crate::time::Now;

/// Something to do or to remember.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EscrowEffect {
    /// Read the account of a deployment with its leases and our payments, all at one height.
    ReadAccount(DeploymentId),
    /// Read what the provider's own address holds.
    ReadWallet,
    /// Withdraw what a lease has earned. Those wanted in one block belong into one transaction.
    Withdraw {
        lease: LeaseId,
        why: WithdrawReason,
    },
    /// The lease is over: a withdrawal that is not sent yet shall not be.
    ForgetWithdraw {
        lease: LeaseId,
    },
    /// The account says that this lease is over. A hint: the lease is to be read.
    LooksOver {
        lease: LeaseId,
        /// Height at which the account said so.
        height: u64,
    },
    /// The chain has paid for a lease.
    Earned(Earning),
    /// A lease is over and paid: its sums.
    Settled(Total),
    /// Whether the provider can pay has changed.
    Wallet(WalletState),
    Note(EscrowNote),
    /// Come back with a [`Tick`](super::EscrowInput::Tick) at this moment, if nothing else happens
    /// before.
    WakeAt(Now),
}

/// Why money is withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
pub enum WithdrawReason {
    /// It is many times the fee.
    #[display("{accrued} is worth the fee")]
    Worth { accrued: DecCoin },
    /// It has waited for the longest time allowed.
    #[display("{accrued} was not paid out since height {since}")]
    Age {
        accrued: DecCoin,
        /// Height since which nothing was paid out.
        since: u64,
    },
    /// The account will soon be dry, and whoever is paid before us would take our part.
    #[display("{accrued} is there and the account runs dry at height {dry_at}")]
    NearlyDry {
        accrued: DecCoin,
        /// First height that is not covered.
        dry_at: u64,
    },
    /// The account is dry: settling it makes the chain close the lease.
    #[display("the account is dry since height {since}")]
    Dry {
        /// First height that is not covered.
        since: u64,
    },
    /// The lease is over and the chain left its payment open: nothing else pays it out.
    #[display("the lease is over and its payment was left open with {left}")]
    LeftOpen {
        /// What the payment holds.
        left: DecCoin,
    },
    #[display("the operator asked for it")]
    Operator,
}

/// What a lease was paid between two readings of its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earning {
    pub lease: LeaseId,
    /// What the chain paid out.
    pub received: Coin,
    /// What the forecast said it would.
    pub expected: DecCoin,
    /// What was paid in fees for it, as far as told.
    pub fees: Vec<Coin>,
    pub height: u64,
}

/// The sums of a lease that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    pub lease: LeaseId,
    /// All that the chain ever paid out for it.
    pub received: Coin,
    /// What was earned and not covered.
    pub unsettled: DecCoin,
    pub height: u64,
}

/// A decision or a failure worth remembering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EscrowNote {
    /// An account could not be read. It is read again; nothing is concluded.
    CheckFailed {
        deployment: DeploymentId,
        /// How many times in a row.
        failures: u32,
        why: CheckFailure,
        retry_in: Duration,
    },
    /// A withdrawal did not succeed. It is decided anew after a pause.
    WithdrawFailed {
        lease: LeaseId,
        reason: String,
        /// Whether the same message can never succeed.
        permanent: bool,
        /// When it is decided anew.
        retry_in: Duration,
    },
    /// Nobody said what became of a withdrawal. The account is read to find out.
    WithdrawUnanswered { lease: LeaseId },
    /// An account cannot pay any more.
    RanDry {
        deployment: DeploymentId,
        /// First height that is not covered.
        since: u64,
    },
    /// An account that was dry can pay again.
    FundedAgain {
        deployment: DeploymentId,
        /// First height that is not covered now.
        dry_at: Option<u64>,
    },
    /// What the operator or the engine asked for is not done.
    Refused { lease: LeaseId, why: Refusal },
    /// The last payment of a lease was not found; its earnings stay without their end.
    TotalUnread { lease: LeaseId },
}

/// Why a reading of an account was of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckFailure {
    #[error("no answer came within {0:?}")]
    Unanswered(Duration),
    #[error("the answer is of height {got}, at least {wanted} is needed")]
    TooOld {
        /// Height of the answer.
        got: u64,
        /// Height that is needed.
        wanted: u64,
    },
    #[error("the chain knows no escrow account of the deployment")]
    NoAccount,
    #[error("the answer holds no payment of lease {0}")]
    NoPayment(LeaseId),
}

/// Why something is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("no such lease is running here")]
    Unknown,
    #[error("the lease is another provider's")]
    NotOurs,
    #[error("the chain has closed the payment: it was paid out then")]
    PaymentClosed,
    #[error("less than one unit has been earned since the last withdrawal")]
    NothingEarned,
}

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
