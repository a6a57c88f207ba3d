//! Protobuf messages of the Akash chain, of the parts of Cosmos SDK and CometBFT that a provider
//! talks to, and of the provider itself.
//!
//! The .proto files under `proto/` are the source; the module tree here follows their packages:
//! `akash.market.v1beta5.MsgCreateBid` is [`akash::market::v1beta5::MsgCreateBid`].
//!
//! This crate knows bytes and field numbers only. It must not know tonic, what a value means
//! (a price here is text), or anything else of this workspace; `akash-types` gives the messages
//! meaning and `akash-grpc` carries them.

mod any;
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/modules.rs"));
}
mod redacted;

pub use any::{AnyError, from_any, to_any, type_url};
pub use generated::{akash, cosmos, k8s, tendermint};

/// Encoded `google.protobuf.FileDescriptorSet` of every .proto file here and the well-known types
/// they import, without source comments.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
