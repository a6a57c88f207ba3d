//! Parameters.

use akash_proto::akash::deployment::v1beta4 as deployment;
use akash_proto::akash::market::v1beta5 as market;

use super::error::{ConvertError, list, messages, optional};
use super::time::{span, wire_span};
use crate::params::{DeploymentParams, MarketParams};

impl TryFrom<market::Params> for MarketParams {
    type Error = ConvertError;

    fn try_from(params: market::Params) -> Result<Self, Self::Error> {
        // Go writes an unset coin as an empty message.
        let bid_min_deposit = params.bid_min_deposit.filter(|coin| !coin.denom.is_empty());
        let window =
            |field, window| Ok::<_, ConvertError>(span(field, window)?.unwrap_or_default());
        Ok(Self {
            bid_min_deposit: optional("bid_min_deposit", bid_min_deposit)?,
            order_max_bids: params.order_max_bids,
            bid_min_deposits: list("bid_min_deposits", params.bid_min_deposits)?,
            min_reclamation_window: window(
                "min_reclamation_window",
                params.min_reclamation_window,
            )?,
            max_reclamation_window: window(
                "max_reclamation_window",
                params.max_reclamation_window,
            )?,
        })
    }
}

impl From<MarketParams> for market::Params {
    fn from(params: MarketParams) -> Self {
        Self {
            bid_min_deposit: Some(params.bid_min_deposit.map(Into::into).unwrap_or_default()),
            order_max_bids: params.order_max_bids,
            bid_min_deposits: messages(params.bid_min_deposits),
            min_reclamation_window: Some(wire_span(params.min_reclamation_window)),
            max_reclamation_window: Some(wire_span(params.max_reclamation_window)),
        }
    }
}

impl TryFrom<deployment::Params> for DeploymentParams {
    type Error = ConvertError;

    fn try_from(params: deployment::Params) -> Result<Self, Self::Error> {
        Ok(Self { min_deposits: list("min_deposits", params.min_deposits)? })
    }
}

impl From<DeploymentParams> for deployment::Params {
    fn from(params: DeploymentParams) -> Self {
        Self { min_deposits: messages(params.min_deposits) }
    }
}
