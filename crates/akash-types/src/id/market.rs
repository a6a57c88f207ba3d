//! Ids of orders, bids and leases.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::{DeploymentId, GroupId, IdError, account, number, sequence, split};
use crate::Address;

/// An order: one round of bidding for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{}/{}", self.group, self.oseq)]
pub struct OrderId {
    group: GroupId,
    oseq: u32,
}

impl OrderId {
    const FORM: &'static str = "owner/dseq/gseq/oseq";

    /// Order `oseq` of `group`; orders are numbered from 1.
    pub const fn new(group: GroupId, oseq: u32) -> Result<Self, IdError> {
        match oseq {
            0 => Err(IdError::Zero { part: "oseq" }),
            _ => Ok(Self { group, oseq }),
        }
    }

    /// The group it is for.
    pub const fn group_id(&self) -> GroupId {
        self.group
    }

    /// The deployment of the group.
    pub const fn deployment_id(&self) -> DeploymentId {
        self.group.deployment_id()
    }

    /// The tenant.
    pub const fn owner(&self) -> Address {
        self.group.owner()
    }

    /// Number of the deployment.
    pub const fn dseq(&self) -> u64 {
        self.group.dseq()
    }

    /// Number of the group in the deployment.
    pub const fn gseq(&self) -> u32 {
        self.group.gseq()
    }

    /// Number of the order for the group.
    pub const fn oseq(&self) -> u32 {
        self.oseq
    }

    /// The bid of `provider` on this order.
    pub const fn bid_id(&self, provider: Address) -> BidId {
        BidId::new(*self, provider)
    }
}

impl FromStr for OrderId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        order_from(split("order id", Self::FORM, text)?)
    }
}

fn order_from([owner, dseq, gseq, oseq]: [&str; 4]) -> Result<OrderId, IdError> {
    let owner = account("owner", owner)?;
    let deployment = DeploymentId::new(owner, number("dseq", dseq, u64::MAX)?)?;
    let group = GroupId::new(deployment, sequence("gseq", gseq)?)?;
    OrderId::new(group, sequence("oseq", oseq)?)
}

/// A bid: one provider's offer on an order. There is at most one per provider and order, ever.
///
/// `bseq` is always 0 on chain and is not part of the text form, so it takes no part in
/// comparison either: an id from a text equals the same id from a message.
#[derive(Clone, Copy, Debug, derive_more::Display)]
#[display("{}/{}", self.order, self.provider)]
pub struct BidId {
    order: OrderId,
    provider: Address,
    bseq: u32,
}

impl BidId {
    const FORM: &'static str = "owner/dseq/gseq/oseq/provider";

    /// The bid of `provider` on `order`, with bseq 0.
    pub const fn new(order: OrderId, provider: Address) -> Self {
        Self { order, provider, bseq: 0 }
    }

    /// The same bid with another bseq.
    pub const fn with_bseq(self, bseq: u32) -> Self {
        Self { bseq, ..self }
    }

    /// The order it is on.
    pub const fn order_id(&self) -> OrderId {
        self.order
    }

    /// The group of the order.
    pub const fn group_id(&self) -> GroupId {
        self.order.group
    }

    /// The deployment of the group.
    pub const fn deployment_id(&self) -> DeploymentId {
        self.order.deployment_id()
    }

    /// The lease that this bid becomes if it wins.
    pub const fn lease_id(&self) -> LeaseId {
        LeaseId(*self)
    }

    /// The tenant.
    pub const fn owner(&self) -> Address {
        self.order.owner()
    }

    /// Number of the deployment.
    pub const fn dseq(&self) -> u64 {
        self.order.dseq()
    }

    /// Number of the group in the deployment.
    pub const fn gseq(&self) -> u32 {
        self.order.gseq()
    }

    /// Number of the order for the group.
    pub const fn oseq(&self) -> u32 {
        self.order.oseq
    }

    /// Who bids.
    pub const fn provider(&self) -> Address {
        self.provider
    }

    /// Always 0 on chain.
    pub const fn bseq(&self) -> u32 {
        self.bseq
    }

    const fn key(&self) -> (OrderId, Address) {
        (self.order, self.provider)
    }
}

impl PartialEq for BidId {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for BidId {}

impl Hash for BidId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for BidId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for BidId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl FromStr for BidId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        bid_from(split("bid id", Self::FORM, text)?)
    }
}

fn bid_from([owner, dseq, gseq, oseq, provider]: [&str; 5]) -> Result<BidId, IdError> {
    let order = order_from([owner, dseq, gseq, oseq])?;
    Ok(BidId::new(order, account("provider", provider)?))
}

/// A lease: a bid that won. Compares like its bid, without bseq.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{_0}")]
pub struct LeaseId(BidId);

impl LeaseId {
    /// The lease of `provider` from `order`, with bseq 0.
    pub const fn new(order: OrderId, provider: Address) -> Self {
        Self(BidId::new(order, provider))
    }

    /// The bid that won.
    pub const fn bid_id(&self) -> BidId {
        self.0
    }

    /// The order it came from.
    pub const fn order_id(&self) -> OrderId {
        self.0.order
    }

    /// The group that runs under it.
    pub const fn group_id(&self) -> GroupId {
        self.0.group_id()
    }

    /// The deployment of the group.
    pub const fn deployment_id(&self) -> DeploymentId {
        self.0.deployment_id()
    }

    /// The tenant.
    pub const fn owner(&self) -> Address {
        self.0.owner()
    }

    /// Number of the deployment.
    pub const fn dseq(&self) -> u64 {
        self.0.dseq()
    }

    /// Number of the group in the deployment.
    pub const fn gseq(&self) -> u32 {
        self.0.gseq()
    }

    /// Number of the order for the group.
    pub const fn oseq(&self) -> u32 {
        self.0.oseq()
    }

    /// Who provides.
    pub const fn provider(&self) -> Address {
        self.0.provider
    }

    /// Always 0 on chain.
    pub const fn bseq(&self) -> u32 {
        self.0.bseq
    }
}

impl From<BidId> for LeaseId {
    fn from(bid: BidId) -> Self {
        Self(bid)
    }
}

impl From<LeaseId> for BidId {
    fn from(lease: LeaseId) -> Self {
        lease.0
    }
}

impl FromStr for LeaseId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        split("lease id", BidId::FORM, text).and_then(bid_from).map(Self)
    }
}
