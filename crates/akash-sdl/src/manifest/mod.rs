//! The manifest: what a tenant sends to a provider, and whose hash stands on chain.
//!
//! The types hold what was sent, valid or not: nullable lists stay nullable because the
//! difference between `null` and `[]` goes into the hash. [`Manifest::validate`] says whether a
//! manifest makes sense by itself, [`Manifest::validate_against`] whether it is what the deployment's groups paid for.

mod cross;
mod decode;
mod doubt;
mod json;
mod model;
mod proto;

mod validate;
mod version;

pub use cross::{CrossError, Detail, EndpointUse};
pub use decode::{DecodeError, Decoded, IgnoredOption};
pub use doubt::HashDoubt;
pub use model::{
    Group, HttpOptions, ImageCredentials, KbsParams, Manifest, Protocol, ProxyOptions, Service,
    ServiceExpose, ServiceParams, ServicePermissions, ServiceResources, StorageParams, TeeParams,
};

pub(crate) use json::{describe_attribute, describe_resources};
pub use proto::ManifestProtoError;
pub(crate) use validate::{Fault, PROXY_LIMITS, Violation, expose_before};
pub use validate::{ManifestError, ManifestErrorKind, is_service_name};
pub use version::Version;
