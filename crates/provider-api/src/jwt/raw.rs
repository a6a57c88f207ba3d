//! A token's JSON as it travels: types are right, rules are not looked at.
//!
//! Unknown members are ignored, `null` is as good as absent: that is how the existing provider
//! reads tokens, and clients have come to rely on it.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The header.
#[derive(Debug, Deserialize)]
pub(super) struct RawHeader {
    pub alg: Option<String>,
    pub crit: Option<serde::de::IgnoredAny>,
}

/// The claims, in the order in which they are written.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct RawClaims {
    pub iss: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iat: Option<Seconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nbf: Option<Seconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp: Option<Seconds>,
    pub version: Option<String>,
    pub leases: Option<RawLeases>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct RawLeases {
    pub access: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<RawPermission>>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct RawPermission {
    pub provider: Option<String>,
    pub access: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployments: Option<Vec<RawDeployment>>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct RawDeployment {
    pub dseq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gseq: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oseq: Option<u32>,
    pub scope: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub services: Option<Vec<String>>,
}

/// A moment in seconds since 1970: a number, also a fractional or a quoted one. Fractions are
/// dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seconds(pub i64);

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecondsVisitor)
    }
}

struct SecondsVisitor;

impl Visitor<'_> for SecondsVisitor {
    type Value = Seconds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seconds since 1970")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Seconds, E> {
        Ok(Seconds(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Seconds, E> {
        Ok(Seconds(i64::try_from(value).unwrap_or(i64::MAX)))
    }

    #[expect(clippy::cast_possible_truncation, reason = "beyond its range it saturates")]
    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Seconds, E> {
        Ok(Seconds(value.trunc() as i64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Seconds, E> {
        let number: serde_json::Number = serde_json::from_str(text).map_err(E::custom)?;
        match (number.as_i64(), number.as_f64()) {
            (Some(value), _) => self.visit_i64(value),
            (None, Some(value)) => self.visit_f64(value),
            (None, None) => Err(E::custom("a number out of range")),
        }
    }
}
