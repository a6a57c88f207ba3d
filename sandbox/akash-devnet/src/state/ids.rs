//! Ids of messages, with the chain's words for what is wrong with them.

use akash_proto::akash::deployment::v1 as deployment;
use akash_proto::akash::market::v1 as market;
use akash_types::{Address, BidId, DeploymentId, GroupId, LeaseId, OrderId};

use super::address;
use super::error::{GrpcCode, ModuleError, Outcome, TxError, sdk};

const INVALID_SEQUENCE: ModuleError =
    ModuleError::new("sdk", 3, GrpcCode::Unknown, "invalid sequence");

pub(crate) fn deployment(id: Option<deployment::DeploymentId>) -> Outcome<DeploymentId> {
    let id = id.unwrap_or_default();
    deployment_of(&id.owner, id.dseq)
}

pub(crate) fn group(id: Option<deployment::GroupId>) -> Outcome<GroupId> {
    let id = id.unwrap_or_default();
    group_of(&id.owner, id.dseq, id.gseq)
}

pub(crate) fn bid(id: Option<market::BidId>) -> Outcome<BidId> {
    bid_of("BidID", "self-bid", &id.unwrap_or_default())
}

pub(crate) fn lease(id: Option<market::LeaseId>) -> Outcome<LeaseId> {
    let market::LeaseId { owner, dseq, gseq, oseq, provider, bseq } = id.unwrap_or_default();
    let id = market::BidId { owner, dseq, gseq, oseq, provider, bseq };
    bid_of("LeaseID", "self-lease", &id).map(LeaseId::from)
}

fn bid_of(name: &str, own: &str, id: &market::BidId) -> Outcome<BidId> {
    let order = order_of(&id.owner, id.dseq, id.gseq, id.oseq)
        .map_err(|error| error.within(format_args!("{name}: Invalid OrderID")))?;
    let provider = part(&id.provider, &format!("{name}: Invalid Provider Address"))?;
    if id.owner == id.provider {
        return Err(sdk::CONFLICT.wrap(format_args!("{name}: {own}")));
    }
    if id.bseq != 0 {
        return Err(sdk::CONFLICT.wrap(format_args!("{name}: invalid bseq")));
    }
    Ok(BidId::new(order, provider))
}

fn deployment_of(owner: &str, dseq: u64) -> Outcome<DeploymentId> {
    let owner = part(owner, "DeploymentID: Invalid Owner Address")?;
    DeploymentId::new(owner, dseq)
        .map_err(|_| sequence("DeploymentID: Invalid Deployment Sequence"))
}

fn group_of(owner: &str, dseq: u64, gseq: u32) -> Outcome<GroupId> {
    let deployment = deployment_of(owner, dseq)
        .map_err(|error| error.within("GroupID: Invalid DeploymentID"))?;
    GroupId::new(deployment, gseq).map_err(|_| sequence("GroupID: Invalid Group Sequence"))
}

fn order_of(owner: &str, dseq: u64, gseq: u32, oseq: u32) -> Outcome<OrderId> {
    let group =
        group_of(owner, dseq, gseq).map_err(|error| error.within("OrderID: Invalid GroupID"))?;
    OrderId::new(group, oseq).map_err(|_| sequence("OrderID: Invalid Order Sequence"))
}

fn part(text: &str, what: &str) -> Outcome<Address> {
    address::account(text).map_err(|_| sdk::INVALID_ADDRESS.wrap(what))
}

fn sequence(what: &str) -> TxError {
    INVALID_SEQUENCE.wrap(what)
}
