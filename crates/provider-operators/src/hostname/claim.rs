//! Who wants a hostname, and for which port.

use akash_types::{IdError, LeaseId};
use k8s_openapi::jiff::Timestamp;
use provider_crd::ProviderHost;

/// A lease that wants a hostname: what a `ProviderHost` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Name of the `ProviderHost`. It is the hostname, unless somebody made it by hand.
    pub object: String,
    pub host: String,
    pub lease: LeaseId,
    pub service: String,
    /// Its port, as seen from outside.
    pub port: u32,
    pub since: Option<Timestamp>,
    /// Which state of the `ProviderHost` this is.
    pub version: String,
}

/// Why a `ProviderHost` claims nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    #[error("ProviderHost {object:?} cannot be read: a field has another type than it should")]
    Form { object: String },
    #[error("ProviderHost {object:?} names no lease")]
    Lease { object: String, source: IdError },
}

impl Claim {
    /// What a `ProviderHost` says.
    ///
    /// When it names no lease; others are read nevertheless.
    pub fn of(host: &ProviderHost) -> Result<Self, ClaimError> {
        let ProviderHost { metadata, spec } = host;
        let object = metadata.name.clone().unwrap_or_default();
        let id =
            format!("{}/{}/{}/{}/{}", spec.owner, spec.dseq, spec.gseq, spec.oseq, spec.provider);
        let lease =
            id.parse().map_err(|source| ClaimError::Lease { object: object.clone(), source })?;
        Ok(Self {
            object,
            host: spec.hostname.clone(),
            lease,
            service: spec.service_name.clone(),
            port: spec.external_port,
            since: metadata.creation_timestamp.as_ref().map(|time| time.0),
            version: metadata.resource_version.clone().unwrap_or_default(),
        })
    }
}
