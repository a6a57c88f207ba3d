//! What a group costs.
//!
//! Three strategies: [`Scales`] add up a price for each resource, [`random_range`] chooses one by
//! chance that the caller brings, and a script of the operator is asked ([`ScriptRequest`]) and its
//! answer read. All give the price per block of the whole group, in the group's denomination. A
//! price that cannot be made is an error, and an error is never a bid.
//!
//! Nothing here runs a program, and nothing knows where the group will run.

mod decimal;
mod random_range;
mod scale;
mod script;

#[cfg(test)]
mod tests;

use akash_types::{Address, Dec, DecCoin, GroupPriceError, GroupSpec, ResourceOffer};

pub use decimal::{Decimal, DecimalError};
pub use random_range::random_range;
pub use scale::{EPHEMERAL, Scales, ScalesError};
pub use script::{ScriptFailure, ScriptRequest, read_script_output};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pricing {
    /// From a price for each resource.
    Scale(Box<Scales>),
    /// By chance, between a low and a high price.
    RandomRange,
    /// By a script of the operator.
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

/// Why there is no price.
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
    TooPrecise {
        /// How many it has.
        places: u32,
    },
    #[error("the price is above 10^18")]
    TooLarge,
    /// The script printed something else than a price.
    #[error("the price script printed {text:?}, expected a decimal number above zero")]
    Output {
        /// What it printed, shortened.
        text: String,
    },
    #[error(transparent)]
    Script(#[from] ScriptFailure),
}
