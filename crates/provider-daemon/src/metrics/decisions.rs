//! What decisions count as.

use std::collections::BTreeMap;

use akash_types::OrderId;
use provider_engine::journal::{Decision, Entry, Subject};
use provider_engine::lease::LeaseCause;
use provider_engine::order::decline::Decline;
use provider_engine::order::{CloseCause, Ending};
use provider_engine::time::Now;

use super::observe::{Observer, micros};
use super::table;
use crate::store::kind;

impl Observer {
    pub(super) fn decision(&mut self, now: Now, entry: &Entry) {
        self.series.count(&table::DECISIONS, [kind(&entry.decision)]);
        if let Subject::Order(order) = entry.subject {
            self.of_order(now, order, entry);
        }
    }

    fn of_order(&mut self, now: Now, order: OrderId, entry: &Entry) {
        match &entry.decision {
            Decision::Noticed => self.noticed(now, order, entry.height),
            Decision::Reserved(_) => self.reserved(now, order),
            Decision::Declined(reasons) => self.declined(order, reasons),
            Decision::Bid(_) | Decision::BidOpen { .. } => {
                if let Some(known) = self.lives.get(order) {
                    known.bid = true;
                }
            }
            Decision::CloseBid(cause) => {
                if let Some(known) = self.lives.get(order) {
                    known.closed = Some(*cause);
                }
            }
            Decision::Won(_) => self.won(order),
            Decision::Ended(ending) => self.ended(order, *ending),
            Decision::Gone => self.gone(order),
            Decision::Deploy | Decision::Adopted { .. } => self.watched(order),
            Decision::Healthy => self.series.count(&table::DEPLOYMENT_MONITOR_HEALTH, ["up"]),
            Decision::Unhealthy(_) => {
                self.series.count(&table::DEPLOYMENT_MONITOR_HEALTH, ["down"]);
            }
            Decision::Close(cause) => self.close(*cause),
            Decision::Spared { .. } => self.series.count(&table::LEASES_SPARED, []),
            Decision::Drift(drift) => self.series.count(&table::DRIFT_FOUND, [drift.code()]),
            _ => {}
        }
    }

    fn noticed(&mut self, now: Now, order: OrderId, height: u64) {
        if self.lives.notice(order, height, now) {
            self.series.count(&table::ORDER_HANDLER, ["start"]);
        }
    }

    fn reserved(&mut self, now: Now, order: OrderId) {
        self.series.count(&table::SHOULD_BID, ["accept"]);
        self.series.count(&table::RESERVATION, ["open", "success"]);
        self.series.count(&table::INVENTORY_REQUESTS, ["reserve", "create"]);
        if let Some(known) = self.lives.get(order) {
            known.reserved = true;
            let took = micros(now, known.since);
            self.series.observe(&table::RESERVATION_DURATION, took);
        }
    }

    fn declined(&mut self, order: OrderId, reasons: &[Decline]) {
        for reason in reasons {
            self.series.count(&table::BID_DECLINES, [reason.code()]);
        }
        if self.released(order) {
            // Judged before, and counted then; no price, or the chain did not want the bid.
            return;
        }
        let no_room = |reason: &Decline| matches!(reason, Decline::NoRoom(_));
        let wanted = reasons.iter().all(no_room);
        self.series.count(&table::SHOULD_BID, [if wanted { "accept" } else { "decline" }]);
        if reasons.iter().any(no_room) {
            self.series.count(&table::RESERVATION, ["open", "fail"]);
            self.series.count(&table::INVENTORY_REQUESTS, ["reserve", "insufficient-capacity"]);
        }
    }

    /// Capacity is no longer kept; says whether it was.
    fn released(&mut self, order: OrderId) -> bool {
        let known = self.lives.get(order);
        let reserved = known.is_some_and(|known| std::mem::take(&mut known.reserved));
        if reserved {
            self.series.count(&table::RESERVATION, ["close", "success"]);
            self.series.count(&table::INVENTORY_REQUESTS, ["unreserve", "destroyed"]);
        }
        reserved
    }

    fn won(&mut self, order: OrderId) {
        let Some(known) = self.lives.get(order) else { return };
        known.lease = true;
        // A lease that a restart found was counted when it was won.
        if known.bid {
            self.series.count(&table::ORDER_COMPLETE, ["lease-won"]);
        }
        self.series.count(&table::ORDER_HANDLER, ["stop"]);
    }

    fn ended(&mut self, order: OrderId, ending: Ending) {
        self.released(order);
        let Some(known) = self.lives.end(order) else { return };
        if known.lease {
            return self.unwatched(known.watched);
        }
        self.series.count(&table::ORDER_HANDLER, ["stop"]);
        let result = match (ending, known.closed) {
            (Ending::LeaseOver, _) => return,
            (Ending::Unknown | Ending::OverBeforeBid, _) => "order-closed",
            (Ending::NotWon, _) | (Ending::BidClosed, Some(CloseCause::OrderOver)) => "lease-lost",
            (Ending::BidClosed | Ending::OrderClosed, Some(CloseCause::TimedOut)) => "bid-timeout",
            (Ending::BidClosed, None)
            | (
                Ending::BidClosed | Ending::OrderClosed,
                Some(CloseCause::Operator | CloseCause::NoRoom),
            ) => "bid-closed-external",
            (Ending::OrderClosed, Some(CloseCause::OrderOver) | None) => "order-closed",
        };
        self.series.count(&table::ORDER_COMPLETE, [result]);
    }

    fn gone(&mut self, order: OrderId) {
        self.released(order);
        if let Some(known) = self.lives.end(order) {
            self.unwatched(known.watched);
        }
    }

    fn watched(&mut self, order: OrderId) {
        let Some(known) = self.lives.get(order) else { return };
        if !std::mem::replace(&mut known.watched, true) {
            self.series.count(&table::DEPLOYMENT_MONITOR, ["start"]);
        }
    }

    fn unwatched(&mut self, was: bool) {
        if was {
            self.series.count(&table::DEPLOYMENT_MONITOR, ["stop"]);
        }
    }

    fn close(&mut self, cause: LeaseCause) {
        let name = match cause {
            LeaseCause::ManifestTimeout => "manifest_timeout",
            LeaseCause::ManifestLost => "manifest_lost",
            LeaseCause::Unhealthy => "unhealthy",
            LeaseCause::Unschedulable => "unschedulable",
            LeaseCause::Operator(_) => "operator",
        };
        self.series.count(&table::LEASE_CLOSES, [name]);
        if matches!(cause, LeaseCause::Unhealthy | LeaseCause::Unschedulable) {
            self.series.count(&table::DEPLOYMENT_MONITOR_HEALTH, ["failed"]);
        }
    }
}

/// Orders and leases that are looked after.
#[derive(Debug, Default)]
pub(super) struct Lives(BTreeMap<OrderId, Known>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Height of the newest block when it was noticed.
    pub(super) height: u64,
    pub(super) since: Now,
    /// Whether capacity is kept for it.
    pub(super) reserved: bool,
    /// Whether a bid of ours was made, or found, by this process.
    pub(super) bid: bool,
    /// Why our bid was closed.
    pub(super) closed: Option<CloseCause>,
    pub(super) lease: bool,
    pub(super) watched: bool,
}

impl Lives {
    /// Says whether it is new.
    pub(super) fn notice(&mut self, order: OrderId, height: u64, since: Now) -> bool {
        let known = Known {
            height,
            since,
            reserved: false,
            bid: false,
            closed: None,
            lease: false,
            watched: false,
        };
        match self.0.entry(order) {
            std::collections::btree_map::Entry::Occupied(_) => false,
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(known);
                true
            }
        }
    }

    pub(super) fn get(&mut self, order: OrderId) -> Option<&mut Known> {
        self.0.get_mut(&order)
    }

    pub(super) fn end(&mut self, order: OrderId) -> Option<Known> {
        self.0.remove(&order)
    }

    pub(super) fn noticed_height(&self, order: OrderId) -> Option<u64> {
        self.0.get(&order).map(|known| known.height)
    }
}

/// More than this is forgotten, oldest first: some questions are never answered.
const MOST: usize = 16_384;

/// Things under way, by an id that grows.
#[derive(Debug)]
pub(super) struct Pending<K, V>(BTreeMap<K, V>);

impl<K, V> Default for Pending<K, V> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<K: Ord, V> Pending<K, V> {
    pub(super) fn begin(&mut self, id: K, what: V) {
        if self.0.len() >= MOST {
            self.0.pop_first();
        }
        self.0.insert(id, what);
    }

    pub(super) fn end(&mut self, id: &K) -> Option<V> {
        self.0.remove(id)
    }
}
