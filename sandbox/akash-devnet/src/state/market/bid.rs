//! What happens to bids.

use akash_types::{BidState, EscrowAccountId, OrderId};

use super::Bid;
use crate::state::error::{Outcome, ignore};
use crate::state::events::Event;
use crate::state::exec::Exec;
use crate::state::gas::Step;
use crate::state::keys::{BidKey, OrderKey};
use crate::state::tables::Tables;

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

    /// Bids on an order in a state, by provider.
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
