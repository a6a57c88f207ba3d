//! Bids.

use akash_proto::akash::market::v1beta5 as wire;

use super::deployment::{min_window, wire_min_window};
use super::error::{At, ConvertError, defaulted, list, messages, optional, required};
use super::params::{count, span, wire_count, wire_span};
use super::resources::endpoint_kind;
use crate::bid::{Bid, OfferPrices, ResourceOffer};
use crate::order::Order;
use crate::{BidState, DecCoin, EndpointKind, OrderState};

impl TryFrom<wire::Bid> for Bid {
    type Error = ConvertError;

    fn try_from(bid: wire::Bid) -> Result<Self, Self::Error> {
        Ok(Self {
            id: required("id", bid.id)?,
            state: BidState::from_code(bid.state).at("state")?,
            price: defaulted("price", bid.price)?,
            created_at: count("created_at", bid.created_at)?,
            resources_offer: list("resources_offer", bid.resources_offer)?,
            reclamation_window: span("reclamation_window", bid.reclamation_window)?,
        })
    }
}

impl From<Bid> for wire::Bid {
    fn from(bid: Bid) -> Self {
        Self {
            id: Some(bid.id.into()),
            state: bid.state.code(),
            price: Some(bid.price.into()),
            created_at: wire_count(bid.created_at),
            resources_offer: messages(bid.resources_offer),
            reclamation_window: bid.reclamation_window.map(wire_span),
        }
    }
}

impl TryFrom<wire::ResourceOffer> for ResourceOffer {
    type Error = ConvertError;

    fn try_from(offer: wire::ResourceOffer) -> Result<Self, Self::Error> {
        Ok(Self {
            resources: defaulted("resources", offer.resources)?,
            count: offer.count,
            prices: optional("prices", offer.prices)?,
        })
    }
}

impl From<ResourceOffer> for wire::ResourceOffer {
    fn from(offer: ResourceOffer) -> Self {
        Self {
            resources: Some(offer.resources.into()),
            count: offer.count,
            prices: offer.prices.map(Into::into),
        }
    }
}

/// Price of a volume, by name.
struct VolumePrice(String, Option<DecCoin>);

impl TryFrom<wire::StorageOfferPrice> for VolumePrice {
    type Error = ConvertError;

    fn try_from(price: wire::StorageOfferPrice) -> Result<Self, Self::Error> {
        Ok(Self(price.name, optional("price", price.price)?))
    }
}

/// Price of a kind of endpoint.
struct EndpointPrice(EndpointKind, Option<DecCoin>);

impl TryFrom<wire::EndpointOfferPrice> for EndpointPrice {
    type Error = ConvertError;

    fn try_from(price: wire::EndpointOfferPrice) -> Result<Self, Self::Error> {
        Ok(Self(endpoint_kind(price.kind)?, optional("price", price.price)?))
    }
}

impl TryFrom<wire::OfferPrices> for OfferPrices {
    type Error = ConvertError;

    fn try_from(prices: wire::OfferPrices) -> Result<Self, Self::Error> {
        let storage: Vec<VolumePrice> = list("storage", prices.storage)?;
        let endpoints: Vec<EndpointPrice> = list("endpoints", prices.endpoints)?;
        Ok(Self {
            cpu: optional("cpu", prices.cpu)?,
            memory: optional("memory", prices.memory)?,
            storage: storage.into_iter().map(|VolumePrice(name, price)| (name, price)).collect(),
            gpu: optional("gpu", prices.gpu)?,
            endpoints: endpoints
                .into_iter()
                .map(|EndpointPrice(kind, price)| (kind, price))
                .collect(),
        })
    }
}

impl From<OfferPrices> for wire::OfferPrices {
    fn from(prices: OfferPrices) -> Self {
        let storage = |(name, price): (String, Option<DecCoin>)| wire::StorageOfferPrice {
            name,
            price: price.map(Into::into),
        };
        let endpoint = |(kind, price): (EndpointKind, Option<DecCoin>)| wire::EndpointOfferPrice {
            kind: kind.code(),
            price: price.map(Into::into),
        };
        Self {
            cpu: prices.cpu.map(Into::into),
            memory: prices.memory.map(Into::into),
            storage: prices.storage.into_iter().map(storage).collect(),
            gpu: prices.gpu.map(Into::into),
            endpoints: prices.endpoints.into_iter().map(endpoint).collect(),
        }
    }
}

impl TryFrom<wire::Order> for Order {
    type Error = ConvertError;

    fn try_from(order: wire::Order) -> Result<Self, Self::Error> {
        Ok(Self {
            id: required("id", order.id)?,
            state: OrderState::from_code(order.state).at("state")?,
            spec: defaulted("spec", order.spec)?,
            created_at: count("created_at", order.created_at)?,
            reclamation_min_window: min_window(order.reclamation)?,
        })
    }
}

impl From<Order> for wire::Order {
    fn from(order: Order) -> Self {
        Self {
            id: Some(order.id.into()),
            state: order.state.code(),
            spec: Some(order.spec.into()),
            created_at: wire_count(order.created_at),
            reclamation: wire_min_window(order.reclamation_min_window),
        }
    }
}
