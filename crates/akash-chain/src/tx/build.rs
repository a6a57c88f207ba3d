//! The bytes of a transaction.
//!
//! What is signed is what is sent: body and auth info are encoded once, signed as those bytes, and
//! go out as those bytes.

use std::fmt;

use akash_keys::SecretKey;
use akash_proto::cosmos::crypto::secp256k1::PubKey;
use akash_proto::cosmos::tx::signing::v1beta1::SignMode;
use akash_proto::cosmos::tx::v1beta1::mode_info::{Single, Sum};
use akash_proto::cosmos::tx::v1beta1::{AuthInfo, ModeInfo, SignDoc, SignerInfo, TxBody, TxRaw};
use akash_proto::to_any;
use akash_types::Address;
use prost::Message as _;

use super::{Fee, Message, TxHash};

/// What a transaction shall be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TxPlan<'a> {
    /// The chain it is for.
    pub chain_id: &'a str,
    /// Number of the signer's account.
    pub account_number: u64,
    /// How many transactions the account has sent before it.
    pub sequence: u64,
    /// What it does, in this order: all of it or nothing.
    pub messages: &'a [Message],
    /// What is paid for it.
    pub fee: &'a Fee,
    /// A note for whoever reads it on chain.
    pub memo: &'a str,
    /// Last height at which it may be included; 0 is no limit.
    pub timeout_height: u64,
}

/// Why a transaction cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Nothing to do.
    #[error("a transaction needs at least one message")]
    NoMessages,
    /// No chain to do it on.
    #[error("a transaction needs the id of its chain")]
    NoChainId,
    /// A message that the signer has no right to send.
    #[error("{type_url} must be signed by {needs}, not by {has}")]
    WrongSigner {
        /// Type of the message.
        type_url: String,
        /// Whose signature it needs.
        needs: Address,
        /// Who signs.
        has: Address,
    },
}

/// A transaction without its signature.
#[derive(Clone)]
pub struct Unsigned<S> {
    body: Vec<u8>,
    auth_info: Vec<u8>,
    sign_doc: Vec<u8>,
    signer: S,
}

impl<S: Signer> Unsigned<S> {
    /// Builds what `plan` says, to be signed by `signer`.
    pub fn new(plan: &TxPlan<'_>, signer: S) -> Result<Self, BuildError> {
        check(plan.messages, plan.chain_id, signer.address())?;
        let body = TxBody {
            messages: plan.messages.iter().map(|message| message.as_any().clone()).collect(),
            memo: plan.memo.to_owned(),
            timeout_height: plan.timeout_height,
            ..TxBody::default()
        };
        let auth_info = AuthInfo {
            signer_infos: vec![direct(&signer, plan.sequence)],
            fee: Some(plan.fee.into()),
            ..AuthInfo::default()
        };
        Ok(Self::of(&body, &auth_info, plan.chain_id, plan.account_number, signer))
    }

    /// Encodes the parts, once and for all.
    pub(super) fn of(
        body: &TxBody,
        auth_info: &AuthInfo,
        chain_id: &str,
        account_number: u64,
        signer: S,
    ) -> Self {
        let (body, auth_info) = (body.encode_to_vec(), auth_info.encode_to_vec());
        let sign_doc = SignDoc {
            body_bytes: body.clone(),
            auth_info_bytes: auth_info.clone(),
            chain_id: chain_id.to_owned(),
            account_number,
        };
        Self { body, auth_info, sign_doc: sign_doc.encode_to_vec(), signer }
    }

    /// Encoded body: messages, memo, timeout.
    pub fn body_bytes(&self) -> &[u8] {
        &self.body
    }

    /// Encoded auth info: signer and fee.
    pub fn auth_info_bytes(&self) -> &[u8] {
        &self.auth_info
    }

    /// What is signed.
    pub fn sign_bytes(&self) -> &[u8] {
        &self.sign_doc
    }

    /// The transaction with its signature.
    pub fn sign(self) -> SignedTx {
        self.sign_with_signature().0
    }

    /// The same, and the signature by itself: blocks show it, so it tells whose a transaction is.
    pub fn sign_with_signature(self) -> (SignedTx, [u8; 64]) {
        let signature = self.signer.sign(&self.sign_doc);
        let raw = self.raw(signature.to_vec());
        (SignedTx { hash: TxHash::of(&raw), raw }, signature)
    }

    /// What to simulate: the transaction with 64 zero bytes for a signature, which simulation does
    /// not check. With the fee in it, the gas it uses is exactly what the real one uses.
    pub fn to_simulate(&self) -> Vec<u8> {
        self.raw(vec![0; 64])
    }

    /// What Go simulates: the transaction with an empty signature. Also without a fee, as Go does
    /// it, the gas comes out some 16000 lower than what the real one uses.
    pub fn to_simulate_as_go(&self) -> Vec<u8> {
        self.raw(Vec::new())
    }

    fn raw(&self, signature: Vec<u8>) -> Vec<u8> {
        let raw = TxRaw {
            body_bytes: self.body.clone(),
            auth_info_bytes: self.auth_info.clone(),
            signatures: vec![signature],
        };
        raw.encode_to_vec()
    }
}

/// Whether one account may sign all of it.
pub(super) fn check(messages: &[Message], chain_id: &str, has: Address) -> Result<(), BuildError> {
    if messages.is_empty() {
        return Err(BuildError::NoMessages);
    }
    if chain_id.is_empty() {
        return Err(BuildError::NoChainId);
    }
    match messages.iter().find(|message| message.signer() != has) {
        None => Ok(()),
        Some(message) => {
            let (type_url, needs) = (message.type_url().to_owned(), message.signer());
            Err(BuildError::WrongSigner { type_url, needs, has })
        }
    }
}

/// Who signs, in which turn, over the very bytes that are sent.
pub(super) fn direct(signer: &impl Signer, sequence: u64) -> SignerInfo {
    SignerInfo {
        public_key: Some(to_any(&PubKey { key: signer.public_key().to_vec() })),
        mode_info: Some(ModeInfo {
            sum: Some(Sum::Single(Single { mode: SignMode::Direct.into() })),
        }),
        sequence,
    }
}

impl<S: Signer> fmt::Debug for Unsigned<S> {
    /// Shows who signs, never with what.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unsigned")
            .field("signer", &self.signer.address())
            .field("body", &hex::encode(&self.body))
            .field("auth_info", &hex::encode(&self.auth_info))
            .finish_non_exhaustive()
    }
}

/// A transaction as it is broadcast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedTx {
    raw: Vec<u8>,
    hash: TxHash,
}

impl SignedTx {
    /// A transaction that was signed elsewhere.
    pub fn from_raw(raw: Vec<u8>) -> Self {
        Self { hash: TxHash::of(&raw), raw }
    }

    /// The bytes to broadcast.
    pub fn raw(&self) -> &[u8] {
        &self.raw
    }

    /// Its name on chain.
    pub const fn hash(&self) -> TxHash {
        self.hash
    }
}

/// An account's key, wherever it is kept.
pub trait Signer {
    /// The account that signs.
    fn address(&self) -> Address;

    /// Its public key: a compressed secp256k1 point.
    fn public_key(&self) -> [u8; 33];

    /// Signs the SHA-256 of `bytes`: r and s, s in the lower half, nonce by RFC 6979.
    fn sign(&self, bytes: &[u8]) -> [u8; 64];
}

impl Signer for SecretKey {
    fn address(&self) -> Address {
        Self::public_key(self).address()
    }

    fn public_key(&self) -> [u8; 33] {
        Self::public_key(self).to_bytes()
    }

    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        Self::sign(self, bytes)
    }
}

impl<S: Signer> Signer for &S {
    fn address(&self) -> Address {
        S::address(self)
    }

    fn public_key(&self) -> [u8; 33] {
        S::public_key(self)
    }

    fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        S::sign(self, bytes)
    }
}
