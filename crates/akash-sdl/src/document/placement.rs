//! `profiles.placement.<name>`: where a group may run and what it may cost.

use akash_types::{Attribute, Dec, DecCoin, Denom, VerificationRequirement};

use super::reader::{Key, Named, Reader, Spot};
use crate::problem::{Path, Place, Shown};
use crate::yaml::Node;

#[derive(Clone, Debug)]
pub(crate) struct Placement<'d> {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) all_of: Option<Vec<Spot<&'d str>>>,
    pub(crate) any_of: Option<Vec<Spot<&'d str>>>,
    pub(crate) pricing: Named<'d, Price>,
    /// None where it asks for nothing.
    pub(crate) verification: Option<VerificationRequirement>,
}

/// The most a replica of a profile may cost per block.
#[derive(Clone, Debug)]
pub(crate) struct Price {
    pub(crate) place: Place,
    /// `None` when it could not be read, which has been said.
    pub(crate) coin: Option<DecCoin>,
}

impl<'d> Placement<'d> {
    pub(crate) fn decode<'a>(
        reader: &mut Reader<'d, 'a>,
        _: Key<'d>,
        node: &'d Node<'a>,
        path: Path<'_>,
    ) -> Self {
        let mut placement = Self {
            attributes: Vec::new(),
            all_of: None,
            any_of: None,
            pricing: Named::default(),
            verification: None,
        };
        reader.mapping(node, path, |reader, key, value, path| match key.value {
            "attributes" => {
                let attributes = reader.named(value, path, |reader, _, value, path| {
                    reader.text(value, path).map_or("", |text| text.value)
                });
                placement.attributes = attributes
                    .iter()
                    .map(|(key, value)| Attribute::new(key.value, *value))
                    .collect();
            }
            "signedBy" => {
                reader.mapping(value, path, |reader, key, value, path| match key.value {
                    "allOf" => placement.all_of = reader.texts(value, path),
                    "anyOf" => placement.any_of = reader.texts(value, path),
                    _ => reader.unknown_key(key, path, "allOf, anyOf"),
                });
            }
            "pricing" => placement.pricing = reader.named(value, path, price),
            "verification" => placement.verification = verification(reader, value, path),
            _ => reader.unknown_key(key, path, "attributes, signedBy, pricing, verification"),
        });
        placement
    }
}

/// Names of capabilities; their numbers on chain count from 1.
const CAPABILITIES: [&str; 4] =
    ["tee_hardware_attestation", "confidential_computing", "persistent_storage", "bare_metal"];
/// Numbers of the two ways to choose auditors.
const ANY_AUDITOR: i32 = 1;
const ALL_AUDITORS: i32 = 2;

fn verification<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Option<VerificationRequirement> {
    let mut wanted =
        VerificationRequirement { auditor_mode: ANY_AUDITOR, ..VerificationRequirement::default() };
    reader.mapping(node, path, |reader, key, value, path| match key.value {
        "min_tier" => wanted.min_tier = tier(reader, value, path),
        "capabilities" => {
            for (index, name) in reader.texts(value, path).unwrap_or_default().iter().enumerate() {
                match (1..).zip(CAPABILITIES).find(|(_, known)| *known == name.value) {
                    Some((number, _)) => wanted.required_capabilities.push(number),
                    None => {
                        let message = format!(
                            "verification.capabilities: unknown capability {}",
                            Shown(name.value)
                        );
                        let (path, allowed) = (path.index(index), CAPABILITIES.join(", "));
                        reader.problem_allowing(path, name.place, message, allowed);
                    }
                }
            }
        }
        "auditors" => {
            for (index, auditor) in reader.texts(value, path).unwrap_or_default().iter().enumerate()
            {
                if let Some(why) = auditor_problem(auditor.value) {
                    let message = format!("verification.auditors[{index}] {why}");
                    reader.problem(path.index(index), auditor.place, message);
                }
                wanted.required_auditors.push(auditor.value.to_owned());
            }
        }
        "auditor_mode" => match reader.text(value, path).map_or("", |text| text.value) {
            "" | "any" => {}
            "all" => wanted.auditor_mode = ALL_AUDITORS,
            other => {
                let message = format!(
                    "verification.auditor_mode must be \"any\" or \"all\" (got {})",
                    Shown(other)
                );
                reader.problem_allowing(path, value.place, message, "any or all");
            }
        },
        "min_auditor_count" => {
            wanted.min_auditor_count = reader.unsigned(value, path).map_or(0, |count| count.value);
        }
        _ => reader.unknown_key(
            key,
            path,
            "min_tier, capabilities, auditors, auditor_mode, min_auditor_count",
        ),
    });
    let asks_more = !wanted.required_capabilities.is_empty()
        || !wanted.required_auditors.is_empty()
        || wanted.min_auditor_count != 0;
    if wanted.min_tier == 0 && asks_more {
        reader.problem(
            path,
            node.place,
            "verification.min_tier must be greater than 0 when capabilities, auditors, or \
             min_auditor_count are set",
        );
    }
    (wanted.min_tier != 0 || asks_more).then_some(wanted)
}

fn tier<'d, 'a>(reader: &mut Reader<'d, 'a>, node: &'d Node<'a>, path: Path<'_>) -> i32 {
    let Some(tier) = reader.unsigned(node, path) else { return 0 };
    match i32::try_from(tier.value) {
        Ok(number @ 0..=4) => number,
        _ => {
            let message = format!("verification.min_tier must be in [0,4], got {}", tier.value);
            reader.problem_allowing(path, node.place, message, "0 to 4");
            0
        }
    }
}

/// What is wrong with an auditor's address at first sight; the chain decodes it.
fn auditor_problem(auditor: &str) -> Option<String> {
    const PREFIX: &str = "akash1";
    let trimmed = auditor.trim();
    if trimmed.is_empty() {
        Some("is empty".to_owned())
    } else if trimmed != auditor {
        Some("has surrounding whitespace".to_owned())
    } else if !auditor.starts_with(PREFIX) {
        let text = Shown(auditor);
        Some(format!("{text} does not have expected bech32 prefix \"{PREFIX}\""))
    } else {
        None
    }
}

fn price<'d, 'a>(
    reader: &mut Reader<'d, 'a>,
    _: Key<'d>,
    node: &'d Node<'a>,
    path: Path<'_>,
) -> Price {
    let (mut amount, mut denom) = (None, None);
    reader.mapping(node, path, |reader, key, value, path| match key.value {
        "amount" => amount = reader.text(value, path),
        "denom" => denom = reader.text(value, path),
        _ => reader.unknown_key(key, path, "amount, denom"),
    });
    let amount = positive_amount(reader, amount, path, node.place);
    let denom = valid_denom(reader, denom, path, node.place);
    let coin = amount.zip(denom).and_then(|(amount, denom)| DecCoin::new(denom, amount).ok());
    Price { place: node.place, coin }
}

fn positive_amount(
    reader: &mut Reader<'_, '_>,
    text: Option<Spot<&str>>,
    path: Path<'_>,
    place: Place,
) -> Option<Dec> {
    const ALLOWED: &str = "a number above 0 with at most 18 decimals";
    let Some(text) = text else {
        reader.problem_allowing(path, place, "there is no amount", ALLOWED);
        return None;
    };
    let refused = match text.value.parse::<Dec>() {
        Ok(amount) if amount.is_zero() => "invalid coin amount: amount is zero".to_owned(),
        Ok(amount) if amount.is_negative() => {
            format!("invalid coin amount: {} is negative", Shown(text.value))
        }
        Ok(amount) => return Some(amount),
        Err(error) => format!("invalid coin amount: {error}"),
    };
    reader.problem_allowing(path.key("amount"), text.place, refused, ALLOWED);
    None
}

fn valid_denom(
    reader: &mut Reader<'_, '_>,
    text: Option<Spot<&str>>,
    path: Path<'_>,
    place: Place,
) -> Option<Denom> {
    const ALLOWED: &str = "uact; uakt where a chain still takes it";
    let Some(text) = text else {
        reader.problem_allowing(path, place, "there is no denom", ALLOWED);
        return None;
    };
    match text.value.parse::<Denom>() {
        Ok(denom) => {
            if !matches!(text.value, "uakt" | "uact") {
                reader.lint(path.key("denom"), text.place, "not one of uakt, uact");
            }
            Some(denom)
        }
        Err(error) => {
            reader.problem_allowing(path.key("denom"), text.place, error.to_string(), ALLOWED);
            None
        }
    }
}
