//! Which hostnames are served at all.
//!
//! A name becomes the name of an object, a rule of an HTTP server and, with some controllers, a line
//! of its configuration. So it has to be a plain DNS name, whoever wrote the `ProviderHost`.

use provider_engine::manifest::{BlockedBy, BlockedHostnames};

/// Characters in a name, and in each of its labels.
const LONGEST: (usize, usize) = (253, 63);

/// Why a hostname is not served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is none.
    #[error("the hostname is empty: name one")]
    Empty,
    /// It is too long.
    #[error("the hostname has {length} characters: at most 253 are allowed")]
    TooLong {
        /// How long it is.
        length: usize,
    },
    /// It is a pattern.
    #[error("{host:?} is a pattern: name each hostname")]
    Pattern {
        /// The hostname.
        host: String,
    },
    /// Two dots in a row, or one at either end.
    #[error("{host:?} has an empty part: two dots in a row, or one at either end")]
    EmptyLabel {
        /// The hostname.
        host: String,
    },
    /// A part is too long.
    #[error("{label:?} is longer than the 63 characters that a part of a hostname may have")]
    LongLabel {
        /// The part.
        label: String,
    },
    /// A part has other characters than a hostname may have.
    #[error(
        "{label:?} is no part of a hostname: it takes a-z, 0-9 and -, not at either end; other \
         letters are written in their xn-- form"
    )]
    Label {
        /// The part.
        label: String,
    },
    /// The operator of the cluster keeps it.
    #[error("{host:?} is blocked by this provider: take another hostname")]
    Blocked {
        /// The hostname.
        host: String,
        /// By what.
        by: BlockedBy,
    },
}

/// Whether a hostname is served.
///
/// # Errors
///
/// When it is not, and why.
pub fn check(host: &str, blocked: &BlockedHostnames) -> Result<(), NameError> {
    let (whole, part) = LONGEST;
    if host.is_empty() {
        return Err(NameError::Empty);
    }
    let length = host.chars().count();
    if length > whole {
        return Err(NameError::TooLong { length });
    }
    if host.contains('*') {
        return Err(NameError::Pattern { host: host.to_owned() });
    }
    for label in host.split('.') {
        if label.is_empty() {
            return Err(NameError::EmptyLabel { host: host.to_owned() });
        }
        if label.chars().count() > part {
            return Err(NameError::LongLabel { label: label.to_owned() });
        }
        let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if !label.bytes().all(is_plain) || label.starts_with('-') || label.ends_with('-') {
            return Err(NameError::Label { label: label.to_owned() });
        }
    }
    match blocked.blocks(host) {
        Some(by) => Err(NameError::Blocked { host: host.to_owned(), by }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(host: &str) -> Option<String> {
        let blocked = BlockedHostnames::new(["mine.example.com", ".evil.example"]);
        check(host, &blocked).err().map(|error| error.to_string())
    }

    #[test]
    fn plain_names_are_served() {
        let long = format!("{}.example.com", "a".repeat(63));
        for host in ["example.com", "a.b-c.example", "xn--bcher-kva.example", "localhost", &long] {
            assert_eq!(why(host), None, "{host}");
        }
    }

    #[test]
    fn hostile_names_are_refused_with_the_reason() {
        let (long, label) = (["abcdefgh."; 30].concat() + "com", "a".repeat(64));
        for (host, words) in [
            ("", "empty"),
            (long.as_str(), "273 characters"),
            (label.as_str(), "63 characters"),
            ("a..example.com", "empty part"),
            (".example.com", "empty part"),
            ("example.com.", "empty part"),
            ("..", "empty part"),
            ("../../etc", "empty part"),
            ("*.example.com", "pattern"),
            ("bücher.example", "xn--"),
            ("еxample.com", "xn--"),
            ("Example.com", "a-z"),
            ("a_b.example", "a-z"),
            ("-a.example", "a-z"),
            ("a-.example", "a-z"),
            ("a;return 200;.example", "a-z"),
            ("a b.example", "a-z"),
            ("a\nb.example", "a-z"),
            ("mine.example.com", "blocked"),
            ("x.evil.example", "blocked"),
        ] {
            let said = why(host).unwrap_or_default();
            assert!(said.contains(words), "{host:?}: {said}");
        }
    }
}
