//! Leases: made from a bid, paid, taken back.

use akash_proto::akash::market::v1beta5 as wire;
use akash_types::{
    Address, BidId, BidState, EscrowAccountId, GroupState, Lease, LeaseClosedReason, LeaseId,
    LeaseState, OrderState, Reclamation,
};

use super::close::provider_reason;
use super::{
    ALREADY_RECLAIMING, BID_NOT_FOUND, BID_NOT_OPEN, GROUP_NOT_FOUND, GROUP_NOT_OPEN,
    LEASE_NOT_ACTIVE, NOT_RECLAIMABLE, ORDER_NOT_FOUND, ORDER_NOT_OPEN, Order, UNKNOWN_LEASE,
};
use crate::state::error::{Outcome, ignore};
use crate::state::events::Event;
use crate::state::gas::Step;
use crate::state::keys;
use crate::state::keys::{BidKey, GroupKey, OrderKey};
use crate::state::msg::{Message, signer};
use crate::state::run::Exec;
use crate::state::tables::Tables;

impl Tables {
    pub(super) fn put_lease(&mut self, lease: Lease) {
        let key = BidKey::from(lease.id);
        let provider = key.provider;
        if let Some(before) = self.leases.get(&key) {
            let before = before.state;
            self.leases_by_state.remove(&(before, key));
            self.leases_by_provider_state.remove(&(provider, before, key));
        }
        self.leases_by_state.insert((lease.state, key), ());
        self.leases_by_provider.insert((provider, key), ());
        self.leases_by_provider_state.insert((provider, lease.state, key), ());
        self.leases.insert(key, lease);
    }
}

pub(crate) struct CreateLease {
    id: BidId,
}

impl Message for CreateLease {
    type Wire = wire::MsgCreateLease;

    fn parse(wire: wire::MsgCreateLease) -> Outcome<Self> {
        signer(wire.bid_id.as_ref().map_or("", |id| &id.owner))?;
        Ok(Self { id: keys::bid(wire.bid_id)? })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        exec.step(Step::Lookup)?;
        let bid = exec.tables.bids.get(&BidKey::from(self.id)).cloned().ok_or(BID_NOT_FOUND)?;
        if bid.state != BidState::Open {
            return Err(BID_NOT_OPEN.into());
        }
        exec.step(Step::Lookup)?;
        let order = exec.tables.orders.get(&OrderKey::from(self.id.order_id())).cloned();
        let order = order.ok_or(ORDER_NOT_FOUND)?;
        if order.state != OrderState::Open {
            return Err(ORDER_NOT_OPEN.into());
        }
        exec.step(Step::Lookup)?;
        let group = exec.tables.groups.get(&GroupKey::from(self.id.group_id()));
        if group.ok_or(GROUP_NOT_FOUND)?.state != GroupState::Open {
            return Err(GROUP_NOT_OPEN.into());
        }
        let id = self.id.lease_id();
        exec.payment_create(id.into(), self.id.provider(), bid.price.clone())?;
        exec.step(Step::LeaseCreate)?;
        exec.tables.put_lease(Lease {
            id,
            state: LeaseState::Active,
            price: bid.price.clone(),
            created_at: exec.block.height,
            closed_on: None,
            reason: None,
            reclamation: bid.window.map(|window| Reclamation {
                window,
                started_at: None,
                deadline: None,
                reason: None,
            }),
        });
        exec.emit(Event::lease_created(id, &bid.price));
        exec.step(Step::OrderUpdate)?;
        exec.tables.put_order(Order { state: OrderState::Active, ..order });
        exec.set_bid_state(bid, BidState::Active)?;
        for loser in exec.tables.bids_of(self.id.order_id(), BidState::Open) {
            let id = loser.id;
            exec.set_bid_state(loser, BidState::Lost)?;
            let closed = exec.account_close(EscrowAccountId::Bid(id));
            // The real node stops at the first one, whose account ends in an error after its
            // deposit is back: the other bids stay open with theirs.
            if ignore(closed)?.is_none() {
                break;
            }
        }
        Ok(())
    }
}

pub(crate) struct WithdrawLease {
    id: LeaseId,
}

impl Message for WithdrawLease {
    type Wire = wire::MsgWithdrawLease;

    fn parse(wire: wire::MsgWithdrawLease) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.provider))?;
        Ok(Self { id: keys::lease(wire.id)? })
    }

    fn signer(&self) -> Address {
        self.id.provider()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        exec.step(Step::Lookup)?;
        if !exec.tables.leases.contains(&BidKey::from(self.id)) {
            return Err(UNKNOWN_LEASE.into());
        }
        exec.payment_withdraw(self.id.into())
    }
}

/// Announces that a lease will be taken back.
pub(crate) struct StartReclaim {
    id: LeaseId,
    reason: LeaseClosedReason,
}

impl Message for StartReclaim {
    type Wire = wire::MsgLeaseStartReclaim;

    fn parse(wire: wire::MsgLeaseStartReclaim) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.provider))?;
        Ok(Self { id: keys::lease(wire.id)?, reason: provider_reason(wire.reason)? })
    }

    fn signer(&self) -> Address {
        self.id.provider()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        exec.step(Step::Lookup)?;
        let lease = exec.tables.leases.get(&BidKey::from(self.id)).cloned().ok_or(UNKNOWN_LEASE)?;
        if lease.state != LeaseState::Active {
            return Err(LEASE_NOT_ACTIVE.into());
        }
        let Some(reclamation) = lease.reclamation.clone() else {
            return Err(NOT_RECLAIMABLE.into());
        };
        if reclamation.started_at.is_some() {
            return Err(ALREADY_RECLAIMING.into());
        }
        let window = i64::try_from(reclamation.window.as_nanos()).unwrap_or(i64::MAX);
        let deadline = exec.block.time_unix_nanos.saturating_add(window).div_euclid(1_000_000_000);
        exec.step(Step::LeaseUpdate)?;
        exec.tables.put_lease(Lease {
            state: LeaseState::Reclaiming,
            reclamation: Some(Reclamation {
                started_at: Some(exec.block.height),
                deadline: u64::try_from(deadline).ok(),
                reason: Some(self.reason),
                ..reclamation
            }),
            ..lease
        });
        exec.emit(Event::lease_reclaim_started(self.id, self.reason, deadline));
        Ok(())
    }
}

impl Exec {
    /// Ends a lease that has not ended.
    pub(super) fn close_lease(
        &mut self,
        lease: Lease,
        state: LeaseState,
        reason: LeaseClosedReason,
    ) -> Outcome {
        if matches!(lease.state, LeaseState::Closed | LeaseState::InsufficientFunds) {
            return Ok(());
        }
        self.step(Step::LeaseUpdate)?;
        let id = lease.id;
        self.tables.put_lease(Lease {
            state,
            closed_on: Some(self.block.height),
            reason: Some(reason),
            ..lease
        });
        self.emit(Event::lease_closed(id, reason));
        Ok(())
    }
}
