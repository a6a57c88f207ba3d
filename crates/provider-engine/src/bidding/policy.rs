//! What the operator wants, whether or not it would be possible.

use std::collections::{BTreeMap, BTreeSet};

use akash_types::{Address, Coin, Dec, DecCoin, Denom};

use super::facts::{Ask, Facts};
use super::isolation::IsolationHold;

/// What the operator wants. The default wants everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The least to bid for, by denomination; none where a denomination has none.
    pub floors: BTreeMap<Denom, Floor>,
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

/// The least to bid for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    /// Least price per block.
    pub per_block: Dec,
    /// Least that a lease must bring.
    pub lease: Option<LeaseFloor>,
}

/// The least that a lease must bring, if it lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseFloor {
    /// How much.
    pub value: Dec,
    /// Within how many blocks.
    pub blocks: u64,
}

impl Floor {
    /// Whether a price per block is below it.
    #[must_use]
    pub fn is_above(&self, price: Dec) -> bool {
        let lease = self.lease.is_some_and(|lease| {
            // What does not fit is more than any value.
            let earned = price.checked_mul_int(i128::from(lease.blocks));
            earned.is_some_and(|earned| earned < lease.value)
        });
        price < self.per_block || lease
    }
}

impl Policy {
    /// Why the policy does not want what is asked for; empty if it does.
    #[must_use]
    pub fn refusals(&self, ask: &Ask<'_>, facts: &Facts<'_>) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        if self.paused {
            refusals.push(Refusal::Paused);
        }
        if facts.maintenance {
            refusals.push(Refusal::Maintenance);
        }
        refusals.extend(facts.isolation.cloned().map(Refusal::Isolation));
        if let Some(owner) = ask.owner {
            self.owner_refusals(owner, facts, &mut refusals);
        }
        let limit = facts.params.order_max_bids;
        if let Some(bids) = facts.bids_on_order.filter(|bids| *bids >= limit) {
            refusals.push(Refusal::OrderIsFull { bids, limit });
        }
        if let Ok(most) = ask.spec.total_price()
            && let Some(floor) = self.floors.get(most.denom())
            && floor.is_above(most.amount())
        {
            refusals.push(Refusal::PaysTooLittle { most, floor: *floor });
        }
        let (spent, fee) = (facts.fees_today, facts.bid_fee.amount());
        if let Some(budget) = self.daily_fees.filter(|budget| spent.saturating_add(fee) > *budget) {
            refusals.push(Refusal::FeeBudget { spent, fee, budget });
        }
        refusals.extend(wallet_refusal(facts));
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

    /// Why the policy does not want to bid `price`, if it does not.
    #[must_use]
    pub fn price_refusal(&self, price: &DecCoin) -> Option<Refusal> {
        let floor =
            self.floors.get(price.denom()).filter(|floor| floor.is_above(price.amount()))?;
        Some(Refusal::PriceBelowFloor { price: price.clone(), floor: *floor })
    }
}

/// Deposit and fee must both be there. A wallet that nobody has looked into is not empty.
fn wallet_refusal(facts: &Facts<'_>) -> Option<Refusal> {
    let wallet = facts.wallet?;
    let (deposit, fee) = (facts.deposit, facts.bid_fee);
    let has = |denom: &Denom| {
        let coins = wallet.iter().filter(|coin| coin.denom() == denom);
        coins.fold(0_u128, |sum, coin| sum.saturating_add(coin.amount()))
    };
    let needs = if deposit.denom() == fee.denom() {
        vec![Coin::new(fee.denom().clone(), deposit.amount().saturating_add(fee.amount()))]
    } else {
        vec![deposit.clone(), fee.clone()]
    };
    let short = needs.into_iter().find(|needs| has(needs.denom()) < needs.amount())?;
    let has = has(short.denom());
    Some(Refusal::Wallet { needs: short, has })
}

/// Why a policy does not want to bid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Bidding is switched off.
    #[error("bidding is paused")]
    Paused,
    /// The provider is in maintenance.
    #[error("the provider is in maintenance")]
    Maintenance,
    /// Tenants are not known to be kept apart, which is required.
    #[error("{0}")]
    Isolation(IsolationHold),
    /// The owner is on the list of those not to serve.
    #[error("owner {owner} is on the deny list")]
    OwnerDenied {
        /// Who.
        owner: Address,
    },
    /// Only others are served.
    #[error("owner {owner} is not on the allow list")]
    OwnerNotAllowed {
        /// Who.
        owner: Address,
    },
    /// The owner has enough bids to choose from.
    #[error("{open} bids on orders of {owner} are open, the limit is {limit}")]
    OpenBids {
        /// Who.
        owner: Address,
        /// How many are open.
        open: u32,
        /// How many may be.
        limit: u32,
    },
    /// The chain takes no more bids on the order.
    #[error("the order has {bids} bids, the chain takes {limit}")]
    OrderIsFull {
        /// How many it has.
        bids: u32,
        /// How many it can have.
        limit: u32,
    },
    /// Even the highest price is not enough.
    #[error("the order pays at most {most} per block, the floor is {}", floor_text(.floor))]
    PaysTooLittle {
        /// The most it pays per block.
        most: DecCoin,
        /// The least to bid for.
        floor: Floor,
    },
    /// What would be asked is not enough.
    #[error("the price {price} per block is below the floor of {}", floor_text(.floor))]
    PriceBelowFloor {
        /// The price per block.
        price: DecCoin,
        /// The least to bid for.
        floor: Floor,
    },
    /// The day's fees are spent.
    #[error(
        "bids cost {spent} in fees today, {fee} more would exceed the daily budget of {budget}"
    )]
    FeeBudget {
        /// Spent so far.
        spent: u128,
        /// What this bid would cost.
        fee: u128,
        /// What may be spent.
        budget: u128,
    },
    /// The wallet cannot pay deposit and fee.
    #[error("a bid needs {needs} for deposit and fee, the wallet has {has}")]
    Wallet {
        /// What is needed.
        needs: Coin,
        /// What is there, in that denomination.
        has: u128,
    },
}

fn floor_text(floor: &Floor) -> String {
    match floor.lease {
        None => floor.per_block.to_string(),
        Some(LeaseFloor { value, blocks }) => {
            format!("{} and {value} in {blocks} blocks", floor.per_block)
        }
    }
}

impl Refusal {
    /// A name that does not change, for metrics.
    #[must_use]
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
