//! Questions to the chain, and answers.
//!
//! An answer says at which height it holds. That a thing does not exist is an answer; that nobody
//! answered is [`Unavailable`], from which nothing follows.

use akash_types::{
    AuditedAttributes, Bid, DecCoin, Deployment, DeploymentId, EscrowAccount, EscrowPayment, Group,
    Lease, LeaseId, MarketParams, Order, OrderId, Provider,
};

use crate::escrow::Funds;
use crate::time::BlockTime;

/// Names one question, so that an answer that comes late is known as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryId(pub u64);

/// What is asked. "Own" is the provider's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChainQuery {
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
    Wallet,
    BlockTime(u64),
}

/// An answer to one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainReply {
    pub id: QueryId,
    /// What was read, if a synced node answered.
    pub result: Result<Read, Unavailable>,
}

/// What a synced node said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub height: u64,
    pub answer: ChainAnswer,
}

/// Nobody said anything that could be relied on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the chain does not answer: {0}")]
pub struct Unavailable(pub String);

/// What holds, for each [`ChainQuery`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainAnswer {
    OpenOrders(Vec<Order>),
    /// Every own bid that is open or active.
    OwnBids(Vec<Bid>),
    /// Every own lease that is active or reclaiming.
    OwnLeases(Vec<Lease>),
    /// Of an order, a bid and a lease, what exists.
    Standing(Box<Standing>),
    /// A deployment, if it exists.
    Deployment(Option<Box<DeploymentRead>>),
    /// An account, if it exists, and who draws on it.
    Account(Box<AccountRead>),
    /// The own record, if registered, and who vouches for what.
    Provider(Option<Box<Provider>>, Vec<AuditedAttributes>),
    Params {
        market: Box<MarketParams>,
        /// Whether the chain compares bidders with the verification that an order asks for.
        verification_active: bool,
    },
    Wallet(Funds),
    /// When a block was made, if the node still knows.
    BlockTime(Option<BlockTime>),
}

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
    pub deployment: Deployment,
    pub groups: Vec<Group>,
    /// Own leases of it that are active or reclaiming.
    pub leases: Vec<LeaseId>,
}

/// What a synced node says about the account of a deployment, all at one height.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountRead {
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
    pub lease: LeaseId,
    pub rate: DecCoin,
}

impl From<Lease> for PaidLease {
    fn from(lease: Lease) -> Self {
        Self { lease: lease.id, rate: lease.price }
    }
}
