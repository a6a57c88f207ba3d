//! Orders.

use akash_proto::akash::market::v1beta5 as wire;

use super::deployment::{min_window, wire_min_window};
use super::error::{At, ConvertError, defaulted, required};
use super::time::{count, wire_count};
use crate::OrderState;
use crate::order::Order;

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
