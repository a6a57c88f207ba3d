//! Decimals with 18 places, as the chain counts money.
//!
//! Every rounding is the one of cosmos `LegacyDec`: a price computed here and on chain must agree
//! in the last digit. Knows nothing of denominations, and never touches a float.

use std::fmt;
use std::str::FromStr;

use ethnum::I256;

use crate::causes::shortened;

/// A signed decimal with exactly 18 places after the point.
///
/// Holds the value × 10^18 in 128 bits, so up to about 1.7 × 10^20 whole units. The chain allows
/// 2^256; all micro-AKT ever to exist are under 4 × 10^14, and whatever is larger than we hold is
/// an error where it is read.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Debug)]
#[debug("Dec({self})")]
pub struct Dec(i128);

/// 10^18: the scale of [`Dec`] (chain: `LegacyPrecision`).
const ONE: i128 = 1_000_000_000_000_000_000;

impl Dec {
    /// Digits after the point.
    pub const PLACES: usize = 18;

    /// 0.
    pub const ZERO: Self = Self(0);

    /// 1.
    pub const ONE: Self = Self(ONE);

    /// The whole number `value`; always fits.
    pub const fn from_int(value: u64) -> Self {
        // u64::MAX × 10^18 is under 2^124.
        Self((value as i128) * ONE)
    }

    /// The whole number `value`, if it fits.
    pub const fn checked_from_int(value: i128) -> Option<Self> {
        match value.checked_mul(ONE) {
            Some(scaled) => Some(Self(scaled)),
            None => None,
        }
    }

    /// The value `scaled` ÷ 10^18.
    pub const fn from_scaled(scaled: i128) -> Self {
        Self(scaled)
    }

    /// The value × 10^18.
    pub const fn scaled(self) -> i128 {
        self.0
    }

    /// Text of a protobuf field: the digits of the value × 10^18.
    pub fn to_wire(self) -> String {
        self.0.to_string()
    }

    /// Reads the text of a protobuf field, written by [`Dec::to_wire`] or by the chain.
    ///
    /// An empty text is zero: it is how an absent field reads.
    pub fn from_wire(text: &str) -> Result<Self, DecError> {
        if text.is_empty() {
            return Ok(Self::ZERO);
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        // Go reads these fields with the base taken from the prefix: `010` would be 8 and `0x10`
        // would be 16. The chain never writes either, so neither is accepted.
        let canonical = !digits.is_empty()
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && (!digits.starts_with('0') || text == "0");
        if !canonical {
            return Err(DecError::Wire { text: shortened(text) });
        }
        text.parse().map(Self).map_err(|_| DecError::TooLarge { text: shortened(text) })
    }

    /// Whether this is 0.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether this is below 0.
    pub const fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Whether this is above 0.
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// The whole part, rounded towards zero.
    pub const fn truncate_int(self) -> i128 {
        self.0 / ONE
    }

    /// −self.
    pub const fn checked_neg(self) -> Option<Self> {
        match self.0.checked_neg() {
            Some(scaled) => Some(Self(scaled)),
            None => None,
        }
    }

    /// self + other.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(scaled) => Some(Self(scaled)),
            None => None,
        }
    }

    /// self − other.
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        match self.0.checked_sub(other.0) {
            Some(scaled) => Some(Self(scaled)),
            None => None,
        }
    }

    /// self × other, rounded half to even (chain: `LegacyDec.Mul`).
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        // |i128| × |i128| is at most 2^254.
        narrow(chop_half_to_even(I256::from(self.0) * I256::from(other.0)))
    }

    /// self × a whole number; exact.
    pub const fn checked_mul_int(self, factor: i128) -> Option<Self> {
        match self.0.checked_mul(factor) {
            Some(scaled) => Some(Self(scaled)),
            None => None,
        }
    }

    /// self ÷ divisor, rounded half to even at the 18th place after cutting at the 36th (chain:
    /// `LegacyDec.Quo`). `None` also when the divisor is zero.
    pub fn checked_quo(self, divisor: Self) -> Option<Self> {
        // 2^127 × 10^36 is under 2^247.
        let scaled = I256::from(self.0) * I256::from(ONE) * I256::from(ONE);
        narrow(chop_half_to_even(scaled.checked_div(I256::from(divisor.0))?))
    }

    /// self ÷ divisor, rounded towards zero (chain: `LegacyDec.QuoTruncate`). `None` also when the
    /// divisor is zero.
    pub fn checked_quo_truncate(self, divisor: Self) -> Option<Self> {
        let scaled = I256::from(self.0) * I256::from(ONE);
        narrow(scaled.checked_div(I256::from(divisor.0))?)
    }
}

/// Divides by 10^18, rounding half to even.
fn chop_half_to_even(value: I256) -> I256 {
    let one = I256::from(ONE);
    let (quotient, remainder) = (value / one, value % one);
    let twice = remainder.abs() * I256::new(2);
    let odd = quotient % I256::new(2) != I256::ZERO;
    if twice > one || (twice == one && odd) { quotient + value.signum() } else { quotient }
}

fn narrow(value: I256) -> Option<Dec> {
    i128::try_from(value).ok().map(Dec)
}

impl From<u64> for Dec {
    fn from(value: u64) -> Self {
        Self::from_int(value)
    }
}

impl FromStr for Dec {
    type Err = DecError;

    /// Reads `-123.456`: the rules of Go's `LegacyNewDecFromStr`, except that a second sign
    /// (`--5`, which Go reads as 5) is refused.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (negative, unsigned) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or_default()),
            Some(b'+') => (false, text.get(1..).unwrap_or_default()),
            _ => (false, text),
        };
        if unsigned.is_empty() {
            return Err(DecError::Empty);
        }
        let (whole, places) = match unsigned.split_once('.') {
            Some((whole, places)) if whole.is_empty() || places.is_empty() => {
                return Err(DecError::BarePoint { text: shortened(text) });
            }
            Some((whole, places)) => (whole, places),
            None => (unsigned, ""),
        };
        if !whole.bytes().chain(places.bytes()).all(|byte| byte.is_ascii_digit()) {
            return Err(DecError::NotDecimal { text: shortened(text) });
        }
        if places.len() > Self::PLACES {
            return Err(DecError::TooPrecise { text: shortened(text), places: places.len() });
        }
        let padding = std::iter::repeat_n(b'0', Self::PLACES - places.len());
        whole
            .bytes()
            .chain(places.bytes())
            .chain(padding)
            .try_fold(0_i128, |scaled, byte| {
                let digit = i128::from(byte - b'0');
                let digit = if negative { -digit } else { digit };
                scaled.checked_mul(10)?.checked_add(digit)
            })
            .map(Self)
            .ok_or_else(|| DecError::TooLarge { text: shortened(text) })
    }
}

impl fmt::Display for Dec {
    /// Always 18 places, as in every JSON form of the chain.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = ONE.unsigned_abs();
        let magnitude = self.0.unsigned_abs();
        let digits = format!("{}.{:018}", magnitude / scale, magnitude % scale);
        f.pad_integral(!self.is_negative(), "", &digits)
    }
}

/// Why a text is not a [`Dec`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecError {
    /// There are no digits.
    #[error("a decimal needs at least one digit, the text is empty")]
    Empty,
    /// The point has no digits on one side.
    #[error("decimal {text:?} has a leading or trailing point; digits are needed on both sides")]
    BarePoint {
        /// The text, shortened.
        text: String,
    },
    /// There is something else than digits and one point.
    #[error("decimal {text:?} may hold only a sign, digits and one point (no exponent)")]
    NotDecimal {
        /// The text, shortened.
        text: String,
    },
    /// There are more places than the chain keeps.
    #[error("decimal {text:?} has {places} digits after the point, at most 18 are kept")]
    TooPrecise {
        /// The text, shortened.
        text: String,
        /// Digits after the point.
        places: usize,
    },
    /// The wire text is not the canonical integer form.
    #[error("decimal field holds {text:?}, expected the plain base-10 digits of value × 10^18")]
    Wire {
        /// The text, shortened.
        text: String,
    },
    /// The value does not fit.
    #[error("decimal {text:?} is too large, at most about 1.7 × 10^20 is held")]
    TooLarge {
        /// The text, shortened.
        text: String,
    },
}

#[cfg(test)]
mod tests;
