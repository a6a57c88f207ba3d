//! One aggregate per order id: the order, our bid, what is kept for it, and the lease.

use akash_types::OrderId;

use crate::bidding::order;
use crate::inventory::Booking;
use crate::lease::LeaseLife;

/// Everything about an order id.
#[derive(Clone, Debug)]
pub struct Life {
    pub id: OrderId,
    pub stage: Stage,
    /// What is kept for it. It has an end because the life has one.
    pub booking: Option<Booking>,
    /// Bids of other providers that were seen since it was noticed; the chain counts closed ones too.
    pub foreign_bids: u32,
}

/// Where a life is: first an order, then perhaps a lease.
#[derive(Clone, Debug)]
pub enum Stage {
    Order(order::Stage),
    Lease(Box<LeaseLife>),
}

impl Life {
    pub const fn noticed(id: OrderId) -> Self {
        Self { id, stage: Stage::Order(order::Stage::Seen), booking: None, foreign_bids: 0 }
    }

    pub const fn lease(&self) -> Option<&LeaseLife> {
        match &self.stage {
            Stage::Lease(lease) => Some(lease),
            Stage::Order(_) => None,
        }
    }

    /// The order's stage, if it is not a lease.
    pub const fn order(&self) -> Option<&order::Stage> {
        match &self.stage {
            Stage::Order(stage) => Some(stage),
            Stage::Lease(_) => None,
        }
    }

    pub const fn stage_name(&self) -> &'static str {
        match &self.stage {
            Stage::Order(stage) => stage.name(),
            Stage::Lease(lease) => lease.stage_name(),
        }
    }

    /// Whether a bid of ours is open, or may become so.
    pub const fn has_bid(&self) -> bool {
        match &self.stage {
            Stage::Order(stage) => stage.has_bid(),
            Stage::Lease(_) => false,
        }
    }
}
