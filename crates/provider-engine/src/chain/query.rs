//! Questions to the chain, and answers.
//!
//! An answer says at which height it holds. That a thing does not exist is an answer; that nobody
//! answered is [`Unavailable`], from which nothing follows.

use akash_types::{
    AuditedAttributes, Bid, Deployment, DeploymentId, EscrowAccount, EscrowPayment, Group, Lease,
    MarketParams, Order, OrderId, Provider,
};

use crate::escrow::Funds;
use crate::time::BlockTime;

/// Names one question, so that an answer that comes late is known as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryId(pub u64);

/// What is asked. "Own" is the provider's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChainQuery {
    /// Every open order.
    OpenOrders,
    /// Every own bid that is open or active.
    OwnBids,
    /// Every own lease that is active or reclaiming.
    OwnLeases,
    /// An order that was just created: nobody can have bid on it before.
    Order(OrderId),
    /// An order, the own bid on it and the own lease from it.
    Standing(OrderId),
    /// A deployment with its groups and own leases, to judge a manifest.
    Deployment(DeploymentId),
    /// A deployment's escrow account, all leases that draw on it, and own payments from it.
    Account(DeploymentId),
    /// The own provider record, and what auditors say of it.
    Provider,
    /// What governance set for the market.
    Params,
    /// The own balances.
    Wallet,
    /// When a block was made.
    BlockTime(u64),
}

/// An answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainReply {
    /// Which question.
    pub id: QueryId,
    /// What was read, if a synced node answered.
    pub result: Result<Read, Unavailable>,
}

/// What a synced node said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The height at which it holds.
    pub height: u64,
    /// What holds.
    pub answer: ChainAnswer,
}

/// Nobody said anything that could be relied on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the chain does not answer: {0}")]
pub struct Unavailable(pub String);

/// What holds, for each [`ChainQuery`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainAnswer {
    /// Every open order.
    OpenOrders(Vec<Order>),
    /// Every own bid that is open or active.
    OwnBids(Vec<Bid>),
    /// Every own lease that is active or reclaiming.
    OwnLeases(Vec<Lease>),
    /// Of an order, a bid and a lease, what exists.
    Standing(Box<Standing>),
    /// A deployment, if it exists.
    Deployment(Option<Box<DeploymentRead>>),
    /// An account, if it exists.
    Account(Option<Box<AccountRead>>),
    /// The own record, if registered, and who vouches for what.
    Provider(Option<Box<Provider>>, Vec<AuditedAttributes>),
    /// What governance set.
    Params(Box<MarketParams>),
    /// The own balances.
    Wallet(Funds),
    /// When a block was made, if the node still knows.
    BlockTime(Option<BlockTime>),
}

/// How we stand with an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The order, if it exists.
    pub order: Option<Order>,
    /// The own bid on it, in whatever state.
    pub bid: Option<Bid>,
    /// The own lease from it, in whatever state.
    pub lease: Option<Lease>,
}

/// A deployment, to judge a manifest by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentRead {
    /// The deployment.
    pub deployment: Deployment,
    /// Its groups, all of them.
    pub groups: Vec<Group>,
    /// Own leases of it that are active or reclaiming.
    pub leases: Vec<Lease>,
}

/// A deployment's account and who draws on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountRead {
    /// The account.
    pub account: EscrowAccount,
    /// All leases of all providers that are active or reclaiming.
    pub leases: Vec<Lease>,
    /// Own payments from it, open or not.
    pub payments: Vec<EscrowPayment>,
}
