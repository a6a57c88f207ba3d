//! `profiles.placement.<name>`: where a group may run and what it may cost.

use akash_types::{Attribute, Dec, DecCoin, Denom};

use super::reader::{Key, Named, Reader, Spot};
use crate::problem::{Path, Place, Shown};
use crate::yaml::Node;

#[derive(Clone, Debug)]
pub(crate) struct Placement<'d> {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) all_of: Option<Vec<Spot<&'d str>>>,
    pub(crate) any_of: Option<Vec<Spot<&'d str>>>,
    pub(crate) pricing: Named<'d, Price>,
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
        let mut placement =
            Self { attributes: Vec::new(), all_of: None, any_of: None, pricing: Named::default() };
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
            _ => reader.unknown_key(key, path, "attributes, signedBy, pricing"),
        });
        placement
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
