//! Attributes and placement requirements.

use akash_proto::akash::base::attributes::v1 as wire;
use akash_proto::akash::verification::v1 as verification;

use super::error::messages;
use crate::{Attribute, PlacementRequirements, SignedBy, VerificationRequirement};

impl From<wire::Attribute> for Attribute {
    fn from(attribute: wire::Attribute) -> Self {
        Self { key: attribute.key, value: attribute.value }
    }
}

impl From<Attribute> for wire::Attribute {
    fn from(attribute: Attribute) -> Self {
        Self { key: attribute.key, value: attribute.value }
    }
}

pub(super) fn attributes(attributes: Vec<wire::Attribute>) -> Vec<Attribute> {
    attributes.into_iter().map(Into::into).collect()
}

impl From<wire::SignedBy> for SignedBy {
    /// The wire cannot tell an empty list from none; Go reads none, and so do we.
    fn from(signed_by: wire::SignedBy) -> Self {
        let list = |names: Vec<String>| Some(names).filter(|names| !names.is_empty());
        Self { all_of: list(signed_by.all_of), any_of: list(signed_by.any_of) }
    }
}

impl From<SignedBy> for wire::SignedBy {
    fn from(signed_by: SignedBy) -> Self {
        Self {
            all_of: signed_by.all_of.unwrap_or_default(),
            any_of: signed_by.any_of.unwrap_or_default(),
        }
    }
}

impl From<wire::PlacementRequirements> for PlacementRequirements {
    fn from(requirements: wire::PlacementRequirements) -> Self {
        Self {
            signed_by: requirements.signed_by.unwrap_or_default().into(),
            attributes: attributes(requirements.attributes),
            verification: requirements.verification.map(Into::into),
        }
    }
}

impl From<PlacementRequirements> for wire::PlacementRequirements {
    fn from(requirements: PlacementRequirements) -> Self {
        Self {
            signed_by: Some(requirements.signed_by.into()),
            attributes: messages(requirements.attributes),
            verification: requirements.verification.map(Into::into),
        }
    }
}

impl From<verification::VerificationRequirement> for VerificationRequirement {
    fn from(wanted: verification::VerificationRequirement) -> Self {
        Self {
            min_tier: wanted.min_tier,
            required_capabilities: wanted.required_capabilities,
            required_auditors: wanted.required_auditors,
            auditor_mode: wanted.auditor_mode,
            min_auditor_count: wanted.min_auditor_count,
        }
    }
}

impl From<VerificationRequirement> for verification::VerificationRequirement {
    fn from(wanted: VerificationRequirement) -> Self {
        Self {
            min_tier: wanted.min_tier,
            required_capabilities: wanted.required_capabilities,
            required_auditors: wanted.required_auditors,
            auditor_mode: wanted.auditor_mode,
            min_auditor_count: wanted.min_auditor_count,
        }
    }
}
