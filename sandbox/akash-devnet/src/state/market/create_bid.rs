//! Bidding on an order.

use std::sync::Arc;
use std::time::Duration;

use akash_proto::akash::market::v1beta5 as wire;
use akash_types::{
    Address, Attribute, AuditedAttributes, BidId, BidState, DecCoin, Deposit, EscrowAccountId,
    EscrowScope, GroupSpec, OrderId, OrderState, matches_requirements, unmet_capability,
};

use super::{
    ATTRIBUTE_MISMATCH, BID_EXISTS, BID_INVALID_PRICE, BID_ZERO_PRICE, Bid, CAPABILITIES_MISMATCH,
    INVALID_BID, INVALID_DEPOSIT, ORDER_ACTIVE, ORDER_CLOSED, ORDER_NOT_FOUND, Order,
    RECLAMATION_REQUIRED, UNKNOWN_PROVIDER, WINDOW_INVALID, WINDOW_TOO_SHORT,
};
use crate::state::deployment::duration;
use crate::state::error::{Outcome, TxError, ignore};
use crate::state::escrow::parse_deposit;
use crate::state::events::Event;
use crate::state::gas::Step;
use crate::state::keys;
use crate::state::keys::{BidKey, OrderKey};
use crate::state::msg::{Message, signer};
use crate::state::run::Exec;
use crate::state::tables::Tables;

pub(crate) struct CreateBid {
    id: BidId,
    price: DecCoin,
    deposit: Deposit,
    offer: Arc<[wire::ResourceOffer]>,
    window: Option<Duration>,
}

impl Message for CreateBid {
    type Wire = wire::MsgCreateBid;

    fn parse(wire: wire::MsgCreateBid) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.provider))?;
        let id = keys::bid(wire.id)?;
        let deposit = parse_deposit(wire.deposit)?;
        let price = wire.price.unwrap_or_default();
        let price = DecCoin::try_from(price).map_err(|_| BID_INVALID_PRICE)?;
        if price.is_zero() {
            return Err(BID_ZERO_PRICE.into());
        }
        let window = match wire.reclamation_window {
            None => None,
            Some(window) => Some(duration(window).ok_or(WINDOW_INVALID)?),
        };
        let offer = wire.resources_offer.into_iter().map(canonical).collect();
        Ok(Self { id, price, deposit, offer, window })
    }

    fn signer(&self) -> Address {
        self.id.provider()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        exec.step(Step::BidLimits)?;
        self.check_deposit(exec)?;
        self.check_count(exec)?;
        exec.step(Step::Lookup)?;
        let key = OrderKey::from(self.id.order_id());
        let order = exec.tables.orders.get(&key).cloned().ok_or(ORDER_NOT_FOUND)?;
        match order.state {
            OrderState::Open => {}
            OrderState::Active => return Err(ORDER_ACTIVE.into()),
            OrderState::Closed => return Err(ORDER_CLOSED.into()),
        }
        exec.step(Step::BidChecks)?;
        let group = order.spec.parse().map_err(TxError::panic)?;
        self.check_price(&group)?;
        self.check_offer(&group)?;
        self.check_provider(exec, &group)?;
        let provider = self.id.provider();
        let deposits = exec.authorize_deposit(provider, EscrowScope::Bid, &self.deposit)?;
        self.check_window(exec, &order)?;
        if exec.tables.bids.contains(&BidKey::from(self.id)) {
            return Err(BID_EXISTS.into());
        }
        exec.step(Step::BidCreate)?;
        exec.tables.put_bid(Bid {
            id: self.id,
            state: BidState::Open,
            price: self.price.clone(),
            created_at: exec.block.height,
            offer: Arc::clone(&self.offer),
            window: self.window,
        });
        exec.emit(Event::bid_created(self.id, &self.price));
        exec.account_create(EscrowAccountId::Bid(self.id), provider, deposits)
    }
}

impl CreateBid {
    fn check_deposit(&self, exec: &Exec) -> Outcome {
        let coin = self.deposit.coin();
        let minimums = &exec.params().market.bid_min_deposits;
        let minimum = minimums.iter().find(|minimum| minimum.denom() == coin.denom());
        match minimum.filter(|minimum| !minimum.is_zero()) {
            None => Err(INVALID_DEPOSIT.detail(format_args!("unsupported denom {}", coin.denom()))),
            Some(minimum) if minimum.amount() > coin.amount() => {
                Err(INVALID_DEPOSIT.detail(format_args!("minimum:{minimum} received:{coin}")))
            }
            Some(_) => Ok(()),
        }
    }

    /// As on the chain, one more than the limit fits.
    fn check_count(&self, exec: &Exec) -> Outcome {
        let limit = exec.params().market.order_max_bids;
        let count = exec.tables.count_bids(self.id.order_id());
        if u32::try_from(count).is_ok_and(|count| count <= limit) {
            return Ok(());
        }
        Err(INVALID_BID.detail(format_args!("too many existing bids ({limit})")))
    }

    fn check_price(&self, group: &GroupSpec) -> Outcome {
        let highest = group.total_price().map_err(TxError::panic)?;
        if highest.denom() != self.price.denom() {
            // The real node compares them all the same, and falls over.
            let (ordered, offered) = (highest.denom(), self.price.denom());
            return Err(TxError::panic(format_args!(
                "invalid coin denominations; {ordered}, {offered}"
            )));
        }
        if highest.amount() < self.price.amount() {
            return Err(BID_INVALID_PRICE.into());
        }
        Ok(())
    }

    /// Units are compared by number and count, not by size.
    fn check_offer(&self, group: &GroupSpec) -> Outcome {
        let mut units: Vec<(u32, u32)> =
            group.resources.iter().map(|unit| (unit.resources.id, unit.count)).collect();
        for offer in self.offer.iter() {
            let id = offer.resources.as_ref().map_or(0, |resources| resources.id);
            let unit = units.iter().position(|unit| *unit == (id, offer.count));
            let Some(index) = unit else { return Err(CAPABILITIES_MISMATCH.into()) };
            units.swap_remove(index);
        }
        Ok(())
    }

    fn check_provider(&self, exec: &Exec, group: &GroupSpec) -> Outcome {
        let address = self.id.provider();
        let provider = exec.tables.providers.get(&address).ok_or(UNKNOWN_PROVIDER)?;
        let own: Vec<Attribute> =
            provider.attributes.iter().cloned().map(Attribute::from).collect();
        let audited: Vec<AuditedAttributes> = exec.tables.audits_of(address);
        if !matches_requirements(&group.requirements, &own, &audited) {
            return Err(ATTRIBUTE_MISMATCH.into());
        }
        match unmet_capability(group, &own) {
            None => Ok(()),
            Some(_) => Err(CAPABILITIES_MISMATCH.into()),
        }
    }

    fn check_window(&self, exec: &Exec, order: &Order) -> Outcome {
        match (order.reclamation, self.window) {
            (Some(_), None) => return Err(RECLAMATION_REQUIRED.into()),
            (Some(least), Some(window)) if window < least => return Err(WINDOW_TOO_SHORT.into()),
            _ => {}
        }
        let market = &exec.params().market;
        let allowed = market.min_reclamation_window..=market.max_reclamation_window;
        match self.window {
            Some(window) if !allowed.contains(&window) => Err(WINDOW_INVALID.into()),
            _ => Ok(()),
        }
    }
}

/// An offer as the chain writes it again: parts that cannot be absent there are present.
fn canonical(mut offer: wire::ResourceOffer) -> wire::ResourceOffer {
    offer.resources.get_or_insert_default();
    offer
}

impl Tables {
    pub(super) fn put_bid(&mut self, bid: Bid) {
        let key = BidKey::from(bid.id);
        let provider = key.provider;
        if let Some(before) = self.bids.get(&key) {
            let before = before.state;
            self.bids_by_state.remove(&(before, key));
            self.bids_by_provider_state.remove(&(provider, before, key));
        }
        self.bids_by_state.insert((bid.state, key), ());
        self.bids_by_provider.insert((provider, key), ());
        self.bids_by_provider_state.insert((provider, bid.state, key), ());
        self.bids.insert(key, bid);
    }

    pub(super) fn bids_of(&self, order: OrderId, state: BidState) -> Vec<Bid> {
        let (first, last) = BidKey::of_order(OrderKey::from(order));
        let bids = self.bids.between(first, last).map(|(_, bid)| bid);
        bids.filter(|bid| bid.state == state).cloned().collect()
    }

    /// How many bids on an order count against the limit: all but those that lost.
    pub(super) fn count_bids(&self, order: OrderId) -> usize {
        let (first, last) = BidKey::of_order(OrderKey::from(order));
        self.bids.between(first, last).filter(|(_, bid)| bid.state != BidState::Lost).count()
    }
}

impl Exec {
    pub(super) fn set_bid_state(&mut self, bid: Bid, state: BidState) -> Outcome {
        self.step(Step::BidMatch)?;
        self.tables.put_bid(Bid { state, ..bid });
        Ok(())
    }

    /// Closes a bid and returns its deposit.
    pub(super) fn close_bid(&mut self, bid: Bid) -> Outcome {
        if matches!(bid.state, BidState::Closed | BidState::Lost) {
            return Ok(());
        }
        let id = bid.id;
        self.step(Step::BidClose)?;
        self.tables.put_bid(Bid { state: BidState::Closed, ..bid });
        // This always ends in an error, after the deposit is back.
        let closed = self.account_close(EscrowAccountId::Bid(id));
        ignore(closed)?;
        self.emit(Event::bid_closed(id));
        Ok(())
    }
}
