//! Attributes: what providers offer and tenants ask for, as key and value.
//!
//! Knows nothing of who offers or asks; that is `placement` and `capability`.

use std::collections::BTreeSet;

use crate::causes::shortened;
pub use crate::glob::glob_match;

/// A key with a value, as found on chain. The key of a requirement is a pattern, and the chain
/// does not check it: use [`validate`] where one is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Attribute {
    /// The name, or in a requirement a glob over names.
    pub key: String,
    /// The value; compared as text.
    pub value: String,
}

impl Attribute {
    /// The attribute `key` = `value`.
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into() }
    }

    /// Whether `offered` satisfies this requirement: its key matches ours as a glob and the values
    /// are equal.
    pub fn is_met_by(&self, offered: &Self) -> bool {
        self.value == offered.value && glob_match(&self.key, &offered.key)
    }
}

/// Value of the attribute with exactly this key; the first one, if the key occurs twice.
pub fn find<'a>(attributes: &'a [Attribute], key: &str) -> Option<&'a str> {
    attributes.iter().find(|attribute| attribute.key == key).map(|found| found.value.as_str())
}

/// Whether every required attribute is met by some offered one.
pub fn is_subset(required: &[Attribute], offered: &[Attribute]) -> bool {
    required.iter().all(|need| offered.iter().any(|offer| need.is_met_by(offer)))
}

/// Whether at least one required attribute is met by some offered one.
pub fn is_any_met(required: &[Attribute], offered: &[Attribute]) -> bool {
    required.iter().any(|need| offered.iter().any(|offer| need.is_met_by(offer)))
}

/// Checks the key of a requirement or of a resource: chain regex
/// `^([a-zA-Z][\w\/\.\-]{1,126}[\w\*]?)$`, that is a letter, then word characters and `/ . -`, and
/// at the end perhaps a `*`.
pub fn check_key(key: &str) -> Result<(), AttributeError> {
    let malformed = || AttributeError::Key { key: shortened(key) };
    let (first, tail) = key.split_at_checked(1).ok_or_else(malformed)?;
    // `[\w*]?` at the end adds a star, or a 128th character that is not punctuation.
    let middle = match tail.strip_suffix('*') {
        Some(middle) => middle,
        None if tail.len() == MAX_TAIL + 1 => {
            let (middle, last) = tail.split_at_checked(MAX_TAIL).ok_or_else(malformed)?;
            if !last.bytes().all(is_word) {
                return Err(malformed());
            }
            middle
        }
        None => tail,
    };
    if starts_and_goes_on(first, middle) { Ok(()) } else { Err(malformed()) }
}

/// Checks the key of an attribute that a provider registers: chain regex
/// `^([a-zA-Z][\w\/\.\-]{1,126})$`.
pub fn check_provider_key(key: &str) -> Result<(), AttributeError> {
    match key.split_at_checked(1) {
        Some((first, tail)) if starts_and_goes_on(first, tail) => Ok(()),
        _ => Err(AttributeError::ProviderKey { key: shortened(key) }),
    }
}

/// Checks the attributes of a requirement or of a resource: every key by [`check_key`], none twice.
pub fn validate(attributes: &[Attribute]) -> Result<(), AttributeError> {
    validate_with(attributes, check_key)
}

/// Checks the attributes that a provider registers: every key by [`check_provider_key`], none
/// twice.
pub fn validate_provider(attributes: &[Attribute]) -> Result<(), AttributeError> {
    validate_with(attributes, check_provider_key)
}

fn validate_with(
    attributes: &[Attribute],
    check: fn(&str) -> Result<(), AttributeError>,
) -> Result<(), AttributeError> {
    let mut seen = BTreeSet::new();
    for Attribute { key, .. } in attributes {
        check(key)?;
        if !seen.insert(key) {
            return Err(AttributeError::Duplicate { key: key.clone() });
        }
    }
    Ok(())
}

/// Most characters of `[\w\/\.\-]{1,126}`.
const MAX_TAIL: usize = 126;

fn starts_and_goes_on(first: &str, tail: &str) -> bool {
    first.bytes().all(|byte| byte.is_ascii_alphabetic())
        && (1..=MAX_TAIL).contains(&tail.len())
        && tail.bytes().all(|byte| is_word(byte) || b"/.-".contains(&byte))
}

/// `\w` of Go regular expressions: ASCII only.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Why a list of attributes is not acceptable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttributeError {
    /// A key of a requirement or resource is malformed.
    #[error(
        "attribute key {key:?} must be a letter, then 1 to 126 letters, digits, _ / . or -, \
         then perhaps a *"
    )]
    Key {
        /// The key, shortened.
        key: String,
    },
    /// A key of a provider's attribute is malformed.
    #[error(
        "provider attribute key {key:?} must be a letter, then 1 to 126 letters, digits, _ / . or -"
    )]
    ProviderKey {
        /// The key, shortened.
        key: String,
    },
    /// A key occurs twice.
    #[error("attributes cannot have duplicate keys: {key:?}")]
    Duplicate {
        /// The key.
        key: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attributes(pairs: &[(&str, &str)]) -> Vec<Attribute> {
        pairs.iter().map(|(key, value)| Attribute::new(*key, *value)).collect()
    }

    #[test]
    fn keys_follow_the_regexes_of_the_chain() {
        let a127 = "a".repeat(127);
        let a128 = "a".repeat(128);
        let a129 = "a".repeat(129);
        let star128 = format!("{a127}*");
        let star129 = format!("{a128}*");
        let slash127 = format!("{}/", "a".repeat(126));
        let slash128 = format!("{a127}/");
        for (key, general, provider) in [
            ("", false, false),
            ("a", false, false),
            ("ab", true, true),
            ("a1", true, true),
            ("a_", true, true),
            ("a/", true, true),
            ("a*", false, false),
            ("ab*", true, false),
            ("ab**", false, false),
            ("a*b", false, false),
            ("*ab", false, false),
            ("1ab", false, false),
            ("_ab", false, false),
            ("/ab", false, false),
            ("a b", false, false),
            ("ab\n", false, false),
            ("ä1", false, false),
            ("aä", false, false),
            ("vendor/nvidia/model/*", true, false),
            ("vendor/nvidia/model/a100/ram/80Gi", true, true),
            ("capabilities/storage/1/class", true, true),
            ("tee/type", true, true),
            ("x.y-z", true, true),
            (&a127, true, true),
            (&a128, true, false),
            (&a129, false, false),
            (&star128, true, false),
            (&star129, false, false),
            (&slash127, true, true),
            (&slash128, false, false),
        ] {
            assert_eq!(check_key(key).is_ok(), general, "{key:?}");
            assert_eq!(check_provider_key(key).is_ok(), provider, "{key:?} of a provider");
        }
    }

    #[test]
    fn errors_name_the_key() {
        let error = validate(&attributes(&[("ok", "1"), ("no good", "2")])).unwrap_err();
        assert!(error.to_string().contains("\"no good\""));
        let error = validate(&attributes(&[("ok", "1"), ("ok", "2")])).unwrap_err();
        assert_eq!(error.to_string(), "attributes cannot have duplicate keys: \"ok\"");
        let error = validate_provider(&attributes(&[("ok*", "1")])).unwrap_err();
        assert!(matches!(error, AttributeError::ProviderKey { .. }));
        assert_eq!(validate(&[]), Ok(()));
    }

    #[test]
    fn a_requirement_is_a_glob_over_keys_and_an_exact_value() {
        let offered = attributes(&[("region", "us-west"), ("model/a100", "true")]);
        for (required, subset, any) in [
            (attributes(&[]), true, false),
            (attributes(&[("region", "us-west")]), true, true),
            (attributes(&[("region", "us-*")]), false, false),
            (attributes(&[("reg*", "us-west")]), true, true),
            (attributes(&[("model/*", "true"), ("region", "us-west")]), true, true),
            (attributes(&[("model/*", "true"), ("region", "eu")]), false, true),
            (attributes(&[("*", "true")]), false, false),
            (attributes(&[("[", "us-west")]), false, false),
        ] {
            assert_eq!(is_subset(&required, &offered), subset, "{required:?}");
            assert_eq!(is_any_met(&required, &offered), any, "{required:?}");
        }
    }

    #[test]
    fn find_takes_the_first_of_equal_keys() {
        let list = attributes(&[("class", "beta1"), ("class", "beta2")]);
        assert_eq!(find(&list, "class"), Some("beta1"));
        assert_eq!(find(&list, "clas"), None);
    }
}
