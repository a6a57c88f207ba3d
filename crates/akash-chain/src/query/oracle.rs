//! What the chain's oracle says.

use akash_proto::akash::oracle::v2 as wire;
use akash_types::Dec;

use super::{Answer, Malformed, Query, QueryError, Transport, method};

impl<T: Transport> Query<T> {
    /// What 1 AKT is worth in USD, averaged over sources and time, which is also what a `uakt` is
    /// worth in `uact`. `None` while the oracle itself would not use the price. A chain whose oracle
    /// has no price refuses.
    pub async fn akt_price(&self) -> Result<Answer<Option<Dec>>, QueryError> {
        let request = wire::QueryAggregatedPriceRequest { denom: "akt".to_owned() };
        self.get(|| "the price of AKT".to_owned(), method::AGGREGATED_PRICE, &request, price).await
    }
}

fn price(answer: wire::QueryAggregatedPriceResponse) -> Result<Option<Dec>, Malformed> {
    let healthy = answer.price_health.is_some_and(|health| health.is_healthy);
    let Some(price) = answer.aggregated_price.filter(|_| healthy) else { return Ok(None) };
    let price = Dec::from_wire(&price.twap).map_err(|_| Malformed::Unexpected {
        part: "twap",
        found: price.twap,
        expected: "the digits of a decimal",
    })?;
    Ok(Some(price).filter(|price| price.is_positive()))
}
