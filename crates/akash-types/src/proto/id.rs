//! Ids.

use akash_proto::akash::deployment::v1 as deployment;
use akash_proto::akash::escrow::id::v1 as escrow;
use akash_proto::akash::market::v1 as market;

use super::error::{At, ConvertError, ConvertProblem};
use crate::{
    Address, BidId, DeploymentId, EscrowAccountId, EscrowPaymentId, EscrowScope, GroupId, LeaseId,
    OrderId,
};

pub(super) fn address(field: &str, text: &str) -> Result<Address, ConvertError> {
    text.parse::<Address>().at(field)
}

// The errors of the constructors name the part, so no path is added to them.

fn deployment_id(owner: &str, dseq: u64) -> Result<DeploymentId, ConvertError> {
    Ok(DeploymentId::new(address("owner", owner)?, dseq)?)
}

fn group_id(owner: &str, dseq: u64, gseq: u32) -> Result<GroupId, ConvertError> {
    Ok(GroupId::new(deployment_id(owner, dseq)?, gseq)?)
}

fn order_id(owner: &str, dseq: u64, gseq: u32, oseq: u32) -> Result<OrderId, ConvertError> {
    Ok(OrderId::new(group_id(owner, dseq, gseq)?, oseq)?)
}

impl TryFrom<deployment::DeploymentId> for DeploymentId {
    type Error = ConvertError;

    fn try_from(id: deployment::DeploymentId) -> Result<Self, Self::Error> {
        deployment_id(&id.owner, id.dseq)
    }
}

impl From<DeploymentId> for deployment::DeploymentId {
    fn from(id: DeploymentId) -> Self {
        Self { owner: id.owner().to_string(), dseq: id.dseq() }
    }
}

impl TryFrom<deployment::GroupId> for GroupId {
    type Error = ConvertError;

    fn try_from(id: deployment::GroupId) -> Result<Self, Self::Error> {
        group_id(&id.owner, id.dseq, id.gseq)
    }
}

impl From<GroupId> for deployment::GroupId {
    fn from(id: GroupId) -> Self {
        Self { owner: id.owner().to_string(), dseq: id.dseq(), gseq: id.gseq() }
    }
}

impl TryFrom<market::OrderId> for OrderId {
    type Error = ConvertError;

    fn try_from(id: market::OrderId) -> Result<Self, Self::Error> {
        order_id(&id.owner, id.dseq, id.gseq, id.oseq)
    }
}

impl From<OrderId> for market::OrderId {
    fn from(id: OrderId) -> Self {
        Self { owner: id.owner().to_string(), dseq: id.dseq(), gseq: id.gseq(), oseq: id.oseq() }
    }
}

impl TryFrom<market::BidId> for BidId {
    type Error = ConvertError;

    fn try_from(id: market::BidId) -> Result<Self, Self::Error> {
        let order = order_id(&id.owner, id.dseq, id.gseq, id.oseq)?;
        Ok(Self::new(order, address("provider", &id.provider)?).with_bseq(id.bseq))
    }
}

impl From<BidId> for market::BidId {
    fn from(id: BidId) -> Self {
        Self {
            owner: id.owner().to_string(),
            dseq: id.dseq(),
            gseq: id.gseq(),
            oseq: id.oseq(),
            provider: id.provider().to_string(),
            bseq: id.bseq(),
        }
    }
}

impl TryFrom<market::LeaseId> for LeaseId {
    type Error = ConvertError;

    fn try_from(id: market::LeaseId) -> Result<Self, Self::Error> {
        let market::LeaseId { owner, dseq, gseq, oseq, provider, bseq } = id;
        let bid = market::BidId { owner, dseq, gseq, oseq, provider, bseq };
        Ok(BidId::try_from(bid)?.lease_id())
    }
}

impl From<LeaseId> for market::LeaseId {
    fn from(id: LeaseId) -> Self {
        let market::BidId { owner, dseq, gseq, oseq, provider, bseq } = id.bid_id().into();
        Self { owner, dseq, gseq, oseq, provider, bseq }
    }
}

impl TryFrom<escrow::Account> for EscrowAccountId {
    type Error = ConvertError;

    fn try_from(id: escrow::Account) -> Result<Self, Self::Error> {
        let scope = EscrowScope::from_code(id.scope).at("scope")?;
        Self::from_xid(scope, &id.xid).at("xid")
    }
}

impl From<EscrowAccountId> for escrow::Account {
    fn from(id: EscrowAccountId) -> Self {
        Self { scope: id.scope().code(), xid: id.xid() }
    }
}

impl TryFrom<escrow::Payment> for EscrowPaymentId {
    type Error = ConvertError;

    fn try_from(id: escrow::Payment) -> Result<Self, Self::Error> {
        let account = id.aid.ok_or(ConvertProblem::Missing).at("aid")?;
        Self::from_xid(account.try_into().at("aid")?, &id.xid).at("xid")
    }
}

impl From<EscrowPaymentId> for escrow::Payment {
    fn from(id: EscrowPaymentId) -> Self {
        Self { aid: Some(id.account_id().into()), xid: id.xid() }
    }
}
