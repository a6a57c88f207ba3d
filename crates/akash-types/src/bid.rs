//! Bids, as the chain holds them.

use std::time::Duration;

use crate::{BidId, BidState, DecCoin, EndpointKind, Resources};

/// A bid: a provider's price for an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bid {
    /// Which one.
    pub id: BidId,
    /// Its state.
    pub state: BidState,
    /// Price per block of the whole group.
    pub price: DecCoin,
    /// Height at which it was created.
    pub created_at: u64,
    /// What is offered, unit by unit; may be empty.
    pub resources_offer: Vec<ResourceOffer>,
    /// How long the provider waits before it takes the lease back; absent if it never does.
    pub reclamation_window: Option<Duration>,
}

/// What a bid offers for one resource unit of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceOffer {
    /// The resources, by the id they have in the order.
    pub resources: Resources,
    /// How many replicas; must be as ordered.
    pub count: u32,
    /// How the price comes about, if the provider says so.
    pub prices: Option<OfferPrices>,
}

/// How the price of an offer comes about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferPrices {
    /// For the CPU.
    pub cpu: Option<DecCoin>,
    /// For the memory.
    pub memory: Option<DecCoin>,
    /// For each volume, by name.
    pub storage: Vec<(String, Option<DecCoin>)>,
    /// For the GPUs.
    pub gpu: Option<DecCoin>,
    /// For each kind of endpoint.
    pub endpoints: Vec<(EndpointKind, Option<DecCoin>)>,
}
