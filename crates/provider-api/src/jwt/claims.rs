//! What a token says, once its rules were found to hold.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_types::Address;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Scope;

/// The claims of a token. Whoever has one from [`Token::verify`](super::Token::verify) knows that
/// its issuer signed it and that it is valid now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Whose token it is: the owner of every lease it speaks of.
    pub issuer: Address,
    /// When it was made, in seconds since 1970.
    pub issued_at: i64,
    /// From when it is valid, in seconds since 1970.
    pub not_before: i64,
    /// When it ends, in seconds since 1970.
    pub expires_at: i64,
    /// What it allows.
    pub access: Access,
}

/// What a token allows with the leases of its issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everything, everywhere.
    Full,
    /// These things, with every lease at every provider.
    Scoped(Vec<Scope>),
    /// What each permission says, at the provider it names.
    Granular(Vec<Permission>),
}

/// What a token allows at one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// Which provider.
    pub provider: Address,
    /// What is allowed there.
    pub access: ProviderAccess,
}

/// What a token allows at one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderAccess {
    /// Everything.
    Full,
    /// These things, with every lease.
    Scoped(Vec<Scope>),
    /// What each grant says, with the deployment it names.
    Granular(Vec<DeploymentGrant>),
}

/// What a token allows with one deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentGrant {
    /// Which deployment.
    pub dseq: u64,
    /// Which group of it; absent for all.
    pub gseq: Option<u32>,
    /// Which order of the group; absent for all.
    pub oseq: Option<u32>,
    /// What is allowed.
    pub scope: Vec<Scope>,
    /// With which services; never empty.
    pub services: Vec<String>,
}

impl Claims {
    /// How long the tenant's own tools let a token live.
    pub const LIFETIME: Duration = Duration::from_mins(15);

    /// Claims of `issuer`, valid from `now` for `lifetime`.
    pub fn new(issuer: Address, access: Access, now: SystemTime, lifetime: Duration) -> Self {
        let issued_at = seconds(now);
        let lifetime = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        Self {
            issuer,
            issued_at,
            not_before: issued_at,
            expires_at: issued_at.saturating_add(lifetime),
            access,
        }
    }
}

/// Whole seconds since 1970.
pub(super) fn seconds(time: SystemTime) -> i64 {
    let whole = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => -whole(before.duration()),
    }
}

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
