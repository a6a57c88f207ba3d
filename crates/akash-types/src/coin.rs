//! Amounts of money: whole coins as the bank moves them, decimal coins as prices are quoted.
//!
//! Knows nothing of accounts and exchange rates: coins of two denominations never meet here.

use std::str::FromStr;

use crate::causes::shortened;
use crate::{Dec, DecError, Denom, DenomError};

/// A whole, non-negative amount of one denomination.
#[derive(Clone, Debug, PartialEq, Eq, Hash, derive_more::Display)]
#[display("{}{}", self.amount, self.denom)]
pub struct Coin {
    denom: Denom,
    amount: u128,
}

impl Coin {
    /// `amount` of `denom`.
    pub const fn new(denom: Denom, amount: u128) -> Self {
        Self { denom, amount }
    }

    /// What it is.
    pub const fn denom(&self) -> &Denom {
        &self.denom
    }

    /// How much of it.
    pub const fn amount(&self) -> u128 {
        self.amount
    }

    /// Whether there is none of it.
    pub const fn is_zero(&self) -> bool {
        self.amount == 0
    }

    /// The same money in its micro unit: `5akt` is `5000000uakt`. Denominations without registered
    /// units stay as they are.
    pub fn normalize(self) -> Result<Self, CoinError> {
        match self.denom.micro_unit() {
            None => Ok(self),
            Some((micro, per_unit)) => match self.amount.checked_mul(u128::from(per_unit)) {
                Some(amount) => Ok(Self::new(micro, amount)),
                None => Err(CoinError::TooLarge { text: self.to_string() }),
            },
        }
    }
}

impl FromStr for Coin {
    type Err = CoinError;

    /// Reads `500000uakt`. As in Go, white space around it and between number and denomination is
    /// ignored.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, denom) = split_coin(text)?;
        if number.contains('.') {
            return Err(CoinError::Fraction { text: shortened(text) });
        }
        let too_large = |_| CoinError::TooLarge { text: shortened(text) };
        Ok(Self::new(denom, number.parse().map_err(too_large)?))
    }
}

/// A decimal, non-negative amount of one denomination: prices, rates, balances in escrow.
#[derive(Clone, Debug, PartialEq, Eq, Hash, derive_more::Display)]
#[display("{}{}", self.amount, self.denom)]
pub struct DecCoin {
    denom: Denom,
    amount: Dec,
}

impl DecCoin {
    /// `amount` of `denom`.
    pub fn new(denom: Denom, amount: Dec) -> Result<Self, CoinError> {
        if amount.is_negative() {
            return Err(CoinError::Negative { amount, denom });
        }
        Ok(Self { denom, amount })
    }

    /// None of `denom`.
    pub const fn zero(denom: Denom) -> Self {
        Self { denom, amount: Dec::ZERO }
    }

    /// What it is.
    pub const fn denom(&self) -> &Denom {
        &self.denom
    }

    /// How much of it.
    pub const fn amount(&self) -> Dec {
        self.amount
    }

    /// Whether there is none of it.
    pub const fn is_zero(&self) -> bool {
        self.amount.is_zero()
    }

    /// The sum of two amounts of one denomination.
    pub fn checked_add(&self, other: &Self) -> Result<Self, CoinError> {
        if self.denom != other.denom {
            let (left, right) = (self.denom.clone(), other.denom.clone());
            return Err(CoinError::MixedDenoms { left, right });
        }
        match self.amount.checked_add(other.amount) {
            Some(amount) => Ok(Self { denom: self.denom.clone(), amount }),
            None => Err(CoinError::TooLarge { text: format!("{self} + {other}") }),
        }
    }

    /// The amount `count` times.
    pub fn checked_mul_int(&self, count: u64) -> Result<Self, CoinError> {
        match self.amount.checked_mul_int(i128::from(count)) {
            Some(amount) => Ok(Self { denom: self.denom.clone(), amount }),
            None => Err(CoinError::TooLarge { text: format!("{self} × {count}") }),
        }
    }

    /// The same money in its micro unit: `1.5akt` is `1500000uakt`. Denominations without
    /// registered units stay as they are.
    pub fn normalize(self) -> Result<Self, CoinError> {
        match self.denom.micro_unit() {
            None | Some((_, 1)) => Ok(self),
            Some((micro, per_unit)) => {
                // The chain multiplies by the unit and divides by the micro unit, so a fraction
                // of a milli unit is rounded at the 18th place before it grows; so here.
                let micro_per_whole = Dec::from_int(1_000_000);
                let amount = Dec::from_int(per_unit)
                    .checked_quo(micro_per_whole)
                    .and_then(|unit| self.amount.checked_mul(unit))
                    .and_then(|whole| whole.checked_mul(micro_per_whole));
                match amount {
                    Some(amount) => Ok(Self { denom: micro, amount }),
                    None => Err(CoinError::TooLarge { text: self.to_string() }),
                }
            }
        }
    }
}

impl TryFrom<Coin> for DecCoin {
    type Error = CoinError;

    /// The same amount, if a [`Dec`] holds it.
    fn try_from(coin: Coin) -> Result<Self, Self::Error> {
        match i128::try_from(coin.amount).ok().and_then(Dec::checked_from_int) {
            Some(amount) => Ok(Self { denom: coin.denom, amount }),
            None => Err(CoinError::TooLarge { text: coin.to_string() }),
        }
    }
}

impl FromStr for DecCoin {
    type Err = CoinError;

    /// Reads `1.5uakt`, with white space as in [`Coin`].
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, denom) = split_coin(text)?;
        let amount =
            number.parse().map_err(|source| CoinError::Amount { text: shortened(text), source })?;
        Self::new(denom, amount)
    }
}

/// Splits `1.5 uakt` after the last character of the number.
fn split_coin(text: &str) -> Result<(&str, Denom), CoinError> {
    let trimmed = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = trimmed.find(|c| !is_number(c)).unwrap_or(trimmed.len());
    let (number, rest) = trimmed.split_at_checked(end).unwrap_or((trimmed, ""));
    if number.is_empty() {
        return Err(CoinError::NoAmount { text: shortened(text) });
    }
    let denom = Denom::try_from(rest.trim_start())
        .map_err(|source| CoinError::Denom { text: shortened(text), source })?;
    Ok((number, denom))
}

/// Why something is not an amount of money.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoinError {
    /// The text does not start with a number.
    #[error("coin {text:?} must start with an amount, as in 500000uakt")]
    NoAmount {
        /// The text, shortened.
        text: String,
    },
    /// A whole amount was expected.
    #[error("coin {text:?} has a fraction, expected a whole amount as in 500000uakt")]
    Fraction {
        /// The text, shortened.
        text: String,
    },
    /// The number is not a decimal.
    #[error("coin {text:?} has no valid amount")]
    Amount {
        /// The text, shortened.
        text: String,
        /// What is wrong with the number.
        source: DecError,
    },
    /// What follows the number is not a denomination.
    #[error("coin {text:?} has no valid denomination")]
    Denom {
        /// The text, shortened.
        text: String,
        /// What is wrong with the denomination.
        source: DenomError,
    },
    /// Coins are never negative.
    #[error("coin amount {amount} of {denom} is negative, expected zero or more")]
    Negative {
        /// The amount.
        amount: Dec,
        /// The denomination.
        denom: Denom,
    },
    /// Two denominations met.
    #[error("cannot add {right} to {left}: only coins of one denomination add up")]
    MixedDenoms {
        /// Denomination of the first coin.
        left: Denom,
        /// Denomination of the second coin.
        right: Denom,
    },
    /// The result does not fit.
    #[error("coin amount {text} is too large")]
    TooLarge {
        /// What was computed or read.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coin(text: &str) -> Coin {
        text.parse().unwrap()
    }

    fn dec_coin(text: &str) -> DecCoin {
        text.parse().unwrap()
    }

    #[test]
    fn coins_print_as_they_parse() {
        for text in ["500000uakt", "0uact", "340282366920938463463374607431768211455uakt"] {
            assert_eq!(coin(text).to_string(), text);
        }
        assert_eq!(coin(" 007 uakt ").to_string(), "7uakt");
        assert_eq!(dec_coin("1.5uakt").to_string(), "1.500000000000000000uakt");
        assert_eq!(dec_coin("500 uact").to_string(), "500.000000000000000000uact");
        assert_eq!(dec_coin("1.500000000000000000uakt"), dec_coin("1.5uakt"));
    }

    #[test]
    fn texts_that_are_not_coins_are_refused() {
        for (text, wanted) in [
            ("", "must start with an amount"),
            ("uakt", "must start with an amount"),
            ("-5uakt", "must start with an amount"),
            ("5", "no valid denomination"),
            ("5 u", "no valid denomination"),
            ("5uakt,6uact", "no valid denomination"),
            ("1.5uakt", "has a fraction"),
            ("340282366920938463463374607431768211456uakt", "too large"),
        ] {
            let error = text.parse::<Coin>().unwrap_err().to_string();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        for text in [".5uakt", "5.uakt", "1.2.3uakt", "1.0000000000000000001uakt"] {
            let error = text.parse::<DecCoin>().unwrap_err();
            assert!(matches!(error, CoinError::Amount { .. }), "{text}: {error}");
        }
    }

    #[test]
    fn negative_decimal_coins_cannot_be_built() {
        let error = DecCoin::new("uakt".parse().unwrap(), Dec::from_scaled(-1)).unwrap_err();
        assert!(matches!(error, CoinError::Negative { .. }));
    }

    #[test]
    fn display_units_become_micro_units() {
        for (text, micro) in [
            ("5akt", "5000000uakt"),
            ("5makt", "5000uakt"),
            ("5uakt", "5uakt"),
            ("2act", "2000000uact"),
            ("3usd", "3000000uusd"),
            ("7ibc/ABC", "7ibc/ABC"),
        ] {
            assert_eq!(coin(text).normalize(), Ok(coin(micro)));
            assert_eq!(dec_coin(text).normalize(), Ok(dec_coin(micro)));
        }
        assert_eq!(dec_coin("1.5akt").normalize(), Ok(dec_coin("1500000uakt")));
        assert_eq!(dec_coin("0.0025mact").normalize(), Ok(dec_coin("2.5uact")));
        // Half to even at the 18th place of a whole unit, then a million times that.
        assert_eq!(dec_coin("0.000000000000000500makt").normalize(), Ok(dec_coin("0uakt")));
        assert_eq!(
            dec_coin("0.000000000000001500makt").normalize(),
            Ok(dec_coin("0.000000000002uakt"))
        );
        assert!(coin("340282366920938463463374607431768211455akt").normalize().is_err());
        assert!(dec_coin("100000000000000000000akt").normalize().is_err());
    }

    #[test]
    fn whole_coins_are_decimal_coins() {
        assert_eq!(DecCoin::try_from(coin("7uakt")), Ok(dec_coin("7uakt")));
        let most = coin("340282366920938463463374607431768211455uakt");
        assert!(matches!(DecCoin::try_from(most), Err(CoinError::TooLarge { .. })));
    }

    #[test]
    fn only_one_denomination_adds_up() {
        assert_eq!(dec_coin("1.5uakt").checked_add(&dec_coin("2uakt")), Ok(dec_coin("3.5uakt")));
        let error = dec_coin("1uakt").checked_add(&dec_coin("1uact")).unwrap_err();
        assert!(matches!(error, CoinError::MixedDenoms { .. }));
        let huge = dec_coin("170000000000000000000uakt");
        assert!(matches!(huge.checked_add(&huge), Err(CoinError::TooLarge { .. })));
        assert!(matches!(huge.checked_mul_int(2), Err(CoinError::TooLarge { .. })));
        assert_eq!(dec_coin("1.25uakt").checked_mul_int(4), Ok(dec_coin("5uakt")));
    }
}
