//! A token as it was received.

use std::borrow::Cow;
use std::time::SystemTime;

use akash_keys::PublicKey;
use akash_types::{Address, AddressError};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::de::DeserializeOwned;

use super::claims::{RawClaims, RawHeader};
use super::{Claims, ClaimsError, claims, rules};

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
        Ok(rules::check(&self.claims, self.issuer, claims::seconds(now))?)
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
