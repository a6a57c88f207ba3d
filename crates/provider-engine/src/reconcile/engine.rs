//! Everything compared: at the start, every period, and when somebody says so.
//!
//! Nothing is done here but looking. What looking shows goes the way that everything goes.

use std::collections::BTreeSet;

use akash_types::{AuditedAttributes, Bid, Lease, Order, OrderId, Provider};

use crate::chain::ChainQuery;
use crate::engine::{Engine, Listing, Record, Stage, Timer};
use crate::journal::Decision;
use crate::lease::{self, LeaseInput};
use crate::order::facts::Audits;
use crate::order::{self, OrderInput};
use crate::reconcile::Drift;

impl Engine {
    pub(crate) fn reconcile_begin(&mut self) {
        self.schedule.timers.set(Timer::Reconcile, self.now.after(self.settings.reconcile_period));
        self.reconciliation.clear_drift();
        for query in [
            ChainQuery::Provider,
            ChainQuery::Params,
            ChainQuery::Wallet,
            ChainQuery::OwnLeases,
            ChainQuery::OwnBids,
            ChainQuery::OpenOrders,
        ] {
            self.ask(query);
        }
        if self.start.is_ready() {
            self.recognize();
            let has_record = |order| self.records.contains(order);
            self.bids.forget_signed(self.head.height(), has_record);
            self.compare_cluster();
            self.book_unbooked();
            self.keep_bids_possible();
            self.reevaluate_all();
        }
    }

    pub(crate) fn drifted(&mut self, drift: Drift) {
        if self.reconciliation.add_drift(drift) {
            self.note_order(drift.order(), Decision::Drift(drift));
        }
    }

    /// Every order open at `height`: those we do not know are looked at, and those that we know
    /// and that are not among them.
    pub(crate) fn compare_orders(&mut self, orders: Vec<Order>, height: u64) {
        let open: BTreeSet<OrderId> = orders.iter().map(|order| order.id).collect();
        for order in orders {
            if self.records.contains(order.id) || self.bids.is_settled(order.id) {
                continue;
            }
            self.notice(order.id);
            if self.start.has(Listing::OpenOrders) {
                self.drifted(Drift::OrderUnnoticed(order.id));
            }
            // Before the start we may have bid on it, in any state: that ends the bidding.
            self.ask_at_least(ChainQuery::Standing(order.id), height);
        }
        self.bids.forget_settled(&open);
        let gone: Vec<_> = self
            .records
            .iter()
            .filter(|record| match &record.stage {
                Stage::Order(stage) => {
                    !stage.has_bid()
                        && stage.order().is_some_and(|order| order.created_at <= height)
                        && !open.contains(&record.id)
                }
                Stage::Lease(_) => false,
            })
            .map(|record| record.id)
            .collect();
        for order in gone {
            self.hint(order);
        }
        self.start.listed(Listing::OpenOrders);
        self.check_ready();
    }

    /// Every own bid open or active at `height`.
    pub(crate) fn compare_bids(&mut self, bids: &[Bid], height: u64) {
        let listed: BTreeSet<OrderId> = bids.iter().map(|bid| bid.id.order_id()).collect();
        for bid in bids {
            self.bid_appeared(bid.id.order_id(), bid.created_at);
        }
        for order in &listed {
            self.await_look(*order);
            match self.records.get(*order) {
                Some(record) if record.has_bid() || record.lease().is_some() => {}
                Some(_) => self.hint(*order),
                None => {
                    self.notice(*order);
                    if self.start.has(Listing::OwnBids) {
                        self.drifted(Drift::BidUnknown(*order));
                    }
                    self.ask_at_least(ChainQuery::Standing(*order), height);
                }
            }
        }
        let missing: Vec<_> = self
            .records
            .iter()
            .filter(|record| match &record.stage {
                Stage::Order(order::Stage::Open(bid)) => {
                    bid.created_at <= height && !listed.contains(&record.id)
                }
                Stage::Order(order::Stage::Closing(_) | order::Stage::Abandoned) => true,
                _ => false,
            })
            .map(|record| (record.id, listed.contains(&record.id)))
            .collect();
        for (order, is_listed) in missing {
            if !is_listed && matches!(self.records.order(order), Some(order::Stage::Open(_))) {
                self.drifted(Drift::BidMissing(order));
            }
            self.hint(order);
        }
        self.start.listed(Listing::OwnBids);
        self.check_ready();
    }

    /// Every own lease active or reclaiming at `height`.
    pub(crate) fn compare_leases(&mut self, leases: &[Lease], height: u64) {
        let listed: BTreeSet<OrderId> = leases.iter().map(|lease| lease.id.order_id()).collect();
        for lease in leases {
            let order = lease.id.order_id();
            self.await_look(order);
            match self.records.get(order) {
                Some(record) if record.lease().is_some() => {}
                known => {
                    if known.is_none() {
                        self.notice(order);
                    }
                    if self.start.has(Listing::OwnLeases) {
                        self.drifted(Drift::LeaseUnknown(lease.id));
                    }
                    self.ask_at_least(ChainQuery::Standing(order), height);
                }
            }
        }
        let missing: Vec<_> = self
            .records
            .leases()
            .filter(|lease| {
                let torn_down = matches!(lease.stage, lease::Stage::TearingDown(_));
                lease.created_at <= height && !torn_down && !listed.contains(&lease.id.order_id())
            })
            .map(|lease| (lease.id, lease.is_alive()))
            .collect();
        for (lease, believed_alive) in missing {
            if believed_alive {
                self.drifted(Drift::LeaseMissing(lease));
            }
            self.hint(lease.order_id());
        }
        self.start.listed(Listing::OwnLeases);
        self.check_ready();
    }

    /// An order with a bid or lease of ours: as long as we are not ready, we wait for the look at it.
    fn await_look(&mut self, order: OrderId) {
        let looked = |record: &Record| record.has_bid() || record.lease().is_some();
        if !self.start.is_ready() && !self.records.get(order).is_some_and(looked) {
            self.start.await_classification(order);
        }
    }

    /// What the cluster has and the engine does not know, and the other way round.
    fn compare_cluster(&mut self) {
        if !self.cluster.fresh {
            return;
        }
        let own = self.settings.provider;
        let unknown: Vec<_> = self
            .cluster
            .view
            .leases
            .keys()
            .filter(|id| id.provider() == own && !self.records.contains(id.order_id()))
            .copied()
            .collect();
        for id in unknown {
            self.drifted(Drift::WorkloadWithoutLease(id));
            self.look_at(id);
        }
        let odd: Vec<_> = self
            .records
            .leases()
            .filter_map(|lease| {
                let view = self.cluster.view.leases.get(&lease.id);
                match (&lease.stage, view) {
                    (lease::Stage::Running | lease::Stage::Degraded(_), None) => {
                        Some((Drift::WorkloadMissing(lease.id), lease.id))
                    }
                    (lease::Stage::ManifestMissing, _) => {
                        Some((Drift::ManifestMissing(lease.id), lease.id))
                    }
                    (lease::Stage::AwaitingManifest(wait), None) if wait.is_lost() => {
                        Some((Drift::LeaseLost(lease.id), lease.id))
                    }
                    (lease::Stage::TearingDown(_), Some(view)) if view.stuck.is_some() => {
                        Some((Drift::StuckTeardown(lease.id), lease.id))
                    }
                    _ => None,
                }
            })
            .collect();
        // Kept and not carried out: nobody answered when it was to be kept, or the process died. A
        // start would carry it out; so does everything else.
        let waiting: Vec<_> = self
            .records
            .leases()
            .filter(|lease| {
                matches!(lease.stage, lease::Stage::Running | lease::Stage::Degraded(_))
            })
            .filter(|lease| !self.commands.is_busy(lease.id))
            .filter_map(|lease| match self.sighting(lease.id).held {
                Some((workload, false)) => Some(workload),
                _ => None,
            })
            .collect();
        for workload in waiting {
            let order = workload.lease.order_id();
            self.step_lease(order, LeaseInput::Accepted(workload));
            self.book_lease(order);
        }
        for (drift, lease) in odd {
            self.drifted(drift);
            self.schedule.timers.set_if_unset(Timer::Check(lease.order_id()), self.now);
        }
    }

    pub(crate) fn provider_read(
        &mut self,
        provider: Option<Provider>,
        audits: Vec<AuditedAttributes>,
    ) {
        let audits: Audits =
            audits.into_iter().map(|entry| (entry.auditor, entry.attributes)).collect();
        let changed = self.market.provider != provider || self.market.audits != audits;
        self.market.provider = provider;
        self.market.audits = audits;
        if changed {
            self.reevaluate_all();
        }
    }

    pub(crate) fn reevaluate_pending(&mut self) {
        self.reevaluate(|stage| matches!(stage, order::Stage::Pending(_)));
    }

    /// Evaluates everything again that has no bid.
    pub(crate) fn reevaluate_all(&mut self) {
        self.reevaluate(|stage| {
            matches!(stage, order::Stage::Pending(_) | order::Stage::Declined(..))
        });
    }

    fn reevaluate(&mut self, which: impl Fn(&order::Stage) -> bool) {
        if !self.may_act() {
            return;
        }
        let orders: Vec<_> = self
            .records
            .iter()
            .filter(|record| record.order().is_some_and(&which))
            .map(|record| record.id)
            .collect();
        for order in orders {
            self.step_order(order, OrderInput::Reevaluate);
        }
    }
}
