//! Who may bid: the attributes a group asks for, and whose signatures must vouch for them.
//!
//! Pure comparison; fetching a provider's attributes and their auditors is somebody else's work.

use crate::attribute::{Attribute, is_subset};

/// Auditors whose signature a group asks for.
///
/// Absent and empty mean the same to the chain, but the group-spec JSON of an SDL keeps them
/// apart, so they are kept apart here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignedBy {
    /// Every one of these must have signed.
    pub all_of: Option<Vec<String>>,
    /// At least one of these must have signed.
    pub any_of: Option<Vec<String>>,
}

impl SignedBy {
    /// Auditors that must all have signed; empty if none is named.
    pub fn all(&self) -> &[String] {
        self.all_of.as_deref().unwrap_or_default()
    }

    /// Auditors of which one must have signed; empty if none is named.
    pub fn any(&self) -> &[String] {
        self.any_of.as_deref().unwrap_or_default()
    }

    /// Whether no signature is asked for.
    pub fn is_empty(&self) -> bool {
        self.all().is_empty() && self.any().is_empty()
    }
}

/// What a group asks of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacementRequirements {
    /// Whose signatures are needed on the attributes.
    pub signed_by: SignedBy,
    /// The attributes, keys being globs. Not checked by the chain.
    pub attributes: Vec<Attribute>,
    /// How well the provider must be verified, if at all. The chain compares it at bid time, while
    /// its verification module is active.
    pub verification: Option<VerificationRequirement>,
}

/// How well a provider must be verified. Numbers are those of the chain's enums: tenants may send
/// any, and what is not known is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerificationRequirement {
    /// The lowest tier, 1 to 4; 0 for none.
    pub min_tier: i32,
    /// Capabilities that must be attested.
    pub required_capabilities: Vec<i32>,
    /// Auditors who must have attested.
    pub required_auditors: Vec<String>,
    /// Whether one of them suffices (0 or 1) or all are needed (2).
    pub auditor_mode: i32,
    /// How many auditors must have attested.
    pub min_auditor_count: u32,
}

/// Attributes of a provider that one auditor signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditedAttributes {
    /// Account of the auditor, as text: requirements name auditors by text that is not checked.
    pub auditor: String,
    /// What was signed.
    pub attributes: Vec<Attribute>,
}

/// Whether a provider meets the requirements of a group.
///
/// Without signatures asked for, its `own` attributes must. Otherwise its own do not count: every
/// auditor of `all_of` must have signed attributes that meet them, and if `any_of` is not empty one
/// of its auditors too. With no attributes asked for, the auditor's entry alone suffices.
pub fn matches_requirements(
    requirements: &PlacementRequirements,
    own: &[Attribute],
    audited: &[AuditedAttributes],
) -> bool {
    let PlacementRequirements { signed_by, attributes, .. } = requirements;
    if signed_by.is_empty() {
        return is_subset(attributes, own);
    }
    let vouched = |auditor: &String| {
        // The chain keeps one entry per auditor; if a list has two, the last counts, as there.
        let entry = audited.iter().rfind(|entry| entry.auditor == *auditor);
        entry.is_some_and(|entry| is_subset(attributes, &entry.attributes))
    };
    let any = signed_by.any();
    signed_by.all().iter().all(vouched) && (any.is_empty() || any.iter().any(vouched))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Option<Vec<String>> {
        Some(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn signed(auditor: &str, attributes: &[Attribute]) -> AuditedAttributes {
        AuditedAttributes { auditor: auditor.to_owned(), attributes: attributes.to_vec() }
    }

    fn requirements(
        all_of: Option<Vec<String>>,
        any_of: Option<Vec<String>>,
        attributes: &[Attribute],
    ) -> PlacementRequirements {
        let signed_by = SignedBy { all_of, any_of };
        PlacementRequirements { signed_by, attributes: attributes.to_vec(), verification: None }
    }

    #[test]
    fn without_signatures_the_own_attributes_count() {
        let west = [Attribute::new("region", "west")];
        for empty in [None, names(&[])] {
            let wanted = requirements(empty.clone(), empty, &west);
            assert!(matches_requirements(&wanted, &west, &[]));
            assert!(!matches_requirements(&wanted, &[], &[signed("x", &west)]));
        }
    }

    #[test]
    fn all_of_needs_every_auditor() {
        let west = [Attribute::new("region", "west")];
        let east = [Attribute::new("region", "east")];
        let wanted = requirements(names(&["a", "b"]), None, &west);
        assert!(!matches_requirements(&wanted, &west, &[]));
        assert!(!matches_requirements(&wanted, &west, &[signed("b", &west)]));
        assert!(matches_requirements(&wanted, &[], &[signed("b", &west), signed("a", &west)]));
        assert!(!matches_requirements(&wanted, &west, &[signed("b", &east), signed("a", &west)]));
    }

    #[test]
    fn any_of_needs_one_auditor_besides_all_of() {
        let west = [Attribute::new("region", "west")];
        let any = requirements(None, names(&["a", "b"]), &west);
        assert!(!matches_requirements(&any, &west, &[signed("c", &west)]));
        assert!(matches_requirements(&any, &[], &[signed("c", &[]), signed("b", &west)]));
        let both = requirements(names(&["a"]), names(&["b", "c"]), &west);
        assert!(!matches_requirements(&both, &west, &[signed("a", &west)]));
        assert!(!matches_requirements(&both, &west, &[signed("b", &west), signed("c", &west)]));
        assert!(matches_requirements(&both, &west, &[signed("a", &west), signed("c", &west)]));
    }

    #[test]
    fn with_nothing_asked_for_the_entry_suffices() {
        let wanted = requirements(names(&["a"]), None, &[]);
        assert!(matches_requirements(&wanted, &[], &[signed("a", &[])]));
        assert!(!matches_requirements(&wanted, &[], &[signed("b", &[])]));
    }
}
