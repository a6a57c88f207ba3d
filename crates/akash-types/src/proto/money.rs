//! Coins, decimal coins and deposits.

use akash_proto::akash::base::deposit::v1 as wire;
use akash_proto::akash::escrow::types::v1 as escrow;
use akash_proto::cosmos::base::v1beta1 as cosmos;

use super::error::{At, ConvertError, ConvertProblem, defaulted};
use crate::causes::shortened;
use crate::escrow::Balance;
use crate::{Coin, Dec, DecCoin, Denom, Deposit, DepositSource};

/// Reads the digits of an integer; none at all are 0, as Go reads them.
///
/// Go takes the base from the prefix: `010` would be 8 and `0x10` would be 16. The chain never
/// writes either, so neither is accepted.
pub(super) fn integer(digits: &[u8], max: u128) -> Result<u128, ConvertProblem> {
    let text = str::from_utf8(digits).unwrap_or("not text");
    let value = match digits {
        [] | [b'0'] => Some(0),
        [b'1'..=b'9', ..] if digits.iter().all(u8::is_ascii_digit) => text.parse().ok(),
        _ => None,
    };
    value
        .filter(|value| *value <= max)
        .ok_or_else(|| ConvertProblem::Integer { text: shortened(text), max })
}

fn denom(denom: &str) -> Result<Denom, ConvertError> {
    Denom::try_from(denom).at("denom")
}

fn amount(amount: &str) -> Result<Dec, ConvertError> {
    Dec::from_wire(amount).at("amount")
}

impl TryFrom<cosmos::Coin> for Coin {
    type Error = ConvertError;

    fn try_from(coin: cosmos::Coin) -> Result<Self, Self::Error> {
        let amount = integer(coin.amount.as_bytes(), u128::MAX).at("amount")?;
        Ok(Self::new(denom(&coin.denom)?, amount))
    }
}

impl From<Coin> for cosmos::Coin {
    fn from(coin: Coin) -> Self {
        Self { denom: coin.denom().to_string(), amount: coin.amount().to_string() }
    }
}

impl TryFrom<cosmos::DecCoin> for DecCoin {
    type Error = ConvertError;

    fn try_from(coin: cosmos::DecCoin) -> Result<Self, Self::Error> {
        Self::new(denom(&coin.denom)?, amount(&coin.amount)?).at("amount")
    }
}

impl From<DecCoin> for cosmos::DecCoin {
    fn from(coin: DecCoin) -> Self {
        Self { denom: coin.denom().to_string(), amount: coin.amount().to_wire() }
    }
}

impl TryFrom<escrow::Balance> for Balance {
    type Error = ConvertError;

    fn try_from(balance: escrow::Balance) -> Result<Self, Self::Error> {
        Ok(Self { denom: denom(&balance.denom)?, amount: amount(&balance.amount)? })
    }
}

impl From<Balance> for escrow::Balance {
    fn from(balance: Balance) -> Self {
        Self { denom: balance.denom.to_string(), amount: balance.amount.to_wire() }
    }
}

impl TryFrom<wire::Deposit> for Deposit {
    type Error = ConvertError;

    fn try_from(deposit: wire::Deposit) -> Result<Self, Self::Error> {
        let coin = defaulted("amount", deposit.amount)?;
        let mut sources = Vec::with_capacity(deposit.sources.len());
        for (index, code) in deposit.sources.into_iter().enumerate() {
            sources.push(DepositSource::from_code(code).at(&format!("sources[{index}]"))?);
        }
        Self::new(coin, sources).at("sources")
    }
}

impl From<Deposit> for wire::Deposit {
    fn from(deposit: Deposit) -> Self {
        Self {
            amount: Some(deposit.coin().clone().into()),
            sources: deposit.sources().iter().map(|source| source.code()).collect(),
        }
    }
}
