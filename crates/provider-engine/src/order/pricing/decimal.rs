//! Decimals of more than 18 places, for prices in the making.

use akash_types::Dec;
use ethnum::I256;

/// `digits × 10^-places`, exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decimal {
    digits: I256,
    places: u32,
}

impl Decimal {
    /// 0.
    pub const ZERO: Self = Self { digits: I256::ZERO, places: 0 };

    /// Most digits of a scale, before and after the point together. It leaves room for any amount
    /// that can be ordered.
    const MAX_DIGITS: usize = 36;

    /// `digits × 10^-places`.
    pub(super) fn new(digits: impl Into<I256>, places: u32) -> Self {
        Self { digits: digits.into(), places }
    }

    /// Reads `0.0001`, `.5`, `1e-4`.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        let malformed = || DecimalError::Malformed { text: text.chars().take(80).collect() };
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().map_err(|_| malformed())?),
            None => (text, 0),
        };
        let unsigned = number.strip_prefix(['-', '+']).unwrap_or(number);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_digits(whole)
            || !is_digits(fraction)
            || unsigned.len() == unsigned.matches('.').count()
        {
            return Err(malformed());
        }
        // Zeros at either end say nothing.
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_end_matches('0');
        let dropped = i64::try_from(digits.len() - significant.len()).unwrap_or(i64::MAX);
        let significant = significant.trim_start_matches('0');
        if significant.is_empty() {
            return Ok(Self::ZERO);
        }
        let places = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
        let places = places.saturating_sub(dropped).saturating_sub(i64::from(exponent));
        let too_long = || DecimalError::TooLong { text: text.chars().take(80).collect() };
        let zeros = usize::try_from(places.min(0).unsigned_abs()).unwrap_or(usize::MAX);
        let places = u32::try_from(places.max(0)).unwrap_or(u32::MAX);
        let length = significant.len().saturating_add(zeros);
        if length > Self::MAX_DIGITS || places as usize > Self::MAX_DIGITS {
            return Err(too_long());
        }
        let magnitude: i128 = significant.parse().map_err(|_| too_long())?;
        let signed = if number.starts_with('-') { -magnitude } else { magnitude };
        let raise = u32::try_from(zeros).unwrap_or(u32::MAX);
        let digits = power(raise).and_then(|factor| I256::from(signed).checked_mul(factor));
        Ok(Self { digits: digits.ok_or_else(too_long)?, places })
    }

    /// Whether this is 0.
    pub fn is_zero(self) -> bool {
        self.digits == I256::ZERO
    }

    /// Whether this is below 0.
    pub fn is_negative(self) -> bool {
        self.digits < I256::ZERO
    }

    pub(super) fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        Some(Self { digits, places: self.places.checked_add(other.places)? })
    }

    pub(super) fn plus(self, other: Self) -> Option<Self> {
        let places = self.places.max(other.places);
        let raised = |value: Self| value.digits.checked_mul(power(places - value.places)?);
        Some(Self { digits: raised(self)?.checked_add(raised(other)?)?, places })
    }

    /// The value with 18 places.
    pub(super) fn to_dec(self) -> Result<Dec, ToDecError> {
        let ten = I256::from(10_u8);
        let (mut digits, mut places) = (self.digits, self.places);
        while places > 0 && digits % ten == I256::ZERO {
            digits /= ten;
            places -= 1;
        }
        let most = u32::try_from(Dec::PLACES).unwrap_or_default();
        let missing = most.checked_sub(places).ok_or(ToDecError::TooPrecise { places })?;
        power(missing)
            .and_then(|factor| digits.checked_mul(factor))
            .and_then(|scaled| i128::try_from(scaled).ok())
            .map(Dec::from_scaled)
            .ok_or(ToDecError::TooLarge)
    }
}

/// 10^exponent, if it fits.
fn power(exponent: u32) -> Option<I256> {
    I256::from(10_u8).checked_pow(exponent)
}

/// Why a text is not a decimal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    #[error("{text:?} is not a decimal number, as in 0.0001")]
    Malformed { text: String },
    #[error("{text:?} has more than 36 digits before or after the point")]
    TooLong { text: String },
}

/// Why a value has no form with 18 places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToDecError {
    TooPrecise { places: u32 },
    TooLarge,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn decimals_are_read_exactly() {
        for (text, digits, places) in [
            ("0", 0, 0),
            ("-0.000", 0, 0),
            ("1", 1, 0),
            ("+1.50", 15, 1),
            ("-0.25", -25, 2),
            (".5", 5, 1),
            ("5.", 5, 0),
            ("1e-4", 1, 4),
            ("12.5E2", 1250, 0),
            ("100", 100, 0),
            ("0.000000000000000000001", 1, 21),
        ] {
            assert_eq!(decimal(text), Decimal::new(digits, places), "{text}");
        }
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in
            ["", ".", "-", "1,5", "0x10", "1e", "1e1.5", "--1", "1 ", "NaN", "1e99999999999"]
        {
            assert!(matches!(Decimal::parse(text), Err(DecimalError::Malformed { .. })), "{text}");
        }
        for text in ["1e36", "1e-37", "1e2147483647", "1e-2147483648", &"1".repeat(37)] {
            assert!(matches!(Decimal::parse(text), Err(DecimalError::TooLong { .. })), "{text}");
        }
    }

    #[test]
    fn eighteen_places_are_the_most() {
        for (text, dec) in [
            ("0.1", Ok("0.1")),
            ("0.000000000000000001", Ok("0.000000000000000001")),
            ("0.0000000000000000010", Ok("0.000000000000000001")),
            ("0.0000000000000000011", Err(ToDecError::TooPrecise { places: 19 })),
            ("100000000000000000000", Ok("100000000000000000000")),
            ("1000000000000000000000", Err(ToDecError::TooLarge)),
        ] {
            assert_eq!(decimal(text).to_dec(), dec.map(|text| text.parse().unwrap()), "{text}");
        }
        let trailing = Decimal::new(10_i128.pow(20), 20);
        assert_eq!(trailing.to_dec(), Ok(Dec::ONE));
    }
}
