//! Providers and what auditors signed of them.

use akash_proto::akash::audit::v1 as audit;
use akash_proto::akash::provider::v1beta4 as wire;

use super::error::{ConvertError, messages};
use super::id::address;
use super::placement::attributes;
use crate::AuditedAttributes;
use crate::provider::{AuditedProvider, Provider};

impl TryFrom<wire::Provider> for Provider {
    type Error = ConvertError;

    fn try_from(provider: wire::Provider) -> Result<Self, Self::Error> {
        let wire::Info { email, website } = provider.info.unwrap_or_default();
        Ok(Self {
            owner: address("owner", &provider.owner)?,
            host_uri: provider.host_uri,
            attributes: attributes(provider.attributes),
            email,
            website,
        })
    }
}

impl From<Provider> for wire::Provider {
    fn from(provider: Provider) -> Self {
        Self {
            owner: provider.owner.to_string(),
            host_uri: provider.host_uri,
            attributes: messages(provider.attributes),
            info: Some(wire::Info { email: provider.email, website: provider.website }),
        }
    }
}

impl TryFrom<audit::AuditedProvider> for AuditedProvider {
    type Error = ConvertError;

    fn try_from(audited: audit::AuditedProvider) -> Result<Self, Self::Error> {
        Ok(Self {
            owner: address("owner", &audited.owner)?,
            audited: AuditedAttributes {
                auditor: audited.auditor,
                attributes: attributes(audited.attributes),
            },
        })
    }
}

impl From<AuditedProvider> for audit::AuditedProvider {
    fn from(audited: AuditedProvider) -> Self {
        Self {
            owner: audited.owner.to_string(),
            auditor: audited.audited.auditor,
            attributes: messages(audited.audited.attributes),
        }
    }
}
