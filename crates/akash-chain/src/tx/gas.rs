//! How much gas a transaction is given.

use std::fmt;
use std::str::FromStr;

/// By how much the gas limit exceeds what simulation used.
///
/// The one float of this crate: Go multiplies float64, and a limit that differs in its last digit
/// would differ in the fee.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub struct GasAdjustment(f64);

impl Default for GasAdjustment {
    /// 1.5, as in Go.
    fn default() -> Self {
        Self(1.5)
    }
}

impl GasAdjustment {
    /// The gas limit for a transaction whose simulation used `used`: the product in float64,
    /// truncated.
    pub fn apply(self, used: u64) -> Result<u64, GasError> {
        #[expect(clippy::cast_precision_loss, reason = "Go's float64(used) rounds the same way")]
        let limit = (self.0 * used as f64).trunc();
        // The chain holds gas in 63 bits; 2^63 is exact as a float.
        const TOO_MUCH: f64 = 9_223_372_036_854_775_808.0;
        if limit >= TOO_MUCH {
            return Err(GasError::TooMuch { used, adjustment: self });
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, not negative and under 2^63"
        )]
        Ok(limit as u64)
    }
}

impl FromStr for GasAdjustment {
    type Err = GasError;

    /// Reads a decimal as in `1.5`; it is above zero.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        match text.parse::<f64>() {
            Ok(value) if digits && value.is_finite() && value > 0.0 => Ok(Self(value)),
            _ => Err(GasError::NotAnAdjustment { text: text.chars().take(64).collect() }),
        }
    }
}

impl fmt::Display for GasAdjustment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for GasAdjustment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GasAdjustment({self})")
    }
}

/// Why there is no gas limit.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GasError {
    /// Not a factor.
    #[error("gas adjustment {text:?} must be a decimal above zero, as in 1.5")]
    NotAnAdjustment {
        /// The text, shortened.
        text: String,
    },
    /// More than a transaction can have.
    #[error("gas {used} times {adjustment} is more than any transaction can have")]
    TooMuch {
        /// What simulation used.
        used: u64,
        /// By how much it is multiplied.
        adjustment: GasAdjustment,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn limits_are_those_of_go() {
        // 1.1 × 10 is 11.000000000000002 in float64, 1.15 × 100 is 114.99999999999999.
        for (adjustment, used, limit) in [
            ("1.5", 123_871, 185_806),
            ("1.1", 10, 11),
            ("1.15", 100, 114),
            ("1.3", 10, 13),
            ("2.3", 100, 229),
            ("1", u64::MAX >> 12, u64::MAX >> 12),
            ("1", (1 << 53) + 1, 1 << 53),
            ("0.5", 3, 1),
            ("1.5", 0, 0),
        ] {
            let gas = adjustment.parse::<GasAdjustment>().unwrap().apply(used);
            assert_eq!(gas, Ok(limit), "{adjustment} × {used}");
        }
        assert!(GasAdjustment::default().apply(u64::MAX).is_err());
        assert!(GasAdjustment(1.0).apply(1 << 63).is_err());
    }

    #[test]
    fn only_decimals_above_zero_are_adjustments() {
        for text in ["", ".", "0", "0.0", "-1", "nan", "inf", "1e3", "0x1", "1,5", " 1", "1.5.1"] {
            assert!(text.parse::<GasAdjustment>().is_err(), "{text:?}");
        }
    }

    proptest! {
        /// Against exact integers: within the gas that exists, float64 is off by less than one.
        #[test]
        fn float_and_exact_differ_by_at_most_one(
            thousandths in 1u64..10_000,
            used in 0u64..10_000_000_000,
        ) {
            let text = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
            let limit = text.parse::<GasAdjustment>().unwrap().apply(used).unwrap();
            let exact = used * thousandths / 1000;
            prop_assert!(limit.abs_diff(exact) <= 1, "{} {}", limit, exact);
        }
    }
}
