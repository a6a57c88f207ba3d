//! What a group costs.
//!
//! Three strategies: [`Scales`] add up a price for each resource, [`random_range`] chooses one by
//! chance that the caller brings, and a script of the operator is asked ([`ScriptRequest`]) and its
//! answer read. All give the price per block of the whole group, in the group's denomination. A
//! price that cannot be made is an error, and an error is never a bid.
//!
//! Nothing here runs a program, and nothing knows where the group will run.

mod decimal;
mod scale;
mod script;

use akash_types::{Address, Dec, DecCoin, GroupPriceError, GroupSpec, ResourceOffer};

pub use decimal::{Decimal, DecimalError};
pub use scale::{EPHEMERAL, Scales, ScalesError};
pub use script::{ScriptFailure, ScriptRequest, read_script_output};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pricing {
    Scale(Box<Scales>),
    /// By chance, between a low and a high price.
    RandomRange,
    Script,
}

/// A price, or what must be asked for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quote {
    /// The price per block.
    Price(DecCoin),
    /// The script must be run; [`read_script_output`] reads its answer.
    Ask(ScriptRequest),
}

impl Pricing {
    /// Refuses a strategy that could never make a price.
    pub fn validate(&self) -> Result<(), ScalesError> {
        match self {
            Self::Scale(scales) => scales.validate(),
            Self::RandomRange | Self::Script => Ok(()),
        }
    }

    /// The price of `group` for `owner`, to whom `offer` is made; `draw` is a number drawn
    /// uniformly.
    pub fn quote(
        &self,
        group: &GroupSpec,
        owner: &Address,
        offer: &[ResourceOffer],
        draw: u64,
    ) -> Result<Quote, PriceError> {
        match self {
            Self::Scale(scales) => scales.price(group).map(Quote::Price),
            Self::RandomRange => random_range(group, draw).map(Quote::Price),
            Self::Script => {
                let most = group.total_price().map_err(PriceError::Group)?;
                Ok(Quote::Ask(ScriptRequest::new(owner, offer, &most)))
            }
        }
    }
}

fn in_denom_of(group: &GroupSpec, amount: Dec) -> Result<DecCoin, PriceError> {
    let most = group.total_price().map_err(PriceError::Group)?;
    DecCoin::new(most.denom().clone(), amount).map_err(|_| PriceError::Negative { price: amount })
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    #[error("the group has no highest price: {0}")]
    Group(GroupPriceError),
    #[error("storage class {class:?} has no price; set one to bid on orders that ask for it")]
    NoScale { class: String },
    #[error("the price is zero")]
    Zero,
    #[error("the price {price} is negative")]
    Negative { price: Dec },
    #[error(
        "the price has {places} digits after the point, the chain takes 18; use scales with fewer digits"
    )]
    TooPrecise { places: u32 },
    #[error("the price is above 10^18")]
    TooLarge,
    #[error("the price script printed {text:?}, expected a decimal number above zero")]
    Output {
        /// What it printed, shortened.
        text: String,
    },
    #[error(transparent)]
    Script(#[from] ScriptFailure),
}

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
        return in_denom_of(group, high);
    }
    // Steps of a ten-thousandth, of which a hundredth each is added: as the Go provider does.
    let steps = high.checked_sub(low).and_then(|range| range.checked_mul_int(10_000));
    let steps = steps.map_or(i128::from(i64::MAX), Dec::truncate_int);
    let steps = u64::try_from(steps.clamp(1, i128::from(i64::MAX))).unwrap_or(1);
    let step = (u128::from(draw) * u128::from(steps)) >> 64;
    // Under 2^63 millionths.
    let above = Dec::from_scaled(i128::try_from(step).unwrap_or_default() * 1_000_000_000_000);
    in_denom_of(group, low.checked_add(above).ok_or(PriceError::TooLarge)?)
}

#[cfg(test)]
mod tests;
