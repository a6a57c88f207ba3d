//! Giving a bid or a lease up, by provider or tenant, and what ends with a payment.

use akash_proto::akash::market::v1beta5 as wire;
use akash_types::{
    Address, BidId, BidState, EscrowPaymentId, EscrowState, GroupState, LeaseClosedReason, LeaseId,
    LeaseState, OrderState,
};

use super::{
    BID_NOT_ACTIVE, BID_NOT_FOUND, INVALID_REASON, LEASE_NOT_ACTIVE, LEASE_NOT_FOUND, ORDER_CLOSED,
    ORDER_NOT_FOUND, RECLAMATION_NOT_STARTED, UNKNOWN_BID, UNKNOWN_LEASE_FOR_BID,
    UNKNOWN_ORDER_FOR_BID, WINDOW_NOT_ELAPSED,
};
use crate::state::deployment::GROUP_NOT_FOUND;
use crate::state::error::{Outcome, ignore};
use crate::state::gas::Step;
use crate::state::keys;
use crate::state::keys::{BidKey, GroupKey, OrderKey};
use crate::state::msg::{Message, signer};
use crate::state::run::Exec;

pub(super) fn provider_reason(code: i32) -> Outcome<LeaseClosedReason> {
    LeaseClosedReason::provider(code)
        .map_err(|_| INVALID_REASON.wrap(format_args!("value \"{code}\" range 10000..19999")))
}

/// A provider gives its bid up, or the lease that came of it.
pub(crate) struct CloseBid {
    id: BidId,
    reason: LeaseClosedReason,
}

impl Message for CloseBid {
    type Wire = wire::MsgCloseBid;

    fn parse(wire: wire::MsgCloseBid) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.provider))?;
        Ok(Self { id: keys::bid(wire.id)?, reason: provider_reason(wire.reason)? })
    }

    fn signer(&self) -> Address {
        self.id.provider()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let key = BidKey::from(self.id);
        exec.step(Step::Lookup)?;
        let bid = exec.tables.bids.get(&key).cloned().ok_or(UNKNOWN_BID)?;
        exec.step(Step::Lookup)?;
        let order = exec.tables.orders.get(&key.order).cloned().ok_or(UNKNOWN_ORDER_FOR_BID)?;
        if bid.state == BidState::Open {
            return exec.close_bid(bid);
        }
        let lease = exec.tables.leases.get(&key).cloned().ok_or(UNKNOWN_LEASE_FOR_BID)?;
        match lease.state {
            LeaseState::Active if lease.reclamation.is_some() => {
                return Err(RECLAMATION_NOT_STARTED.into());
            }
            LeaseState::Active => {}
            LeaseState::Reclaiming => {
                let deadline = lease.reclamation.as_ref().and_then(|terms| terms.deadline);
                let now = u64::try_from(exec.block.unix()).unwrap_or_default();
                if now < deadline.unwrap_or_default() {
                    return Err(WINDOW_NOT_ELAPSED.into());
                }
            }
            LeaseState::Closed | LeaseState::InsufficientFunds => {
                return Err(LEASE_NOT_ACTIVE.into());
            }
        }
        if bid.state != BidState::Active {
            return Err(BID_NOT_ACTIVE.into());
        }
        let id = lease.id;
        exec.pause_group_of_closed_bid(self.id.group_id())?;
        exec.close_lease(lease, LeaseState::Closed, self.reason)?;
        exec.close_bid(bid)?;
        exec.close_order(order)?;
        let closed = exec.payment_close(id.into());
        ignore(closed).map(drop)
    }
}

/// A tenant ends a lease; if the group is still wanted it is ordered again.
pub(crate) struct CloseLease {
    id: LeaseId,
}

impl Message for CloseLease {
    type Wire = wire::MsgCloseLease;

    fn parse(wire: wire::MsgCloseLease) -> Outcome<Self> {
        signer(wire.id.as_ref().map_or("", |id| &id.owner))?;
        Ok(Self { id: keys::lease(wire.id)? })
    }

    fn signer(&self) -> Address {
        self.id.owner()
    }

    fn execute(&self, exec: &mut Exec) -> Outcome {
        let key = BidKey::from(self.id);
        exec.step(Step::Lookup)?;
        let order = exec.tables.orders.get(&key.order).cloned().ok_or(ORDER_NOT_FOUND)?;
        if order.state != OrderState::Active {
            return Err(ORDER_CLOSED.into());
        }
        exec.step(Step::Lookup)?;
        let bid = exec.tables.bids.get(&key).cloned().ok_or(BID_NOT_FOUND)?;
        if bid.state != BidState::Active {
            return Err(BID_NOT_ACTIVE.into());
        }
        let lease = exec.tables.leases.get(&key).cloned().ok_or(LEASE_NOT_FOUND)?;
        if !matches!(lease.state, LeaseState::Active | LeaseState::Reclaiming) {
            return Err(ORDER_CLOSED.into());
        }
        let reclamation = order.reclamation;
        exec.close_lease(lease, LeaseState::Closed, LeaseClosedReason::OWNER)?;
        exec.close_bid(bid)?;
        exec.close_order(order)?;
        exec.payment_close(self.id.into())?;
        let group = exec.tables.groups.get(&GroupKey::from(self.id.group_id())).cloned();
        let group = group.ok_or(GROUP_NOT_FOUND)?;
        if group.state != GroupState::Open {
            return Ok(());
        }
        exec.create_order(&group, reclamation)
    }
}

impl Exec {
    /// A payment has ended: so has its lease, unless that is why it ended.
    pub(crate) fn on_payment_closed(&mut self, id: EscrowPaymentId, state: EscrowState) -> Outcome {
        let lease_id = id.lease_id();
        let key = BidKey::from(lease_id);
        let Some(bid) = self.tables.bids.get(&key).cloned() else { return Ok(()) };
        if bid.state != BidState::Active {
            return Ok(());
        }
        let order = self.tables.orders.get(&OrderKey::from(lease_id.order_id())).cloned();
        let order = order.ok_or(ORDER_NOT_FOUND)?;
        let lease = self.tables.leases.get(&key).cloned().ok_or(LEASE_NOT_FOUND)?;
        self.close_order(order)?;
        self.close_bid(bid)?;
        let (state, reason) = match state {
            EscrowState::Overdrawn => {
                (LeaseState::InsufficientFunds, LeaseClosedReason::INSUFFICIENT_FUNDS)
            }
            EscrowState::Open | EscrowState::Closed => {
                (LeaseState::Closed, LeaseClosedReason::UNSPECIFIED)
            }
        };
        self.close_lease(lease, state, reason)
    }
}
