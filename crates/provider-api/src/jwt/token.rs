//! A token as it was received.

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_keys::{PublicKey, SecretKey};
use akash_types::{Address, AddressError};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{ClaimsError, Scope, rules};

/// A token that could be read. Nothing it says has been checked.
#[derive(Debug)]
pub struct Token<'a> {
    algorithm: Algorithm,
    issuer: Address,
    claims: RawClaims,
    /// Header and claims, with the dot between.
    text: &'a str,
    signature: Vec<u8>,
}

impl<'a> Token<'a> {
    /// Reads a token in its compact form.
    pub fn parse(token: &'a str) -> Result<Self, Malformed> {
        let (text, signature) = token.rsplit_once('.').ok_or(Malformed::Parts)?;
        let (header, payload) = text.split_once('.').ok_or(Malformed::Parts)?;
        if payload.contains('.') {
            return Err(Malformed::Parts);
        }
        let claims: RawClaims = json(payload, "claims")?;
        let header: RawHeader = json(header, "header")?;
        if header.crit.is_some() {
            return Err(Malformed::Critical);
        }
        let algorithm = header.alg.as_deref().and_then(Algorithm::named);
        let algorithm = algorithm.ok_or(Malformed::Algorithm)?;
        let issuer = claims.iss.as_deref().unwrap_or_default();
        let issuer = issuer.parse().map_err(Malformed::Issuer)?;
        // Not a rule of claims but of types: an address is either one or not there.
        for permission in
            claims.leases.iter().flat_map(|leases| leases.permissions.iter().flatten())
        {
            if let Some(provider) = permission.provider.as_deref().filter(|text| !text.is_empty()) {
                provider.parse::<Address>().map_err(Malformed::Provider)?;
            }
        }
        let signature = decode(signature, "signature")?;
        Ok(Self { algorithm, issuer, claims, text, signature })
    }

    /// Whose token it says it is.
    pub const fn issuer(&self) -> Address {
        self.issuer
    }

    /// How it is signed.
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// What it says, if `key` signed it and it obeys every rule at `now`. Whether the key is that
    /// of the issuer is for the caller to know.
    pub fn verify(&self, key: &PublicKey, now: SystemTime) -> Result<Claims, VerifyError> {
        let message = self.algorithm.message(self.text, self.issuer);
        if !key.verify(&message, &self.signature) {
            return Err(VerifyError::Signature);
        }
        Ok(rules::check(&self.claims, self.issuer, seconds(now))?)
    }
}

fn json<T: DeserializeOwned>(part: &str, name: &'static str) -> Result<T, Malformed> {
    let bytes = decode(part, name)?;
    serde_json::from_slice(&bytes).map_err(|source| Malformed::Json { part: name, source })
}

fn decode(part: &str, name: &'static str) -> Result<Vec<u8>, Malformed> {
    URL_SAFE_NO_PAD.decode(part).map_err(|_| Malformed::Base64 { part: name })
}

/// Why something is not a token.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// Not three parts.
    #[error("a token has three parts with dots between")]
    Parts,
    /// A part is not in the right alphabet.
    #[error("the {part} of the token is not base64url without padding")]
    Base64 {
        /// Which.
        part: &'static str,
    },
    /// A part has something else inside.
    #[error("the {part} of the token cannot be read")]
    Json {
        /// Which.
        part: &'static str,
        /// Why not.
        source: serde_json::Error,
    },
    /// Signed in another way, or not at all.
    #[error("the token is signed neither with ES256K nor with ES256KADR36")]
    Algorithm,
    /// It says that it must not be believed by who does not know its extensions; none is known.
    #[error("the header of the token has `crit`, and no extension is known here")]
    Critical,
    /// The issuer is no account.
    #[error("the issuer of the token is no account")]
    Issuer(#[source] AddressError),
    /// A permission names something else than an account.
    #[error("a permission of the token names a provider that is no account")]
    Provider(#[source] AddressError),
}

/// Why a token is not to be believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// Somebody else signed it, or it was changed since.
    #[error("the token is not signed with the key of its issuer")]
    Signature,
    /// A rule is broken.
    #[error("the claims of the token")]
    Claims(#[from] ClaimsError),
}

/// How a token is signed. Both are ECDSA on secp256k1 over SHA-256; they differ in what is hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Over the token's own text.
    Es256k,
    /// Over a transaction that nobody can send, with the token's text in it: wallets that sign
    /// nothing but transactions sign this (ADR-036).
    Es256kAdr36,
}

impl Algorithm {
    /// As `alg` of a token's header names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Es256k => "ES256K",
            Self::Es256kAdr36 => "ES256KADR36",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Es256k, Self::Es256kAdr36].into_iter().find(|known| known.name() == name)
    }

    /// What is signed of a token whose header and claims, with the dot between, are `text`.
    pub(super) fn message(self, text: &str, issuer: Address) -> Cow<'_, [u8]> {
        match self {
            Self::Es256k => Cow::Borrowed(text.as_bytes()),
            Self::Es256kAdr36 => Cow::Owned(sign_data(text, issuer).into_bytes()),
        }
    }
}

/// The transaction of ADR-036 in canonical JSON. Neither base64 nor an address has a character
/// that JSON would escape.
fn sign_data(text: &str, signer: Address) -> String {
    let data = STANDARD.encode(text);
    format!(
        "{{\"account_number\":\"0\",\"chain_id\":\"\",\"fee\":{{\"amount\":[],\"gas\":\"0\"}},\
         \"memo\":\"\",\"msgs\":[{{\"type\":\"sign/MsgSignData\",\"value\":{{\"data\":\"{data}\",\
         \"signer\":\"{signer}\"}}}}],\"sequence\":\"0\"}}"
    )
}

/// Makes the token of `claims`, signed by their issuer. The same input makes the same token.
pub fn issue(claims: &Claims, algorithm: Algorithm, key: &SecretKey) -> Result<String, IssueError> {
    if key.public_key().address() != claims.issuer {
        return Err(IssueError::OtherKey);
    }
    let raw = raw(claims);
    rules::check(&raw, claims.issuer, claims.not_before)?;
    let payload = serde_json::to_vec(&raw).map_err(IssueError::Encode)?;
    let header = format!("{{\"alg\":\"{}\",\"typ\":\"JWT\"}}", algorithm.name());
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let text = format!("{}.{}", encode(header.as_bytes()), encode(&payload));
    let signature = key.sign(&algorithm.message(&text, claims.issuer));
    Ok(format!("{text}.{}", encode(&signature)))
}

fn raw(claims: &Claims) -> RawClaims {
    let leases = match &claims.access {
        Access::Full => RawLeases { access: text("full"), ..RawLeases::default() },
        Access::Scoped(scope) => {
            RawLeases { access: text("scoped"), scope: names(scope), permissions: None }
        }
        Access::Granular(permissions) => RawLeases {
            access: text("granular"),
            scope: None,
            permissions: Some(permissions.iter().map(permission).collect()),
        },
    };
    RawClaims {
        iss: Some(claims.issuer.to_string()),
        iat: Some(Seconds(claims.issued_at)),
        nbf: Some(Seconds(claims.not_before)),
        exp: Some(Seconds(claims.expires_at)),
        version: text("v1"),
        leases: Some(leases),
    }
}

fn permission(permission: &Permission) -> RawPermission {
    let provider = Some(permission.provider.to_string());
    let raw = RawPermission { provider, ..RawPermission::default() };
    match &permission.access {
        ProviderAccess::Full => RawPermission { access: text("full"), ..raw },
        ProviderAccess::Scoped(scope) => {
            RawPermission { access: text("scoped"), scope: names(scope), ..raw }
        }
        ProviderAccess::Granular(grants) => RawPermission {
            access: text("granular"),
            deployments: Some(grants.iter().map(deployment).collect()),
            ..raw
        },
    }
}

fn deployment(grant: &DeploymentGrant) -> RawDeployment {
    RawDeployment {
        dseq: Some(grant.dseq),
        gseq: grant.gseq,
        oseq: grant.oseq,
        scope: names(&grant.scope),
        services: Some(grant.services.clone()),
    }
}

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn names(scope: &[Scope]) -> Option<Vec<String>> {
    Some(scope.iter().map(|scope| scope.name().to_owned()).collect())
}

/// Why no token is made.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// The key is of another account.
    #[error("a token is signed by its issuer, and the key is of another account")]
    OtherKey,
    /// No provider would take it.
    #[error("providers would refuse the token")]
    Claims(#[from] ClaimsError),
    /// Never to be expected.
    #[error("writing the token")]
    Encode(#[source] serde_json::Error),
}

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
