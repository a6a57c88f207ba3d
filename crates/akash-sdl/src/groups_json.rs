//! Deployment groups as JSON, in the form of the Go structs.

use akash_types::{DecCoin, GroupSpec, ResourceUnit, SignedBy, VerificationRequirement};

use crate::encode::{Encoder, JsonEncoder, Keys, Layout};
use crate::manifest::{describe_attribute, describe_resources};

static GROUP: Keys = Keys {
    declared: &["name", "requirements", "resources"],
    sorted: &["name", "requirements", "resources"],
};
static REQUIREMENTS: Keys = Keys {
    declared: &["signed_by", "attributes", "verification"],
    sorted: &["attributes", "signed_by", "verification"],
};
static VERIFICATION: Keys = Keys {
    declared: &[
        "min_tier",
        "required_capabilities",
        "required_auditors",
        "auditor_mode",
        "min_auditor_count",
    ],
    sorted: &[
        "auditor_mode",
        "min_auditor_count",
        "min_tier",
        "required_auditors",
        "required_capabilities",
    ],
};
static SIGNED_BY: Keys = Keys { declared: &["all_of", "any_of"], sorted: &["all_of", "any_of"] };
static UNIT: Keys =
    Keys { declared: &["resource", "count", "price"], sorted: &["count", "price", "resource"] };
static COIN: Keys = Keys { declared: &["denom", "amount"], sorted: &["amount", "denom"] };

/// Groups as pretty JSON, two spaces per level.
pub fn groups_to_json_pretty(groups: &[GroupSpec]) -> String {
    to_json(groups, Layout::Pretty)
}

/// Groups as JSON on one line.
pub fn groups_to_json(groups: &[GroupSpec]) -> String {
    to_json(groups, Layout::Compact)
}

fn to_json(groups: &[GroupSpec], layout: Layout) -> String {
    let mut encoder = JsonEncoder::new(layout, 256 + 1024 * groups.len());
    encoder.array(groups, describe_group);
    String::from_utf8_lossy(&encoder.finish()).into_owned()
}

fn describe_group<E: Encoder>(encoder: &mut E, group: &GroupSpec) {
    encoder.object(&GROUP, |encoder, key| match key {
        "name" => encoder.text(&group.name),
        "requirements" => encoder.object(&REQUIREMENTS, |encoder, key| match key {
            "signed_by" => describe_signed_by(encoder, &group.requirements.signed_by),
            "verification" => {
                if let Some(verification) = &group.requirements.verification {
                    describe_verification(encoder, verification);
                }
            }
            _ => {
                // An empty list of requirements is never written as one.
                let attributes = &group.requirements.attributes;
                let attributes = (!attributes.is_empty()).then_some(attributes.as_slice());
                encoder.nullable_list(attributes, describe_attribute);
            }
        }),
        _ => encoder.array(&group.resources, describe_unit),
    });
}

fn describe_signed_by(encoder: &mut impl Encoder, signed_by: &SignedBy) {
    encoder.object(&SIGNED_BY, |encoder, key| {
        let list = if key == "all_of" { &signed_by.all_of } else { &signed_by.any_of };
        encoder.nullable_texts(list.as_deref());
    });
}

fn describe_verification(encoder: &mut impl Encoder, wanted: &VerificationRequirement) {
    let number = |number: i32| u64::from(number.unsigned_abs());
    encoder.object(&VERIFICATION, |encoder, key| match key {
        "min_tier" => encoder.number(number(wanted.min_tier)),
        "required_capabilities" => {
            encoder.array(&wanted.required_capabilities, |encoder, capability| {
                encoder.number(number(*capability));
            });
        }
        "required_auditors" => {
            let auditors = &wanted.required_auditors;
            encoder.nullable_texts((!auditors.is_empty()).then_some(auditors.as_slice()));
        }
        "auditor_mode" => encoder.number(number(wanted.auditor_mode)),
        _ => encoder.number(wanted.min_auditor_count.into()),
    });
}

fn describe_unit(encoder: &mut impl Encoder, unit: &ResourceUnit) {
    encoder.object(&UNIT, |encoder, key| match key {
        "resource" => describe_resources(encoder, &unit.resources),
        "count" => encoder.number(unit.count.into()),
        _ => describe_coin(encoder, &unit.price),
    });
}

fn describe_coin(encoder: &mut impl Encoder, coin: &DecCoin) {
    encoder.object(&COIN, |encoder, key| match key {
        "denom" => encoder.text(coin.denom().as_str()),
        _ => encoder.text(&coin.amount().to_string()),
    });
}
