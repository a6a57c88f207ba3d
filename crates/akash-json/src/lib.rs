//! Messages of the chain as the JSON that the Go program prints and reads: original names, nothing
//! left out.
//!
//! Plain proto3 JSON is not enough: the Go types say of some fields that their text is a decimal,
//! written without its point on the wire, or that their bytes are digits. `print` and `read`
//! are each other's reverse. `parameters` reads requests from URLs, as the gRPC gateway of a node
//! does.
//!
//! Knows neither a node nor the command line.

#![allow(missing_docs)]

mod document;
mod parameters;
mod print;
mod read;
#[cfg(test)]
mod tests;
mod yaml;

use std::sync::OnceLock;

use prost_reflect::{DescriptorPool, MethodDescriptor};

pub use document::Document;
pub use parameters::{ParameterError, Parameters};
pub use print::{answer, any, base64_text, message};
pub use read::{ReadError, read, request};
pub use yaml::value as yaml_value;

/// Text fields that hold decimals of 18 places.
const DECIMALS: [&str; 2] =
    ["cosmos.base.v1beta1.DecCoin.amount", "akash.escrow.types.v1.Balance.amount"];
const DIGITS: [&str; 1] = ["akash.base.resources.v1beta4.ResourceValue.val"];
/// Messages that are left out where they are absent: chains of today do not have them.
const OMITTED: [&str; 1] = ["akash.base.attributes.v1.PlacementRequirements.verification"];
/// Messages with a form of their own.
const ANY: &str = "google.protobuf.Any";
const TIMESTAMP: &str = "google.protobuf.Timestamp";
const DURATION: &str = "google.protobuf.Duration";

/// Why bytes do not become a document.
#[derive(Debug, thiserror::Error)]
pub enum ProtoJsonError {
    #[error("this program was built with unusable message descriptors: {0}")]
    Pool(&'static str),
    #[error("unknown message {0}")]
    Message(String),
    #[error("not a {message}")]
    Decode {
        message: String,
        /// What is wrong with the bytes.
        source: prost::DecodeError,
    },
}

fn pool() -> Result<&'static DescriptorPool, ProtoJsonError> {
    static POOL: OnceLock<Option<DescriptorPool>> = OnceLock::new();
    POOL.get_or_init(|| DescriptorPool::decode(akash_proto::FILE_DESCRIPTOR_SET).ok())
        .as_ref()
        .ok_or(ProtoJsonError::Pool("they cannot be read"))
}

/// A gRPC method by its path, e.g. `/akash.market.v1beta5.Query/Orders`.
fn method(path: &str) -> Result<MethodDescriptor, ProtoJsonError> {
    let unknown = || ProtoJsonError::Message(format!("of method {path}"));
    let (service, method) = path.trim_start_matches('/').split_once('/').ok_or_else(unknown)?;
    let service = pool()?.get_service_by_name(service).ok_or_else(unknown)?;
    service.methods().find(|found| found.name() == method).ok_or_else(unknown)
}
