//! Escrow accounts and payments, as the chain holds them.
//!
//! The chain settles an account only when a transaction touches it, so every amount here is as of
//! `settled_at`, not of now.

use crate::{
    Address, Coin, Dec, DecCoin, Denom, DepositSource, EscrowAccountId, EscrowPaymentId,
    EscrowState,
};

/// An escrow account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EscrowAccount {
    /// Which one.
    pub id: EscrowAccountId,
    /// Who gets back what is left.
    pub owner: Address,
    /// Its state.
    pub state: EscrowState,
    /// What was paid out so far.
    pub transferred: Vec<DecCoin>,
    /// Height up to which it is settled.
    pub settled_at: u64,
    /// What it holds.
    pub funds: Vec<Balance>,
    /// Where that came from, in the order in which it is spent.
    pub deposits: Vec<Depositor>,
}

/// An amount in an account; unlike a coin it may be negative, when the account owes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Balance {
    /// What it is.
    pub denom: Denom,
    /// How much of it.
    pub amount: Dec,
}

/// One deposit into an account, and what is left of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depositor {
    /// Who gets back what is left.
    pub owner: Address,
    /// Height of the deposit.
    pub height: u64,
    /// Where the money came from.
    pub source: DepositSource,
    /// What is left of it.
    pub balance: DecCoin,
}

/// The payment of a lease from the account of its deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EscrowPayment {
    /// Which one.
    pub id: EscrowPaymentId,
    /// Who is paid.
    pub owner: Address,
    /// Its state.
    pub state: EscrowState,
    /// What is paid per block.
    pub rate: DecCoin,
    /// What is earned and not yet withdrawn, as of the account's `settled_at`.
    pub balance: DecCoin,
    /// What is earned and was not covered.
    pub unsettled: DecCoin,
    /// What was withdrawn so far.
    pub withdrawn: Coin,
}
