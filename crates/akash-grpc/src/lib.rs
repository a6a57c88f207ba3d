//! gRPC clients and servers for every service of the .proto files in `akash-proto`.
//!
//! The module tree follows the packages as it does there: `akash.market.v1beta5.Query` is
//! [`akash::market::v1beta5::query_client`] and [`akash::market::v1beta5::query_server`].
//!
//! Messages are those of `akash-proto`; this crate adds none. It must not know how a connection is
//! made, which TLS is used, or anything of the provider: clients take any tonic service, servers
//! are mounted by whoever listens, several of them as [`Services`].

mod descriptors;
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/modules.rs"));
}
mod services;

pub use akash_proto::FILE_DESCRIPTOR_SET;
pub use descriptors::{DescriptorError, descriptor_set_for};
pub use generated::{akash, cosmos};
pub use services::Services;
