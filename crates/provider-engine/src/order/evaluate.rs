//! The evaluation of what is asked for: whether to bid, and at what price.

use akash_types::{Address, DecCoin, GroupSpec, ResourceOffer};

use super::decline::Decline;
use super::eligibility::eligibility;
use super::facts::{Ask, Facts};
use super::policy::{Floors, Policy, Refusal};
use super::pricing::{PriceError, Pricing, Quote, ScriptRequest};
use crate::inventory::{Booking, Free, GroupNeed, place};

/// What to do about an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evaluation {
    Bid {
        reservation: Booking,
        offer: Vec<ResourceOffer>,
        /// Per block.
        price: DecCoin,
    },
    /// Only the script knows the price.
    AskScript {
        reservation: Booking,
        offer: Vec<ResourceOffer>,
        request: ScriptRequest,
    },
    Decline(Vec<Decline>),
}

/// The settings of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    pub policy: &'a Policy,
    pub pricing: &'a Pricing,
    /// A number drawn uniformly.
    pub draw: u64,
    /// Stands in for the owner where the ask has none.
    pub stand_in: Address,
}

/// Cheap rules come first, and all that speak against a bid are named; a place is looked for only
/// when nothing does, and a price is made only for what has a place.
pub fn evaluate(ask: &Ask<'_>, facts: &Facts<'_>, free: &Free, rules: &Rules<'_>) -> Evaluation {
    let reservation = match reserve(ask, facts, free, rules.policy) {
        Ok(reservation) => reservation,
        Err(reasons) => return Evaluation::Decline(reasons),
    };
    let owner = ask.owner.unwrap_or(rules.stand_in);
    let offer = reservation.offer(ask.spec);
    match rules.pricing.quote(ask.spec, &owner, &offer, rules.draw) {
        Ok(Quote::Ask(request)) => Evaluation::AskScript { reservation, offer, request },
        Ok(Quote::Price(price)) => match check_price(ask.spec, &rules.policy.floors, &price) {
            Ok(()) => Evaluation::Bid { reservation, offer, price },
            Err(reason) => Evaluation::Decline(vec![reason]),
        },
        Err(error) => Evaluation::Decline(vec![error.into()]),
    }
}

fn reserve(
    ask: &Ask<'_>,
    facts: &Facts<'_>,
    free: &Free,
    policy: &Policy,
) -> Result<Booking, Vec<Decline>> {
    let mut reasons: Vec<Decline> =
        policy.refusals(ask, facts).into_iter().map(Decline::from).collect();
    reasons.extend(eligibility(ask, facts).into_iter().map(Decline::from));
    let need = match GroupNeed::of(ask.spec, &facts.levels) {
        Ok(need) => need,
        Err(error) => {
            reasons.push(error.into());
            return Err(reasons);
        }
    };
    if !reasons.is_empty() {
        return Err(reasons);
    }
    place(free, &need).map_err(|no_room| vec![no_room.into()])
}

/// Whether `price` may be bid on `group`: in its denomination, not above what it pays, not below
/// the floor of the denomination.
pub fn check_price(group: &GroupSpec, floors: &Floors, price: &DecCoin) -> Result<(), Decline> {
    let most = group.total_price().map_err(PriceError::Group)?;
    if price.denom() != most.denom() {
        let (denom, wanted) = (price.denom().clone(), most.denom().clone());
        return Err(Decline::OtherDenom { denom, wanted });
    }
    if price.is_zero() {
        return Err(PriceError::Zero.into());
    }
    if price.amount() > most.amount() {
        return Err(Decline::TooExpensive { price: price.clone(), most });
    }
    match floors.get(price.denom()).filter(|floor| price.amount() < **floor) {
        Some(floor) => Err(Refusal::PriceBelowFloor { price: price.clone(), floor: *floor }.into()),
        None => Ok(()),
    }
}
