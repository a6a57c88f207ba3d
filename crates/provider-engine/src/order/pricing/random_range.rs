//! The strategy `randomRange`: somewhere between a low and a high price per GiB of memory.

use akash_types::{Dec, DecCoin, GroupSpec};

use super::PriceError;

/// Lowest price of a GiB per block.
const LOW: u128 = 50;
/// Highest price of a GiB per block.
const HIGH: u128 = 1_048_576;

/// A price for all of `group`, chosen by `draw`, a number drawn uniformly by the caller.
pub fn random_range(group: &GroupSpec, draw: u64) -> Result<DecCoin, PriceError> {
    let most = group.total_price().map_err(PriceError::Group)?;
    // Each term is under 2^96, and the sum of a list in memory under 2^128 ÷ 2^20.
    let memory: u128 = group
        .resources
        .iter()
        .map(|unit| u128::from(unit.resources.memory.quantity) * u128::from(unit.count))
        .sum();
    let per_gib = |price: u128| {
        let whole = memory.saturating_mul(price) >> 30;
        let whole = i128::try_from(whole).unwrap_or(i128::MAX);
        Dec::checked_from_int(whole).unwrap_or(Dec::from_scaled(i128::MAX))
    };
    let at_least_one = |price: Dec| if price.is_zero() { Dec::ONE } else { price };
    let low = at_least_one(per_gib(LOW));
    let high = at_least_one(per_gib(HIGH).min(most.amount()));
    if low == high {
        return super::in_denom_of(group, high);
    }
    // Steps of a ten-thousandth, of which a hundredth each is added: as the Go provider does.
    let steps = high.checked_sub(low).and_then(|range| range.checked_mul_int(10_000));
    let steps = steps.map_or(i128::from(i64::MAX), Dec::truncate_int);
    let steps = u64::try_from(steps.clamp(1, i128::from(i64::MAX))).unwrap_or(1);
    let step = (u128::from(draw) * u128::from(steps)) >> 64;
    // Under 2^63 millionths.
    let above = Dec::from_scaled(i128::try_from(step).unwrap_or_default() * 1_000_000_000_000);
    super::in_denom_of(group, low.checked_add(above).ok_or(PriceError::TooLarge)?)
}
