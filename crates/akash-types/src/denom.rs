//! Denominations: the names of what is paid with, and the display units of the known ones.

use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use crate::causes::shortened;

/// The name of a coin, e.g. `uakt` or `ibc/170C67…`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display, derive_more::Debug)]
#[debug("Denom({})", self.0)]
#[display("{_0}")]
pub struct Denom(Arc<str>);

/// What nearly everything is paid in. Thousands of prices and balances share these names.
static COMMON: LazyLock<[Arc<str>; 2]> = LazyLock::new(|| ["uakt", "uact"].map(Arc::from));

impl Denom {
    /// Fewest and most characters (chain: `[a-zA-Z][a-zA-Z0-9/:._-]{2,127}`).
    pub const LENGTH: std::ops::RangeInclusive<usize> = 3..=128;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The micro unit this display unit belongs to, and how many of them it is worth.
    ///
    /// `None` for denominations without registered units. Chain: units `X`, `mX` and `uX` with
    /// exponents 0, 3 and 6 are registered for akt, act and usd.
    pub fn micro_unit(&self) -> Option<(Self, u64)> {
        let (prefix, name) = match self.as_str() {
            name @ ("akt" | "act" | "usd") => ("", name),
            other => other.split_at_checked(1)?,
        };
        let per_unit = match prefix {
            "" => 1_000_000,
            "m" => 1_000,
            "u" => 1,
            _ => return None,
        };
        let micro = match name {
            "akt" => "uakt",
            "act" => "uact",
            "usd" => "uusd",
            _ => return None,
        };
        Some((Self(Arc::from(micro)), per_unit))
    }
}

impl TryFrom<&str> for Denom {
    type Error = DenomError;

    fn try_from(text: &str) -> Result<Self, Self::Error> {
        if !Self::LENGTH.contains(&text.len()) {
            return Err(DenomError::Length { text: shortened(text), got: text.len() });
        }
        if !text.starts_with(|first: char| first.is_ascii_alphabetic()) {
            return Err(DenomError::FirstCharacter { text: text.to_owned() });
        }
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"/:._-".contains(&byte);
        if !text.bytes().all(allowed) {
            return Err(DenomError::Characters { text: text.to_owned() });
        }
        let common = COMMON.iter().find(|name| ***name == *text);
        Ok(Self(common.cloned().unwrap_or_else(|| Arc::from(text))))
    }
}

impl FromStr for Denom {
    type Err = DenomError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::try_from(text)
    }
}

/// Why a text is not a [`Denom`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DenomError {
    /// Too short or too long.
    #[error("denomination {text:?} has {got} characters, expected 3 to 128")]
    Length {
        /// The text, shortened.
        text: String,
        /// Its length in bytes.
        got: usize,
    },
    /// Does not start with a letter.
    #[error("denomination {text:?} must start with a letter a-z or A-Z")]
    FirstCharacter {
        /// The text.
        text: String,
    },
    /// Holds something that is not allowed.
    #[error("denomination {text:?} may hold only letters, digits and / : . _ -")]
    Characters {
        /// The text.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_seen_on_chain_are_accepted() {
        let longest = format!("a{}", "b".repeat(127));
        for text in [
            "uakt",
            "uact",
            "akt",
            "ibc/170C677610AC31DF0904FFE09CD3B5C657492170E7E52372E48756B71E56F2F1",
            "Factory:x.y_z-1",
            &longest,
        ] {
            assert_eq!(text.parse::<Denom>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let too_long = format!("a{}", "b".repeat(128));
        for text in ["", "ab", &too_long] {
            let error = text.parse::<Denom>().unwrap_err();
            assert!(matches!(error, DenomError::Length { .. }), "{error}");
        }
        for text in ["1akt", "/akt", "-akt", "ßakt"] {
            let error = text.parse::<Denom>().unwrap_err();
            assert!(matches!(error, DenomError::FirstCharacter { .. }), "{error}");
        }
        for text in ["ak t", "akt\n", "aktß", "a+kt"] {
            let error = text.parse::<Denom>().unwrap_err();
            assert!(matches!(error, DenomError::Characters { .. }), "{error}");
        }
    }

    #[test]
    fn registered_units_lead_to_their_micro_unit() {
        for (text, micro, per_unit) in [
            ("akt", "uakt", 1_000_000),
            ("makt", "uakt", 1_000),
            ("uakt", "uakt", 1),
            ("act", "uact", 1_000_000),
            ("mact", "uact", 1_000),
            ("uact", "uact", 1),
            ("usd", "uusd", 1_000_000),
            ("musd", "uusd", 1_000),
            ("uusd", "uusd", 1),
        ] {
            let denom: Denom = text.parse().unwrap();
            assert_eq!(denom.micro_unit(), Some((micro.parse().unwrap(), per_unit)));
        }
        for text in ["nakt", "AKT", "uaktx", "mmakt", "eur", "ibc/akt"] {
            assert_eq!(text.parse::<Denom>().unwrap().micro_unit(), None);
        }
    }
}
