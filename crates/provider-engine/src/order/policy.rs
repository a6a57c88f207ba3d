//! What the operator wants, whether or not it would be possible.

use std::collections::{BTreeMap, BTreeSet};

use akash_types::{Address, Dec, DecCoin, Denom};

use super::facts::{Ask, BidConditions, Facts};
use super::isolation::IsolationHold;
use crate::escrow::{Shortage, WalletState};

/// The least price per block, by denomination.
pub type Floors = BTreeMap<Denom, Dec>;

/// What the operator wants. The default wants everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The least price per block, by denomination; none where a denomination has none.
    pub floors: Floors,
    /// The only owners whose orders are bid on, if set.
    pub allow: Option<BTreeSet<Address>>,
    /// Owners whose orders are never bid on.
    pub deny: BTreeSet<Address>,
    /// How many bids on orders of one owner may be open.
    pub open_bids_per_owner: Option<u32>,
    /// What bids may cost in fees each day, in the denomination in which fees are paid.
    pub daily_fees: Option<u128>,
    /// Whether nothing is bid on.
    pub paused: bool,
}

impl Policy {
    /// Why the policy does not want what is asked for; empty if it does.
    pub fn refusals(&self, ask: &Ask<'_>, facts: &Facts<'_>) -> Vec<Refusal> {
        let mut refusals = self.pauses(&facts.conditions());
        if let Some(owner) = ask.owner {
            self.owner_refusals(owner, facts, &mut refusals);
        }
        let limit = facts.params.order_max_bids;
        // The chain takes a bid while there are not more than the limit, so one more fits.
        if let Some(bids) = facts.bids_on_order.filter(|bids| *bids > limit) {
            refusals.push(Refusal::OrderIsFull { bids, limit });
        }
        if let Ok(most) = ask.spec.total_price()
            && let Some(floor) = self.floors.get(most.denom())
            && most.amount() < *floor
        {
            refusals.push(Refusal::PaysTooLittle { most, floor: *floor });
        }
        refusals
    }

    /// Why no order at all is bid on; empty if nothing speaks against bids as such.
    pub fn pauses(&self, conditions: &BidConditions<'_>) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if self.paused {
            refusals.push(Refusal::Paused);
        }
        if conditions.maintenance {
            refusals.push(Refusal::Maintenance);
        }
        refusals.extend(conditions.isolation.cloned().map(Refusal::Isolation));
        let (spent, fee) = (conditions.fees_today, conditions.bid_fee.amount());
        if let Some(budget) = self.daily_fees.filter(|budget| spent.saturating_add(fee) > *budget) {
            refusals.push(Refusal::FeeBudget { spent, fee, budget });
        }
        if let Some(WalletState::Empty(short)) = conditions.wallet {
            refusals.push(Refusal::Wallet { short: short.clone() });
        }
        refusals
    }

    fn owner_refusals(&self, owner: Address, facts: &Facts<'_>, refusals: &mut Vec<Refusal>) {
        if self.deny.contains(&owner) {
            refusals.push(Refusal::OwnerDenied { owner });
        }
        if self.allow.as_ref().is_some_and(|allow| !allow.contains(&owner)) {
            refusals.push(Refusal::OwnerNotAllowed { owner });
        }
        let open = facts.open_bids_of_owner;
        if let Some(limit) = self.open_bids_per_owner.filter(|limit| open >= *limit) {
            refusals.push(Refusal::OpenBids { owner, open, limit });
        }
    }
}

/// Why a policy does not want to bid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("bidding is paused")]
    Paused,
    #[error("the provider is in maintenance")]
    Maintenance,
    #[error("{0}")]
    Isolation(IsolationHold),
    #[error("owner {owner} is on the deny list")]
    OwnerDenied { owner: Address },
    #[error("owner {owner} is not on the allow list")]
    OwnerNotAllowed { owner: Address },
    #[error("{open} bids on orders of {owner} are open, the limit is {limit}")]
    OpenBids { owner: Address, open: u32, limit: u32 },
    #[error("the order has {bids} bids, more than the limit of {limit}")]
    OrderIsFull { bids: u32, limit: u32 },
    #[error("the order pays at most {most} per block, the floor is {floor}")]
    PaysTooLittle {
        /// The most it pays per block.
        most: DecCoin,
        /// The least to bid for.
        floor: Dec,
    },
    #[error("the price {price} per block is below the floor of {floor}")]
    PriceBelowFloor {
        /// The price per block.
        price: DecCoin,
        /// The least to bid for.
        floor: Dec,
    },
    #[error(
        "bids cost {spent} in fees today, {fee} more would exceed the daily budget of {budget}"
    )]
    FeeBudget {
        spent: u128,
        /// What this bid would cost.
        fee: u128,
        budget: u128,
    },
    #[error("a bid needs {} for deposit and fees, {} can be spent", .short.needed, .short.held)]
    Wallet { short: Shortage },
}

impl Refusal {
    /// A name that does not change, for metrics.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Paused => "paused",
            Self::Maintenance => "maintenance",
            Self::Isolation(_) => "isolation",
            Self::OwnerDenied { .. } => "owner-denied",
            Self::OwnerNotAllowed { .. } => "owner-not-allowed",
            Self::OpenBids { .. } => "open-bids-of-owner",
            Self::OrderIsFull { .. } => "order-max-bids",
            Self::PaysTooLittle { .. } => "pays-too-little",
            Self::PriceBelowFloor { .. } => "price-below-floor",
            Self::FeeBudget { .. } => "fee-budget",
            Self::Wallet { .. } => "wallet",
        }
    }
}
