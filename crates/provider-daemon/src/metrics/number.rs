//! Exact values, without floats.

use std::fmt;
use std::time::Duration;

/// A number with a few decimal places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    units: i128,
    places: u32,
}

impl Number {
    pub(super) const fn thousandths(units: i64) -> Self {
        Self { units: units as i128, places: 3 }
    }

    pub(super) fn seconds(duration: Duration) -> Self {
        Self { units: i128::try_from(duration.as_micros()).unwrap_or(i128::MAX), places: 6 }
    }
}

macro_rules! whole {
    ($($kind:ty),*) => {$(
        impl From<$kind> for Number {
            fn from(number: $kind) -> Self {
                Self { units: i128::try_from(number).unwrap_or(i128::MAX), places: 0 }
            }
        }
    )*};
}

whole!(u32, u64, u128, usize, i64);

impl From<bool> for Number {
    fn from(yes: bool) -> Self {
        Self { units: i128::from(yes), places: 0 }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = 10_u128.saturating_pow(self.places);
        let (whole, part) = (self.units.unsigned_abs() / scale, self.units.unsigned_abs() % scale);
        if self.units < 0 {
            f.write_str("-")?;
        }
        write!(f, "{whole}")?;
        if part == 0 {
            return Ok(());
        }
        let places = self.places as usize;
        let digits = format!("{part:0places$}");
        write!(f, ".{}", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_short() {
        for (number, text) in [
            (Number::from(0_u64), "0"),
            (Number::from(u128::MAX), "170141183460469231731687303715884105727"),
            (Number::from(true), "1"),
            (Number::thousandths(31_850), "31.85"),
            (Number::thousandths(2), "0.002"),
            (Number::thousandths(-1_500), "-1.5"),
            (Number::thousandths(-4_000), "-4"),
            (Number::seconds(Duration::from_micros(1_000_001)), "1.000001"),
        ] {
            assert_eq!(number.to_string(), text);
        }
    }
}
