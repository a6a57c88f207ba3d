//! Orders, and what the end of a group does to them.

use std::time::Duration;

use akash_types::{
    BidState, GroupId, GroupState, LeaseClosedReason, LeaseState, OrderId, OrderState,
};

use super::{Bid, ORDER_ACTIVE, ORDER_EXISTS, Order};
use crate::state::deployment::Group;
use crate::state::error::{Outcome, ignore};
use crate::state::events::Event;
use crate::state::gas::Step;
use crate::state::keys::{BidKey, GroupKey, OrderKey};
use crate::state::run::Exec;
use crate::state::tables::Tables;

impl Tables {
    pub(super) fn put_order(&mut self, order: Order) {
        let key = OrderKey::from(order.id);
        if let Some(before) = self.orders.get(&key) {
            let before = before.state;
            self.orders_by_state.remove(&(before, key));
        }
        self.orders_by_state.insert((order.state, key), ());
        self.orders.insert(key, order);
    }

    fn orders_of(&self, group: GroupId) -> impl Iterator<Item = &Order> {
        let (first, last) = OrderKey::of_group(GroupKey::from(group));
        self.orders.between(first, last).map(|(_, order)| order)
    }
}

impl Exec {
    /// Orders for a group; the number of the order follows those that were closed.
    pub(crate) fn create_order(&mut self, group: &Group, reclamation: Option<Duration>) -> Outcome {
        let mut oseq = 1_u32;
        for order in self.tables.orders_of(group.id) {
            match order.state {
                OrderState::Open | OrderState::Active => {
                    return Err(ORDER_ACTIVE.detail("create order: active order exists"));
                }
                OrderState::Closed => oseq = oseq.saturating_add(1),
            }
        }
        let id = OrderId::new(group.id, oseq).map_err(|error| ORDER_EXISTS.wrap(error))?;
        if self.tables.orders.contains(&OrderKey::from(id)) {
            return Err(ORDER_EXISTS.into());
        }
        self.step(Step::OrderCreate)?;
        self.tables.put_order(Order {
            id,
            state: OrderState::Open,
            spec: group.spec.clone(),
            created_at: self.block.height,
            reclamation,
        });
        self.emit(Event::order_created(id));
        Ok(())
    }

    pub(super) fn close_order(&mut self, order: Order) -> Outcome {
        if order.state == OrderState::Closed {
            return Ok(());
        }
        self.step(Step::OrderUpdate)?;
        let id = order.id;
        self.tables.put_order(Order { state: OrderState::Closed, ..order });
        self.emit(Event::order_closed(id));
        Ok(())
    }

    /// A group is closed or paused: so are its orders, with their bids and leases.
    pub(crate) fn on_group_closed(&mut self, id: GroupId, state: GroupState) -> Outcome {
        for wanted in [OrderState::Active, OrderState::Open] {
            let orders: Vec<Order> =
                self.tables.orders_of(id).filter(|order| order.state == wanted).cloned().collect();
            for order in orders {
                self.end_order(order, state)?;
            }
        }
        Ok(())
    }

    fn end_order(&mut self, order: Order, group: GroupState) -> Outcome {
        let (id, was_active) = (order.id, order.state == OrderState::Active);
        self.close_order(order)?;
        let states: &[_] =
            if was_active { &[BidState::Open, BidState::Active] } else { &[BidState::Open] };
        for state in states {
            for bid in self.tables.bids_of(id, *state) {
                self.end_bid(bid, group)?;
            }
        }
        Ok(())
    }

    fn end_bid(&mut self, bid: Bid, group: GroupState) -> Outcome {
        let lease = bid.id.lease_id();
        self.close_bid(bid)?;
        let Some(lease) = self.tables.leases.get(&BidKey::from(lease)).cloned() else {
            return Ok(());
        };
        let (state, reason) = match group {
            GroupState::InsufficientFunds => {
                (LeaseState::InsufficientFunds, LeaseClosedReason::INSUFFICIENT_FUNDS)
            }
            GroupState::Open | GroupState::Paused | GroupState::Closed => {
                (LeaseState::Closed, LeaseClosedReason::OWNER)
            }
        };
        let id = lease.id;
        self.close_lease(lease, state, reason)?;
        let closed = self.payment_close(id.into());
        ignore(closed).map(drop)
    }
}
