//! How tokens are signed.

use std::borrow::Cow;

use akash_types::Address;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

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
