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

use std::fmt::Write;

use akash_types::{
    Address, Dec, DecCoin, GpuModel, GroupPriceError, GroupSpec, ResourceOffer, Resources,
};

use crate::inventory::leased_ips;

pub use decimal::{Decimal, DecimalError};
pub use scale::{EPHEMERAL, Scales, ScalesError};

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

/// Places that a script is asked to round to.
const PRICE_PRECISION: u32 = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptRequest {
    /// What it reads: a line of JSON.
    pub stdin: String,
    /// Variables that are set for it besides those of this process.
    pub environment: [(&'static str, String); 2],
}

impl ScriptRequest {
    /// Asks for the price of what is offered to `owner`: with the cards that were chosen, and the
    /// most that the group pays.
    pub fn new(owner: &Address, offer: &[ResourceOffer], most: &DecCoin) -> Self {
        let mut json = String::from("{\"resources\":[");
        for (index, offer) in offer.iter().enumerate() {
            if index > 0 {
                json.push(',');
            }
            push_resources(&mut json, &offer.resources, offer.count);
        }
        json.push_str("],\"price\":{\"denom\":");
        push_text(&mut json, most.denom().as_str());
        let amount = most.amount();
        push(&mut json, format_args!(",\"amount\":\"{amount}\"}},"));
        push(&mut json, format_args!("\"price_precision\":{PRICE_PRECISION}}}\n"));
        let environment =
            [("AKASH_OWNER", owner.to_string()), ("AKASH_DENOM", most.denom().to_string())];
        Self { stdin: json, environment }
    }
}

fn push_resources(json: &mut String, resources: &Resources, count: u32) {
    let (memory, cpu) = (resources.memory.quantity, resources.cpu.units);
    push(json, format_args!("{{\"memory\":{memory},\"cpu\":{cpu},\"gpu\":"));
    push_gpu(json, &resources.gpu);
    json.push_str(",\"storage\":[");
    for (index, volume) in resources.storage.iter().enumerate() {
        json.push_str(if index > 0 { ",{\"class\":" } else { "{\"class\":" });
        push_text(json, volume.class().unwrap_or(EPHEMERAL));
        push(json, format_args!(",\"size\":{}}}", volume.quantity));
    }
    let (endpoints, ips) = (resources.endpoints.len(), leased_ips(&resources.endpoints));
    push(json, format_args!("],\"count\":{count},\"endpoint_quantity\":{endpoints},"));
    push(json, format_args!("\"ip_lease_quantity\":{ips}}}"));
}

fn push_gpu(json: &mut String, gpu: &akash_types::Gpu) {
    push(json, format_args!("{{\"units\":{},\"attributes\":{{", gpu.units));
    // An offer names the one card that was chosen, so that it is the one that is priced.
    if let Some(card) = gpu.requests().ok().and_then(|mut requests| requests.pop()) {
        push(json, format_args!("\"vendor\":{{\"{}\":{{\"model\":", card.vendor.as_str()));
        push_text(
            json,
            match &card.model {
                GpuModel::Any => "*",
                GpuModel::Named(name) => name,
            },
        );
        if let Some(gib) = card.ram_gib {
            push(json, format_args!(",\"ram\":\"{gib}Gi\""));
        }
        if let Some(interface) = card.interface {
            push(json, format_args!(",\"interface\":\"{}\"", interface.as_str()));
        }
        json.push_str("}}");
    }
    json.push_str("}}");
}

fn push(json: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = json.write_fmt(text);
}

/// A JSON text as Go writes it: `<`, `>` and `&` escaped too.
fn push_text(json: &mut String, text: &str) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\n' => json.push_str("\\n"),
            '\r' => json.push_str("\\r"),
            '\t' => json.push_str("\\t"),
            '\u{8}' => json.push_str("\\b"),
            '\u{c}' => json.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                push(json, format_args!("\\u{:04x}", u32::from(character)));
            }
            _ => json.push(character),
        }
    }
    json.push('"');
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptFailure {
    #[error("the price script could not be run: {0}")]
    NotRun(String),
    #[error("the price script took longer than its limit")]
    TimedOut,
    #[error("the price script ended with {status}: {stderr}")]
    Failed {
        /// How it ended, such as `exit code 1`.
        status: String,
        /// What it wrote to standard error, shortened.
        stderr: String,
    },
}

/// Reads what a script printed: a decimal above zero with at most 18 places, white space around it.
pub fn read_script_output(group: &GroupSpec, stdout: &[u8]) -> Result<DecCoin, PriceError> {
    let quoted = || String::from_utf8_lossy(stdout).trim().chars().take(80).collect();
    let text = std::str::from_utf8(stdout).map_err(|_| PriceError::Output { text: quoted() })?;
    let price: Dec = text.trim().parse().map_err(|_| PriceError::Output { text: quoted() })?;
    if price.is_negative() {
        return Err(PriceError::Negative { price });
    }
    if price.is_zero() {
        return Err(PriceError::Zero);
    }
    in_denom_of(group, price)
}

#[cfg(test)]
mod tests;
