//! Parameters.

use std::time::Duration;

use akash_proto::akash::deployment::v1beta4 as deployment;
use akash_proto::akash::market::v1beta5 as market;

use super::error::{At, ConvertError, ConvertProblem, list, messages, optional};
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

/// A height or a time that cannot be negative.
pub(super) fn count(field: &str, value: i64) -> Result<u64, ConvertError> {
    u64::try_from(value).map_err(|_| ConvertProblem::Negative { value }).at(field)
}

/// A height or a time of which 0 means that it did not happen.
pub(super) fn happened(field: &str, value: i64) -> Result<Option<u64>, ConvertError> {
    count(field, value).map(|value| Some(value).filter(|&value| value > 0))
}

/// The wire form of a height or a time. What does not fit is beyond any block there will be.
pub(super) fn wire_count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A span of time that may be absent.
pub(super) fn span(
    field: &str,
    span: Option<prost_types::Duration>,
) -> Result<Option<Duration>, ConvertError> {
    span.map(|prost_types::Duration { seconds, nanos }| {
        let problem = ConvertProblem::Duration { seconds, nanos };
        match (u64::try_from(seconds), u32::try_from(nanos)) {
            (Ok(seconds), Ok(nanos @ 0..=999_999_999)) => Ok(Duration::new(seconds, nanos)),
            _ => Err(problem),
        }
    })
    .transpose()
    .at(field)
}

/// The wire form of a span of time, at most some 292 billion years.
pub(super) fn wire_span(span: Duration) -> prost_types::Duration {
    let nanos = i32::try_from(span.subsec_nanos()).unwrap_or_default();
    prost_types::Duration { seconds: wire_count(span.as_secs()), nanos }
}
