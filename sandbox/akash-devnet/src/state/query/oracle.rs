//! The price of AKT that genesis sets.

use akash_proto::akash::oracle::v2 as wire;
use akash_types::Dec;

use super::{Answer, QueryError, answer};
use crate::state::State;

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    (method == "AggregatedPrice").then(|| answer(data, |request| price(state, request)))
}

fn price(
    state: &State,
    request: wire::QueryAggregatedPriceRequest,
) -> Answer<wire::QueryAggregatedPriceResponse> {
    let denom = request.denom;
    let known = state.params().akt_price.filter(|_| denom == "akt").map(Dec::to_wire);
    let price =
        known.ok_or_else(|| QueryError::plain(format!("no price of {denom:?}: not found")))?;
    let price_health = Some(wire::PriceHealth {
        denom: denom.clone(),
        is_healthy: true,
        has_min_sources: true,
        deviation_ok: true,
        total_sources: 1,
        total_healthy_sources: 1,
        failure_reason: Vec::new(),
    });
    let aggregated_price = Some(wire::AggregatedPrice {
        denom,
        twap: price.clone(),
        median_price: price.clone(),
        min_price: price.clone(),
        max_price: price,
        timestamp: None,
        num_sources: 1,
        deviation_bps: 0,
    });
    Ok(wire::QueryAggregatedPriceResponse { aggregated_price, price_health })
}
