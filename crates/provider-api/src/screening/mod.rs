//! Whether a provider would bid on a group, and at what price: `GET /validate`.
//!
//! The question is a group as the Go structs print it, by itself or in a request beside hostnames;
//! the answer is that of the gRPC method `BidScreening`.

mod group;
mod offer;

use akash_types::{DecCoin, GroupSpec};
use serde::{Deserialize, Serialize};

pub use group::{GroupError, parse_group};
pub use offer::{Offer, Price};

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreeningRequest {
    /// What somebody would like to run.
    pub group: GroupSpec,
    /// The hostnames it would have.
    pub hostnames: Vec<String>,
}

/// An answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreeningResponse {
    /// Whether there would be a bid.
    pub passed: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What would be offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resource_offers: Vec<Offer>,
    /// What would be asked for per block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

impl From<&DecCoin> for Price {
    fn from(coin: &DecCoin) -> Self {
        Self { denom: coin.denom().to_string(), amount: coin.amount().to_string() }
    }
}
