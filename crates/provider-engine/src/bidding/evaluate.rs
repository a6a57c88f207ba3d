//! The verdict on what somebody asks for.

use akash_types::{DecCoin, GroupSpec, ResourceOffer};

use super::decline::Decline;
use super::eligibility::eligibility;
use super::facts::{Ask, Facts};
use super::policy::{Floors, Policy, Refusal};
use super::pricing::PriceError;
use crate::inventory::{Booking, Free, GroupNeed, place};

/// What to do about an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Bid, once there is a price.
    Bid { booking: Booking, offer: Vec<ResourceOffer> },
    /// Do not bid.
    Decline(Vec<Decline>),
}

/// Decides whether to bid. Cheap rules come first and all that speak against it are named; a place
/// is looked for only when nothing does.
pub fn evaluate(ask: &Ask<'_>, facts: &Facts<'_>, free: &Free, policy: &Policy) -> Verdict {
    let mut reasons: Vec<Decline> =
        policy.refusals(ask, facts).into_iter().map(Decline::from).collect();
    reasons.extend(eligibility(ask, facts).into_iter().map(Decline::from));
    let need = match GroupNeed::of(ask.spec, &facts.levels) {
        Ok(need) => Some(need),
        Err(error) => {
            reasons.push(error.into());
            None
        }
    };
    let Some(need) = need.filter(|_| reasons.is_empty()) else {
        return Verdict::Decline(reasons);
    };
    match place(free, &need) {
        Ok(booking) => {
            let offer = booking.offer(ask.spec);
            Verdict::Bid { booking, offer }
        }
        Err(no_room) => Verdict::Decline(vec![no_room.into()]),
    }
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
