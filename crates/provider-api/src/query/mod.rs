//! Parameters of queries: how they are read from a request and written into one.
//!
//! Reading follows Go's rules and says what is wrong in Go's words, because clients show them.

mod shell;
mod stream;

pub use shell::ShellParams;
pub use stream::{StreamParams, StreamParamsError};

use percent_encoding::{percent_decode_str, utf8_percent_encode};

use crate::path::ESCAPED;

/// A query, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Takes `text`, what stands behind the `?`, apart. There is nothing that it would refuse.
    pub fn parse(text: &str) -> Self {
        let decode = |part: &str| {
            let spaced = part.replace('+', " ");
            percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key), decode(value))
        });
        Self(pairs.collect())
    }

    /// The first value of `key`; empty if there is none.
    pub fn get(&self, key: &str) -> &str {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// Adds a value.
    pub fn add(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.0.push((key.into(), value.into()));
    }

    /// As it stands behind a `?`.
    pub fn to_text(&self) -> String {
        let escape = |part: &str| utf8_percent_encode(part, ESCAPED).to_string();
        let pairs = self.0.iter().map(|(key, value)| format!("{}={}", escape(key), escape(value)));
        pairs.collect::<Vec<_>>().join("&")
    }
}

/// Longest text that is shown back.
const SHOWN: usize = 64;

/// Why a text is no such number, in Go's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// It is none.
    #[error("strconv.{function}: parsing {}: invalid syntax", quoted(.text))]
    Syntax {
        /// What Go would have read it with.
        function: &'static str,
        /// What was given.
        text: String,
    },
    /// It is too large, or too small.
    #[error("strconv.{function}: parsing {}: value out of range", quoted(.text))]
    Range {
        /// What Go would have read it with.
        function: &'static str,
        /// What was given.
        text: String,
    },
}

impl NumberError {
    fn syntax(function: &'static str, text: &str) -> Self {
        Self::Syntax { function, text: text.to_owned() }
    }

    fn range(function: &'static str, text: &str) -> Self {
        Self::Range { function, text: text.to_owned() }
    }
}

/// A decimal number of a deployment.
pub fn parse_u64(text: &str) -> Result<u64, NumberError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberError::syntax("ParseUint", text));
    }
    text.parse().map_err(|_| NumberError::range("ParseUint", text))
}

/// A decimal number of a group or an order.
pub fn parse_u32(text: &str) -> Result<u32, NumberError> {
    u32::try_from(parse_u64(text)?).map_err(|_| NumberError::range("ParseUint", text))
}

/// A signed decimal number of 32 bits.
fn parse_i32(text: &str) -> Result<i32, NumberError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberError::syntax("ParseInt", text));
    }
    text.parse().map_err(|_| NumberError::range("ParseInt", text))
}

/// A number below 2^31 that says its base, as Go's literals do.
fn parse_based_u31(text: &str) -> Option<u32> {
    let lower = text.to_ascii_lowercase();
    let (digits, radix) = match lower.as_bytes() {
        [b'0', b'x', ..] => (lower.get(2..)?, 16),
        [b'0', b'b', ..] => (lower.get(2..)?, 2),
        [b'0', b'o', ..] => (lower.get(2..)?, 8),
        [b'0', _, ..] => (lower.get(1..)?, 8),
        _ => (lower.as_str(), 10),
    };
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return None;
    }
    u32::from_str_radix(digits, radix).ok().filter(|number| *number < 1 << 31)
}

/// In quotes, and cut where no number is that long.
fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN).collect();
    let dots = if cut.len() < text.len() { "…" } else { "" };
    format!("\"{}{dots}\"", cut.escape_debug())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_of_several_values_counts() {
        let query = Query::parse("a=1&a=2&b&c=%20x+y&=z");
        assert_eq!(query.get("a"), "1");
        assert_eq!(query.get("b"), "");
        assert_eq!(query.get("c"), " x y");
        assert_eq!(query.get("d"), "");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_the_same(pairs: Vec<(String, String)>) {
            let query = Query(pairs);
            prop_assert_eq!(Query::parse(&query.to_text()), query);
        }
    }

    #[test]
    fn mistakes_are_told_as_recorded() {
        let said = |text: &str| parse_u64(text).unwrap_err().to_string();
        assert_eq!(said("xyz"), r#"strconv.ParseUint: parsing "xyz": invalid syntax"#);
        assert_eq!(said("+1"), r#"strconv.ParseUint: parsing "+1": invalid syntax"#);
        assert_eq!(
            parse_u32("99999999999").unwrap_err().to_string(),
            r#"strconv.ParseUint: parsing "99999999999": value out of range"#
        );
        assert_eq!(
            parse_i32("x").unwrap_err().to_string(),
            r#"strconv.ParseInt: parsing "x": invalid syntax"#
        );
        assert_eq!(
            parse_i32("2147483648").unwrap_err().to_string(),
            r#"strconv.ParseInt: parsing "2147483648": value out of range"#
        );
    }

    #[test]
    fn numbers_are_read() {
        assert_eq!(parse_u64("0"), Ok(0));
        assert_eq!(parse_u64("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse_i32("-1"), Ok(-1));
        assert_eq!(parse_i32("+7"), Ok(7));
    }

    #[test]
    fn a_base_may_be_said() {
        for (text, number) in
            [("0", Some(0)), ("12", Some(12)), ("0x1F", Some(31)), ("0b101", Some(5))]
        {
            assert_eq!(parse_based_u31(text), number, "{text}");
        }
        assert_eq!(parse_based_u31("017"), Some(15));
        assert_eq!(parse_based_u31("0o17"), Some(15));
        for wrong in ["", "-1", "+1", "0x", "0x+1", "09", "2147483648", "a"] {
            assert_eq!(parse_based_u31(wrong), None, "{wrong}");
        }
    }
}
