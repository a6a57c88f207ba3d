//! Messages of the market: bids and leases.

use std::time::Duration;

use akash_proto::akash::market::v1beta5 as wire;
use akash_types::{BidId, DecCoin, Deposit, LeaseClosedReason, LeaseId, ReasonKind, ResourceOffer};

use super::{Message, MessageError};

/// What a provider offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateBid {
    /// Which bid.
    pub id: BidId,
    /// Price per block of the whole group.
    pub price: DecCoin,
    /// What the provider deposits until it is over.
    pub deposit: Deposit,
    /// What is offered, unit by unit; may be empty.
    pub resources_offer: Vec<ResourceOffer>,
    /// How long the provider will wait before it takes the lease back; absent if it will not.
    pub reclamation_window: Option<Duration>,
}

/// Offers to run an order. Sent by the provider.
pub fn create_bid(bid: CreateBid) -> Result<Message, MessageError> {
    check(bid.id)?;
    if bid.price.is_zero() {
        return Err(MessageError::ZeroPrice);
    }
    let window = bid.reclamation_window.map(span).transpose()?;
    let message = wire::MsgCreateBid {
        id: Some(bid.id.into()),
        price: Some(bid.price.into()),
        deposit: Some(bid.deposit.into()),
        resources_offer: bid.resources_offer.into_iter().map(Into::into).collect(),
        reclamation_window: window,
    };
    Ok(Message::new(bid.id.provider(), &message))
}

/// Takes a bid back, or ends its lease. Sent by the provider.
pub fn close_bid(id: BidId, reason: LeaseClosedReason) -> Result<Message, MessageError> {
    check(id)?;
    let reason = provider_reason(reason)?;
    Ok(Message::new(id.provider(), &wire::MsgCloseBid { id: Some(id.into()), reason }))
}

/// Collects what a lease has earned. Sent by the provider.
pub fn withdraw_lease(id: LeaseId) -> Result<Message, MessageError> {
    check(id.bid_id())?;
    Ok(Message::new(id.provider(), &wire::MsgWithdrawLease { id: Some(id.into()) }))
}

/// Announces that a lease will be taken back. Sent by the provider.
pub fn start_reclaim(id: LeaseId, reason: LeaseClosedReason) -> Result<Message, MessageError> {
    check(id.bid_id())?;
    let reason = provider_reason(reason)?;
    let message = wire::MsgLeaseStartReclaim { id: Some(id.into()), reason };
    Ok(Message::new(id.provider(), &message))
}

/// Accepts a bid. Sent by the tenant.
pub fn create_lease(bid: BidId) -> Result<Message, MessageError> {
    check(bid)?;
    Ok(Message::new(bid.owner(), &wire::MsgCreateLease { bid_id: Some(bid.into()) }))
}

/// Ends a lease. Sent by the tenant, which is the reason too: the chain notes no other.
pub fn close_lease(id: LeaseId) -> Result<Message, MessageError> {
    check(id.bid_id())?;
    let reason = LeaseClosedReason::OWNER.code();
    let message = wire::MsgCloseLease { id: Some(id.into()), reason };
    Ok(Message::new(id.owner(), &message))
}

fn check(id: BidId) -> Result<(), MessageError> {
    if id.owner() == id.provider() {
        return Err(MessageError::SelfBid { account: id.owner() });
    }
    match id.bseq() {
        0 => Ok(()),
        bseq => Err(MessageError::Bseq { bseq }),
    }
}

fn provider_reason(reason: LeaseClosedReason) -> Result<i32, MessageError> {
    match reason.kind() {
        ReasonKind::Provider => Ok(reason.code()),
        ReasonKind::Owner | ReasonKind::Network => Err(MessageError::Reason { reason }),
    }
}

/// A span of time on the wire.
pub(super) fn span(span: Duration) -> Result<prost_types::Duration, MessageError> {
    span.try_into().map_err(|_| MessageError::Span)
}
