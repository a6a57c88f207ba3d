//! Whether this provider may bid at all, by the rules of the chain and of the bid engine.
//!
//! The rules come in the order in which they are known from the Go provider; those that only the
//! chain makes (reclamation, deposit, denomination) follow, so that no fee is paid for a bid that
//! would be refused.

use std::time::Duration;

use akash_types::attribute::is_subset;
use akash_types::{
    Attribute, Coin, Denom, GroupSpec, GroupViolation, PlacementRequirements, UnmetCapability,
    unmet_capability, validate_group,
};

use super::facts::{Ask, Audits, Facts};

/// Most volumes of a resource unit.
pub const MAX_VOLUMES: usize = 4;

/// Attribute by which a group asks for confidential computing.
const TEE_TYPE: &str = "tee/type";

/// Applies all rules: why a bid is not possible, or nothing.
pub fn eligibility(ask: &Ask<'_>, facts: &Facts<'_>) -> Vec<Ineligible> {
    let mut reasons = Vec::new();
    let Ask { spec, .. } = ask;
    let required = &spec.requirements.attributes;
    let unmet = unmet(required, facts.own_attributes);
    if !unmet.is_empty() {
        reasons.push(Ineligible::Attributes { missing: unmet });
    }
    if let Some(tee) = required.iter().find(|asked| asked.key == TEE_TYPE) {
        reasons.push(Ineligible::Confidential { kind: tee.value.clone() });
    }
    let unasked = self::unmet(facts.order_filter, required);
    if !unasked.is_empty() {
        reasons.push(Ineligible::OrderFilter { missing: unasked });
    }
    reasons.extend(unmet_capability(spec, facts.own_attributes).map(Ineligible::Capability));
    reasons.extend(spec.resources.iter().filter_map(|unit| {
        let (unit, volumes) = (unit.resources.id, unit.resources.storage.len());
        (volumes > MAX_VOLUMES).then_some(Ineligible::Volumes { unit, volumes })
    }));
    let auditors = missing_signatures(&spec.requirements, facts.audits);
    if !auditors.is_empty() {
        reasons.push(Ineligible::NotSigned { auditors });
    }
    reasons.extend(verification(&spec.requirements, facts));
    let violations = validate_group(0, spec);
    if !violations.is_empty() {
        reasons.push(Ineligible::Group { violations });
    }
    reasons.extend(reclamation(ask, facts));
    reasons.extend(deposit(facts));
    reasons.extend(price_denom(spec, facts.price_denoms));
    reasons
}

fn unmet(required: &[Attribute], offered: &[Attribute]) -> Vec<Attribute> {
    let is_met = |need: &Attribute| offered.iter().any(|offer| need.is_met_by(offer));
    required.iter().filter(|need| !is_met(need)).cloned().collect()
}

/// The auditors whose signature is missing: every one of `all_of` must have signed what is required,
/// and one of `any_of`, if there are any.
fn missing_signatures(requirements: &PlacementRequirements, audits: &Audits) -> Vec<String> {
    let has_signed = |auditor: &String| {
        audits.get(auditor).is_some_and(|signed| is_subset(&requirements.attributes, signed))
    };
    let (all, any) = (requirements.signed_by.all(), requirements.signed_by.any());
    let missing: Vec<String> = all.iter().filter(|auditor| !has_signed(auditor)).cloned().collect();
    if missing.is_empty() && !any.iter().any(has_signed) {
        return any.to_vec();
    }
    missing
}

/// This provider has no attestations, so the chain refuses each bid where it compares them.
fn verification(requirements: &PlacementRequirements, facts: &Facts<'_>) -> Option<Ineligible> {
    let min_tier = requirements.verification.as_ref()?.min_tier;
    (facts.verification_active && min_tier > 0).then_some(Ineligible::NotVerified { min_tier })
}

/// What the chain asks of the window in a bid.
fn reclamation(ask: &Ask<'_>, facts: &Facts<'_>) -> Vec<Ineligible> {
    let (min, max) = (facts.params.min_reclamation_window, facts.params.max_reclamation_window);
    let mut reasons = Vec::new();
    match (ask.reclamation_min_window, facts.reclamation_window) {
        (Some(wanted), None) => reasons.push(Ineligible::NoReclamation { wanted }),
        (Some(wanted), Some(offered)) if offered < wanted => {
            reasons.push(Ineligible::ReclamationTooShort { offered, wanted });
        }
        _ => {}
    }
    if let Some(offered) = facts.reclamation_window.filter(|window| *window < min || *window > max)
    {
        reasons.push(Ineligible::ReclamationOutsideLimits { offered, min, max });
    }
    reasons
}

fn deposit(facts: &Facts<'_>) -> Option<Ineligible> {
    let (deposit, accepted) = (facts.deposit, &facts.params.bid_min_deposits);
    match accepted.iter().find(|coin| coin.denom() == deposit.denom()) {
        None => {
            let accepted = accepted.iter().map(|coin| coin.denom().clone()).collect();
            Some(Ineligible::DepositDenom { deposit: deposit.clone(), accepted })
        }
        Some(least) if deposit.amount() < least.amount() => {
            let (deposit, least) = (deposit.clone(), least.clone());
            Some(Ineligible::DepositTooSmall { deposit, least })
        }
        Some(_) => None,
    }
}

fn price_denom(spec: &GroupSpec, accepted: &[Denom]) -> Option<Ineligible> {
    let denom = spec.resources.first()?.price.denom();
    let refused = !accepted.is_empty() && !accepted.contains(denom);
    refused.then(|| Ineligible::PriceDenom { denom: denom.clone(), accepted: accepted.to_vec() })
}

/// Why a bid is not possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ineligible {
    #[error("this provider does not have the attributes {}", attributes_text(.missing))]
    Attributes { missing: Vec<Attribute> },
    #[error("confidential computing ({kind:?}) is asked for, which this provider does not offer")]
    Confidential { kind: String },
    #[error(
        "the order does not ask for {}, which the provider-config demands",
        attributes_text(.missing)
    )]
    OrderFilter { missing: Vec<Attribute> },
    #[error("{0}; add it to the provider's attributes if it is there")]
    Capability(UnmetCapability),
    #[error("resource unit {unit} has {volumes} volumes, at most {MAX_VOLUMES} are served")]
    Volumes { unit: u32, volumes: usize },
    #[error("the attributes asked for are not signed by {}", .auditors.join(", "))]
    NotSigned { auditors: Vec<String> },
    #[error(
        "a provider verified at tier {min_tier} or above is asked for, this one is not verified"
    )]
    NotVerified { min_tier: i32 },
    #[error("the group is not valid: {}", violations_text(.violations))]
    Group { violations: Vec<GroupViolation> },
    #[error("a reclamation window of {} s is asked for, none is offered", .wanted.as_secs())]
    NoReclamation {
        /// The least that is asked for.
        wanted: Duration,
    },
    #[error(
        "a reclamation window of {} s is asked for, {} s are offered",
        .wanted.as_secs(),
        .offered.as_secs()
    )]
    ReclamationTooShort {
        offered: Duration,
        /// The least that is asked for.
        wanted: Duration,
    },
    #[error(
        "the reclamation window offered, {} s, is outside of what the chain allows, {} to {} s",
        .offered.as_secs(),
        .min.as_secs(),
        .max.as_secs()
    )]
    ReclamationOutsideLimits { offered: Duration, min: Duration, max: Duration },
    #[error("the chain takes no bid deposit like {deposit}, but {}", denoms_text(.accepted))]
    DepositDenom { deposit: Coin, accepted: Vec<Denom> },
    #[error("the bid deposit {deposit} is below the chain's minimum of {least}")]
    DepositTooSmall {
        deposit: Coin,
        /// The least taken.
        least: Coin,
    },
    #[error("the order pays in {denom}, prices are made in {}", denoms_text(.accepted))]
    PriceDenom { denom: Denom, accepted: Vec<Denom> },
}

impl Ineligible {
    /// A name that does not change, for metrics.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Attributes { .. } => "attributes",
            Self::OrderFilter { .. } => "order-filter",
            Self::Confidential { .. } => "confidential-computing",
            Self::Capability(UnmetCapability::Storage { .. }) => "capability-storage",
            Self::Capability(UnmetCapability::Gpu { .. }) => "capability-gpu",
            Self::Volumes { .. } => "volumes",
            Self::NotSigned { .. } => "not-signed",
            Self::NotVerified { .. } => "not-verified",
            Self::Group { .. } => "group-invalid",
            Self::NoReclamation { .. } => "reclamation-not-offered",
            Self::ReclamationTooShort { .. } => "reclamation-too-short",
            Self::ReclamationOutsideLimits { .. } => "reclamation-outside-limits",
            Self::DepositDenom { .. } => "deposit-denom",
            Self::DepositTooSmall { .. } => "deposit-too-small",
            Self::PriceDenom { .. } => "price-denom",
        }
    }
}

fn attributes_text(attributes: &[Attribute]) -> String {
    let text = |attribute: &Attribute| format!("{}={}", attribute.key, attribute.value);
    attributes.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn violations_text(violations: &[GroupViolation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn denoms_text(denoms: &[Denom]) -> String {
    denoms.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
