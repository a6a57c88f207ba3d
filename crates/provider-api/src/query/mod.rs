//! Parameters of queries: how they are read from a request and written into one.
//!
//! Reading follows Go's rules and says what is wrong in Go's words, because clients show them.

mod number;
mod shell;
mod stream;

pub use number::{NumberError, parse_u32, parse_u64};
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
}
