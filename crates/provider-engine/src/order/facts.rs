//! What a decision about a bid looks at, besides what is free.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::{Address, Attribute, Coin, Denom, GroupSpec, MarketParams, Order};

use super::isolation::IsolationHold;
use crate::escrow::WalletState;
use crate::inventory::CommitLevels;

#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Who asks; `None` if it is not known, and then no rule about owners applies.
    pub owner: Option<Address>,
    pub spec: &'a GroupSpec,
    /// The shortest reclamation window that must be offered, if one must.
    pub reclamation_min_window: Option<Duration>,
}

impl<'a> From<&'a Order> for Ask<'a> {
    fn from(order: &'a Order) -> Self {
        Self {
            owner: Some(order.id.owner()),
            spec: &order.spec,
            reclamation_min_window: order.reclamation_min_window,
        }
    }
}

/// Attributes of this provider that auditors signed, by the auditor's address as text. An auditor
/// that is not in it signed nothing.
pub type Audits = BTreeMap<String, Vec<Attribute>>;

/// What decides whether there are bids at all, whatever the order.
#[derive(Clone, Copy, Debug)]
pub struct BidConditions<'a> {
    pub maintenance: bool,
    /// Why tenants are not known to be kept apart, where that is required.
    pub isolation: Option<&'a IsolationHold>,
    /// Whether deposit and fees can be paid; `None` while it is not known, which refuses nothing.
    pub wallet: Option<&'a WalletState>,
    /// What a bid costs in fees, as far as can be told, its close included.
    pub bid_fee: &'a Coin,
    /// What bids have cost in fees since the day began, in the denomination of `bid_fee`.
    pub fees_today: u128,
}

impl<'a> Facts<'a> {
    /// What of it does not depend on the order.
    pub const fn conditions(&self) -> BidConditions<'a> {
        let Self { maintenance, isolation, wallet, bid_fee, fees_today, .. } = *self;
        BidConditions { maintenance, isolation, wallet, bid_fee, fees_today }
    }
}

/// What is so when a decision is made.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// Attributes that this provider has on chain.
    pub own_attributes: &'a [Attribute],
    /// Attributes that an order must ask for, from the provider's configuration; mostly none.
    pub order_filter: &'a [Attribute],
    pub audits: &'a Audits,
    pub params: &'a MarketParams,
    /// Whether the chain compares bidders with the verification that an order asks for.
    pub verification_active: bool,
    /// The reclamation window that every bid offers, if any.
    pub reclamation_window: Option<Duration>,
    /// What is put up for a bid.
    pub deposit: &'a Coin,
    /// Denominations in which prices are made; empty for any.
    pub price_denoms: &'a [Denom],
    /// How much is oversold.
    pub levels: CommitLevels,
    pub maintenance: bool,
    /// Why tenants are not known to be kept apart, where that is required.
    pub isolation: Option<&'a IsolationHold>,
    /// Whether deposit and fees can be paid; `None` while it is not known, which refuses nothing.
    pub wallet: Option<&'a WalletState>,
    /// What a bid costs in fees, as far as can be told, its close included.
    pub bid_fee: &'a Coin,
    /// What bids have cost in fees since the day began, in the denomination of `bid_fee`.
    pub fees_today: u128,
    /// How many bids on orders of this owner are open.
    pub open_bids_of_owner: u32,
    /// How many bids the order has at least; `None` without an order.
    pub bids_on_order: Option<u32>,
}
