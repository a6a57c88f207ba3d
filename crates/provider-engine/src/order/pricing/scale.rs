//! The strategy `scale`: a price for each resource, summed.
//!
//! Cards have no price here. The result is what the Go provider would ask, to the last digit.

use std::collections::BTreeMap;

use akash_types::{DecCoin, GroupSpec, ResourceUnit, Storage};
use ethnum::I256;

use super::PriceError;
use super::decimal::{Decimal, DecimalError, ToDecError};
use crate::inventory::leased_ips;

/// Class of storage that lives with the pod, in prices.
pub const EPHEMERAL: &str = "ephemeral";

/// Prices per block, in the denomination of the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scales {
    /// Of a thousandth of a core.
    pub cpu: Decimal,
    /// Of a MiB of memory.
    pub memory: Decimal,
    /// Of a MiB of storage, by class; [`EPHEMERAL`] is what lives with the pod.
    pub storage: BTreeMap<String, Decimal>,
    /// Of an endpoint of a resource unit, however many replicas it has.
    pub endpoint: Decimal,
    /// Of a leased address.
    pub ip: Decimal,
}

impl Scales {
    /// Refuses prices that cannot be meant.
    pub fn validate(&self) -> Result<(), ScalesError> {
        let single = [
            ("CPU", self.cpu),
            ("memory", self.memory),
            ("endpoint", self.endpoint),
            ("IP", self.ip),
        ];
        let storage = self.storage.iter().map(|(class, scale)| (class.as_str(), *scale));
        let mut all = single.into_iter().chain(storage);
        if let Some((what, _)) = all.find(|(_, scale)| scale.is_negative()) {
            return Err(ScalesError::Negative { what: what.to_owned() });
        }
        let storage_is_zero =
            self.storage.is_empty() || self.storage.values().any(|scale| scale.is_zero());
        if storage_is_zero && single.iter().all(|(_, scale)| scale.is_zero()) {
            return Err(ScalesError::AllZero);
        }
        Ok(())
    }

    /// Reads prices of storage: `0.1`, `beta2=0.2` or several, with commas between. Without a class
    /// it is [`EPHEMERAL`].
    pub fn parse_storage(text: &str) -> Result<BTreeMap<String, Decimal>, ScalesError> {
        let mut scales = BTreeMap::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (class, value) = part.split_once('=').unwrap_or((EPHEMERAL, part));
            let (class, value) = (class.trim(), value.trim());
            let scale = Decimal::parse(value)
                .map_err(|source| ScalesError::Storage { class: class.to_owned(), source })?;
            if scales.insert(class.to_owned(), scale).is_some() {
                return Err(ScalesError::Twice { class: class.to_owned() });
            }
        }
        Ok(scales)
    }

    /// What all of `group` costs per block.
    pub fn price(&self, group: &GroupSpec) -> Result<DecCoin, PriceError> {
        let price = self.sum(group)?;
        if price.is_zero() {
            return Err(PriceError::Zero);
        }
        let amount = price.to_dec().map_err(|error| match error {
            ToDecError::TooPrecise { places } => PriceError::TooPrecise { places },
            ToDecError::TooLarge => PriceError::TooLarge,
        })?;
        if amount > akash_types::Dec::from_int(MAX_PRICE) {
            return Err(PriceError::TooLarge);
        }
        if amount.is_negative() {
            return Err(PriceError::Negative { price: amount });
        }
        super::in_denom_of(group, amount)
    }

    fn sum(&self, group: &GroupSpec) -> Result<Decimal, PriceError> {
        let units = &group.resources;
        let count = |unit: &ResourceUnit| u128::from(unit.count);
        // Each term is under 2^96, so no list that fits in memory can overflow the sums.
        let cpu: u128 =
            units.iter().map(|unit| u128::from(unit.resources.cpu.units) * count(unit)).sum();
        let memory: u128 =
            units.iter().map(|unit| u128::from(unit.resources.memory.quantity) * count(unit)).sum();
        let mut storage = BTreeMap::<&str, u128>::new();
        for unit in units {
            for volume in &unit.resources.storage {
                *storage.entry(class(volume)).or_default() +=
                    u128::from(volume.quantity) * count(unit);
            }
        }
        let endpoints: usize = units.iter().map(|unit| unit.resources.endpoints.len()).sum();
        let ips = leased_ips(units.iter().flat_map(|unit| &unit.resources.endpoints));

        let mut sum = Decimal::ZERO;
        let mut add = |amount: Decimal, scale: Decimal| -> Result<(), PriceError> {
            let term = amount.times(scale).ok_or(PriceError::TooLarge)?;
            sum = sum.plus(term).ok_or(PriceError::TooLarge)?;
            Ok(())
        };
        add(Decimal::new(cpu, 0), self.cpu)?;
        add(mebibytes(memory), self.memory)?;
        for (class, bytes) in storage {
            let scale = self.storage.get(class);
            let scale = scale.ok_or_else(|| PriceError::NoScale { class: class.to_owned() })?;
            add(mebibytes(bytes), *scale)?;
        }
        add(Decimal::new(endpoints as u128, 0), self.endpoint)?;
        add(Decimal::new(ips, 0), self.ip)?;
        Ok(sum)
    }
}

/// The largest price (chain: no more than 10^18 of anything is ever paid).
const MAX_PRICE: u64 = 1_000_000_000_000_000_000;

/// The class by which a volume is priced: its own if it is persistent, else [`EPHEMERAL`].
fn class(volume: &Storage) -> &str {
    volume.class().filter(|_| volume.is_persistent()).unwrap_or(EPHEMERAL)
}

/// Bytes in MiB, rounded half away from zero to 16 places.
fn mebibytes(bytes: u128) -> Decimal {
    const PLACES: u32 = 16;
    // Under 2^128 × 10^16, which is under 2^182.
    let scaled = I256::from(bytes) * I256::from(10_u64.pow(PLACES));
    Decimal::new((scaled + I256::from(1_u32 << 19)) / I256::from(1_u32 << 20), PLACES)
}

/// Why prices cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScalesError {
    #[error("the price scale of {what} is negative, expected 0 or more")]
    Negative { what: String },
    #[error("all price scales are zero, set at least one of CPU, memory, storage, endpoint and IP")]
    AllZero,
    #[error("storage class {class:?} has two price scales, expected one")]
    Twice { class: String },
    #[error("the price scale of storage class {class:?} cannot be read")]
    Storage { class: String, source: DecimalError },
}
