//! The manifest: what a tenant sends to a provider, and whose hash stands on chain.
//!
//! The types hold what was sent, valid or not: nullable lists stay nullable because the
//! difference between `null` and `[]` goes into the hash. [`Manifest::validate`] says whether a
//! manifest makes sense by itself, [`Manifest::validate_against`] whether it is what the deployment's groups paid for.

mod decode;
mod json;
mod model;
mod proto;

mod validate;

use std::fmt;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::encode::sorted_json;

pub use decode::{DecodeError, Decoded, IgnoredOption};
pub(crate) use json::{describe_attribute, describe_resources};
pub use model::{
    Group, HttpOptions, ImageCredentials, KbsParams, Manifest, Protocol, ProxyOptions, Service,
    ServiceExpose, ServiceParams, ServicePermissions, ServiceResources, StorageParams, TeeParams,
};
pub use proto::ManifestProtoError;
pub use validate::{
    CrossError, Detail, EndpointUse, HashDoubt, ManifestError, ManifestErrorKind, is_service_name,
};
pub(crate) use validate::{Fault, PROXY_LIMITS, Violation, expose_before};

/// SHA-256 of a manifest's canonical JSON.
#[derive(Clone, Copy, PartialEq, Eq, Hash, derive_more::Debug)]
#[debug("Version({self})")]
pub struct Version([u8; 32]);

impl Version {
    /// The bytes, as they stand on chain.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Version {
    /// The version with these bytes, as they stand on chain or were kept.
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Version {
    /// The hashes that a client may have put on chain for a manifest that it sent as these bytes:
    /// of the bytes, and of the same JSON with sorted keys. Console hashes what it sends, also keys
    /// that nothing is known about here.
    pub fn of_received(bytes: &[u8]) -> Vec<Self> {
        let hash = |bytes: &[u8]| Self(Sha256::digest(bytes).into());
        let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
        let sorted = values.next().and_then(Result::ok).map(|value| hash(&sorted_json(&value)));
        std::iter::once(hash(bytes)).chain(sorted).collect()
    }
}

impl Manifest {
    /// The hash that the deployment must carry for this manifest to be accepted.
    pub fn version(&self) -> Version {
        Version(Sha256::digest(self.to_canonical_json()).into())
    }
}
