//! The market: orders of tenants, bids of providers, leases between them.
//!
//! ```text
//! order   open ──lease──▶ active ──▶ closed          (or open ──▶ closed)
//! bid     open ──lease──▶ active ──▶ closed          (or open ──▶ lost | closed)
//! lease   active ──▶ reclaiming ──▶ closed           (either ──▶ insufficient_funds)
//! ```

mod close;
mod create_bid;
mod lease;
mod order;

pub(crate) use close::{CloseBid, CloseLease};
pub(crate) use create_bid::CreateBid;
pub(crate) use lease::{CreateLease, StartReclaim, WithdrawLease};

use std::sync::Arc;
use std::time::Duration;

use akash_proto::akash::market::v1beta5 as wire;
pub(crate) use akash_types::Lease;
use akash_types::{BidId, BidState, DecCoin, OrderId, OrderState};

use super::deployment::{Spec, wire_duration, wire_height, wire_reclamation};
use super::error::{GrpcCode, ModuleError};

const SPACE: &str = "market";

const fn invalid(code: u32, text: &'static str) -> ModuleError {
    ModuleError::new(SPACE, code, GrpcCode::InvalidArgument, text)
}

const fn missing(code: u32, text: &'static str) -> ModuleError {
    ModuleError::new(SPACE, code, GrpcCode::NotFound, text)
}

const fn state_error(code: u32, text: &'static str) -> ModuleError {
    ModuleError::new(SPACE, code, GrpcCode::FailedPrecondition, text)
}

const fn exists(code: u32, text: &'static str) -> ModuleError {
    ModuleError::new(SPACE, code, GrpcCode::AlreadyExists, text)
}

const ATTRIBUTE_MISMATCH: ModuleError = invalid(5, "attribute mismatch");
const UNKNOWN_BID: ModuleError = missing(6, "unknown bid");
const UNKNOWN_LEASE: ModuleError = missing(7, "unknown lease");
const UNKNOWN_LEASE_FOR_BID: ModuleError = missing(8, "unknown lease for bid");
const UNKNOWN_ORDER_FOR_BID: ModuleError = missing(9, "unknown order for bid");
const LEASE_NOT_ACTIVE: ModuleError = state_error(10, "lease not active");
const BID_NOT_ACTIVE: ModuleError = state_error(11, "bid not active");
const BID_NOT_OPEN: ModuleError = state_error(12, "bid not open");
const ORDER_NOT_OPEN: ModuleError = state_error(13, "bid: order not open");
pub(crate) const ORDER_NOT_FOUND: ModuleError = missing(15, "invalid order: order not found");
const GROUP_NOT_FOUND: ModuleError = missing(16, "group not found");
const GROUP_NOT_OPEN: ModuleError = state_error(17, "group not open");
pub(crate) const BID_NOT_FOUND: ModuleError = missing(18, "invalid bid: bid not found");
const BID_ZERO_PRICE: ModuleError = invalid(19, "invalid bid: zero price");
pub(crate) const LEASE_NOT_FOUND: ModuleError = missing(20, "invalid lease: lease not found");
const BID_EXISTS: ModuleError = exists(21, "invalid bid: bid exists from provider");
const BID_INVALID_PRICE: ModuleError = invalid(22, "bid price is invalid");
const ORDER_ACTIVE: ModuleError = state_error(23, "order active");
const ORDER_CLOSED: ModuleError = state_error(24, "order closed");
const ORDER_EXISTS: ModuleError = exists(25, "order already exists in store");
pub(crate) const INVALID_DEPOSIT: ModuleError = invalid(28, "deposit invalid");
const UNKNOWN_PROVIDER: ModuleError = missing(30, "unknown provider");
const INVALID_BID: ModuleError = invalid(31, "invalid bid");
const CAPABILITIES_MISMATCH: ModuleError = invalid(32, "capabilities mismatch");
const INVALID_REASON: ModuleError = invalid(33, "invalid lease closed reason");
const NOT_RECLAIMABLE: ModuleError = state_error(35, "lease does not have reclamation configured");
const ALREADY_RECLAIMING: ModuleError = state_error(36, "reclamation already in progress");
const RECLAMATION_NOT_STARTED: ModuleError =
    state_error(37, "reclamation not started; call MsgLeaseStartReclaim first");
const WINDOW_NOT_ELAPSED: ModuleError = state_error(38, "reclamation window has not elapsed");
const WINDOW_INVALID: ModuleError = invalid(39, "reclamation window outside governance bounds");
const RECLAMATION_REQUIRED: ModuleError =
    invalid(40, "order requires reclamation but bid does not offer it");
const WINDOW_TOO_SHORT: ModuleError = invalid(41, "reclamation window shorter than order minimum");

/// An order as the chain keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) id: OrderId,
    pub(crate) state: OrderState,
    pub(crate) spec: Spec,
    pub(crate) created_at: u64,
    pub(crate) reclamation: Option<Duration>,
}

/// A bid as the chain keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Bid {
    pub(crate) id: BidId,
    pub(crate) state: BidState,
    pub(crate) price: DecCoin,
    pub(crate) created_at: u64,
    pub(crate) offer: Arc<[wire::ResourceOffer]>,
    pub(crate) window: Option<Duration>,
}

impl Order {
    pub(crate) fn to_wire(&self) -> wire::Order {
        wire::Order {
            id: Some(self.id.into()),
            state: self.state.code(),
            spec: Some(self.spec.to_wire()),
            created_at: wire_height(self.created_at),
            reclamation: wire_reclamation(self.reclamation),
        }
    }
}

impl Bid {
    pub(crate) fn to_wire(&self) -> wire::Bid {
        wire::Bid {
            id: Some(self.id.into()),
            state: self.state.code(),
            price: Some(self.price.clone().into()),
            created_at: wire_height(self.created_at),
            resources_offer: self.offer.to_vec(),
            reclamation_window: self.window.map(wire_duration),
        }
    }
}
