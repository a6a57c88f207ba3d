//! Messages: what a transaction does.
//!
//! One constructor for each message of the chain that this project sends. It takes values that make
//! sense by themselves and checks what the chain would check without looking at its state, so that
//! what can be built is not refused for its form.
//!
//! Must not know accounts' sequences, fees or when a message is worth sending.

pub mod audit;
pub mod authz;
pub mod bank;
pub mod cert;
pub mod deployment;
mod error;
pub mod escrow;
pub mod feegrant;
pub mod market;
mod packed;
pub mod provider;

use akash_proto::to_any;
use akash_types::Address;
use prost::Name;
use prost_types::Any;

pub use error::{HostUriProblem, MessageError};
pub use packed::PackedError;

/// A message, ready to go into a transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    any: Any,
    signer: Address,
}

impl Message {
    fn new<M: Name>(signer: Address, message: &M) -> Self {
        Self { any: to_any(message), signer }
    }

    /// A message that was packed elsewhere.
    pub const fn packed(signer: Address, any: Any) -> Self {
        Self { any, signer }
    }

    /// Its type.
    pub fn type_url(&self) -> &str {
        &self.any.type_url
    }

    /// Whose signature it needs.
    pub const fn signer(&self) -> Address {
        self.signer
    }

    /// The packed message.
    pub const fn as_any(&self) -> &Any {
        &self.any
    }
}

// Any holds bytes and text only.
impl Eq for Message {}
