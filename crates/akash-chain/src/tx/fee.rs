//! What is paid for a transaction.

use akash_proto::cosmos::tx::v1beta1 as wire;
use akash_types::{Address, Coin, CoinError, Dec, DecCoin, Denom};

/// The fee of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fee {
    /// What is paid, one coin per denomination, by denomination.
    pub amount: Vec<Coin>,
    /// How much gas it may use.
    pub gas_limit: u64,
    /// Who pays, if not the signer.
    pub granter: Option<Address>,
}

impl From<&Fee> for wire::Fee {
    fn from(fee: &Fee) -> Self {
        Self {
            amount: fee.amount.iter().cloned().map(Into::into).collect(),
            gas_limit: fee.gas_limit,
            granter: fee.granter.map(|granter| granter.to_string()).unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// How the fee comes about: a fixed sum, or a price for gas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeeRule {
    /// This much, whatever the gas.
    Fixed(Vec<Coin>),
    /// This much for each unit of gas.
    PerGas(Vec<DecCoin>),
}

impl FeeRule {
    /// Reads `fees` (`5000uakt,…`) or `gas_prices` (`0.025uakt,…`); one of them must be empty, and
    /// if both are, nothing is paid.
    pub fn parse(fees: &str, gas_prices: &str) -> Result<Self, FeeError> {
        match (fees.trim(), gas_prices.trim()) {
            ("", prices) => Ok(Self::PerGas(coins(prices)?)),
            (fees, "") => {
                // Also 5akt and 0.5akt, which are whole in the micro unit; the rest is cut off.
                let whole = |coin: DecCoin| {
                    let coin = coin.normalize()?;
                    let too_large = || CoinError::TooLarge { text: coin.to_string() };
                    let amount = u128::try_from(coin.amount().truncate_int());
                    Ok(Coin::new(coin.denom().clone(), amount.map_err(|_| too_large())?))
                };
                let fees: Result<Vec<Coin>, CoinError> =
                    coins(fees)?.into_iter().map(whole).collect();
                Ok(Self::Fixed(unique(fees?)?))
            }
            _ => Err(FeeError::Both),
        }
    }

    /// The fee for a transaction with this gas limit: each price times gas, rounded up.
    pub fn fee(&self, gas_limit: u64) -> Result<Vec<Coin>, FeeError> {
        match self {
            Self::Fixed(fees) => Ok(fees.clone()),
            Self::PerGas(prices) => prices.iter().map(|price| fee_in(price, gas_limit)).collect(),
        }
    }
}

fn fee_in(price: &DecCoin, gas_limit: u64) -> Result<Coin, FeeError> {
    let too_large = || FeeError::TooLarge { price: price.clone(), gas_limit };
    let exact = price.amount().checked_mul_int(i128::from(gas_limit)).ok_or_else(too_large)?;
    let whole = exact.truncate_int();
    // Prices are not negative, so cutting off rounds down.
    let rest = Dec::checked_from_int(whole).is_none_or(|whole| whole < exact);
    let amount = u128::try_from(whole).map_err(|_| too_large())? + u128::from(rest);
    Ok(Coin::new(price.denom().clone(), amount))
}

/// Reads `1.5uakt,2uact`: by denomination, each once, those of zero left out.
fn coins(text: &str) -> Result<Vec<DecCoin>, FeeError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let coins: Result<Vec<DecCoin>, CoinError> = text.split(',').map(str::parse).collect();
    let mut coins = coins?;
    coins.retain(|coin| !coin.is_zero());
    coins.sort_by(|a, b| a.denom().cmp(b.denom()));
    match repeated(coins.iter().map(DecCoin::denom)) {
        Some(denom) => Err(FeeError::Twice { denom: denom.clone() }),
        None => Ok(coins),
    }
}

/// `1akt,1uakt` are two denominations as written and one as paid.
fn unique(mut coins: Vec<Coin>) -> Result<Vec<Coin>, FeeError> {
    coins.retain(|coin| !coin.is_zero());
    coins.sort_by(|a, b| a.denom().cmp(b.denom()));
    match repeated(coins.iter().map(Coin::denom)) {
        Some(denom) => Err(FeeError::Twice { denom: denom.clone() }),
        None => Ok(coins),
    }
}

/// The first of sorted denominations that stands there twice.
pub(super) fn repeated<'a>(sorted: impl Iterator<Item = &'a Denom>) -> Option<&'a Denom> {
    let mut before = None;
    for denom in sorted {
        if before == Some(denom) {
            return before;
        }
        before = Some(denom);
    }
    None
}

/// Why there is no fee.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeeError {
    /// A fixed fee and a price for gas.
    #[error("fees and gas prices are both given, expected one of them")]
    Both,
    /// Not a coin.
    #[error("a fee or gas price is not a coin")]
    Coin(#[from] CoinError),
    /// Two amounts of one denomination.
    #[error("{denom} is given twice, each denomination may be given once")]
    Twice {
        /// Which.
        denom: Denom,
    },
    /// More money than there is.
    #[error("{price} for each of {gas_limit} units of gas is more money than there is")]
    TooLarge {
        /// The price.
        price: DecCoin,
        /// The gas.
        gas_limit: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fee(prices: &str, gas: u64) -> Vec<String> {
        let rule = FeeRule::parse("", prices).unwrap();
        rule.fee(gas).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_price_is_multiplied_and_rounded_up() {
        assert_eq!(fee("0.025uakt", 200_000), ["5000uakt"]);
        assert_eq!(fee("0.025uakt", 200_001), ["5001uakt"]);
        assert_eq!(fee("0.025uakt", 219_763), ["5495uakt"]);
        assert_eq!(fee(" 0.1uakt, 1uact ,0uxxx", 15), ["15uact", "2uakt"]);
        assert_eq!(fee("0.000000000000000001uakt", u64::MAX), ["19uakt"]);
        assert_eq!(fee("0.025uakt", 0), ["0uakt"]);
        assert!(fee("", 200_000).is_empty());
    }

    #[test]
    fn a_fixed_fee_is_normalised_and_not_combined_with_prices() {
        let fixed = FeeRule::parse("0.5akt,3uact", "").unwrap();
        let fees: Vec<String> = fixed.fee(7).unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(fees, ["3uact", "500000uakt"]);
        assert_eq!(FeeRule::parse("1uakt", "1uakt"), Err(FeeError::Both));
        for twice in ["1akt,1uakt", "1uakt,2uakt"] {
            assert!(matches!(FeeRule::parse(twice, ""), Err(FeeError::Twice { .. })), "{twice}");
        }
        assert!(matches!(FeeRule::parse("", "1uakt,2uakt"), Err(FeeError::Twice { .. })));
        for text in ["uakt", "1", "-1uakt", "1uakt,", ","] {
            assert!(matches!(FeeRule::parse("", text), Err(FeeError::Coin(_))), "{text}");
        }
        let huge = FeeRule::parse("", "100000000000000000000uakt").unwrap();
        assert!(matches!(huge.fee(u64::MAX), Err(FeeError::TooLarge { .. })));
    }

    proptest! {
        /// Against long multiplication: digits of the price times gas, then up to a whole coin.
        #[test]
        fn fees_are_exact(scaled in 0i128..1_000_000_000_000_000_000_000, gas in any::<u32>()) {
            let price = DecCoin::new("uakt".parse().unwrap(), Dec::from_scaled(scaled)).unwrap();
            let fee = fee_in(&price, u64::from(gas)).unwrap();
            let one = 1_000_000_000_000_000_000u128;
            let product = scaled.unsigned_abs() * u128::from(gas);
            prop_assert_eq!(fee.amount(), product.div_ceil(one));
        }

        #[test]
        fn no_text_panics(fees in ".{0,40}", prices in ".{0,40}") {
            if let Ok(rule) = FeeRule::parse(&fees, &prices) {
                let _ = rule.fee(u64::MAX);
            }
        }
    }
}
