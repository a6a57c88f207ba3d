//! What is kept for whom.
//!
//! What is free is computed from the view and all bookings when somebody wants to know, and kept
//! until either changes. It is never added to or subtracted from, except that a booking just made
//! is taken off at once, which gives the same as computing anew.

use akash_types::{GroupSpec, OrderId};

use crate::cluster::view::{Amounts, LeaseView};
use crate::engine::{Engine, Record, Stage};
use crate::inventory::{Booking, Free, GroupNeed, place, replan};
use crate::order::decline::Decline;
use crate::order::{self, OrderInput};

impl Engine {
    /// What is left for others.
    pub(crate) fn free(&mut self) -> &Free {
        if !self.free.is_current() {
            self.free.set(self.compute_free(None));
        }
        self.free.get_or_default()
    }

    /// What is left, counting nothing that is kept for `except`.
    fn compute_free(&self, except: Option<OrderId>) -> Free {
        let but = except.and_then(|order| self.records.get(order)?.lease()).map(|lease| lease.id);
        let bookings = self.records.iter().filter(|record| Some(record.id) != except);
        let bookings =
            bookings.filter_map(|record| Some((record.booking.as_ref()?, self.seen(record))));
        Free::compute_but(&self.cluster.view, bookings, but)
    }

    fn seen(&self, record: &Record) -> Option<&LeaseView> {
        record.lease().and_then(|lease| self.cluster.view.leases.get(&lease.id))
    }

    /// Keeps what was placed for an order.
    pub(crate) fn keep(&mut self, order: OrderId, booking: Booking) {
        self.free.reserved(&booking);
        self.records.update(order, |record| record.booking = Some(booking));
    }

    /// Keeps nothing for an order any more.
    pub(crate) fn release(&mut self, order: OrderId) {
        let released = self.records.update(order, |record| record.booking.take());
        if released.flatten().is_some() {
            self.free.released();
        }
    }

    /// Keeps room for a bid that was found open on chain. There is none: the bid is closed, so
    /// that nothing is won that could not be run.
    pub(crate) fn book_open_bid(&mut self, order: OrderId) {
        let Some(record) = self.records.get(order) else { return };
        let Stage::Order(order::Stage::Open(bid)) = &record.stage else { return };
        // Before everything is known, room that is missing proves nothing.
        if record.booking.is_some() || !self.may_act() || !self.cluster.fresh {
            return;
        }
        let spec = bid.order.spec.clone();
        match self.place(&spec) {
            Ok(booking) => self.keep(order, booking),
            Err(reason) => self.step_order(order, OrderInput::Unfit(vec![reason])),
        }
    }

    /// Makes sure that what is kept for a bid can be had: the scheduler puts pods where it likes, so
    /// a lease may run where something was planned for this order. It then gets another place, if
    /// there is one. Where the cluster cannot be seen, what was seen last has to do: a bid that did
    /// not fit then is not made.
    pub(crate) fn keep_possible(
        &mut self,
        order: OrderId,
        spec: &GroupSpec,
    ) -> Result<(), Decline> {
        if !self.may_act() || !self.is_crowded(order) {
            return Ok(());
        }
        let need = GroupNeed::of(spec, &self.settings.commit)?;
        let booking = place(&self.compute_free(Some(order)), &need)?;
        self.free.released();
        self.records.update(order, |record| record.booking = Some(booking));
        Ok(())
    }

    /// Whether more is taken than there is where something is kept for an order.
    fn is_crowded(&mut self, order: OrderId) -> bool {
        self.free();
        let (Some(record), Some(free)) = (self.records.get(order), self.free.get()) else {
            return false;
        };
        let Some(booking) = &record.booking else { return false };
        let planned = |name: &str| {
            let mut nodes = booking.units.iter().flat_map(|unit| unit.plan.iter());
            nodes.any(|(node, _)| **node == *name)
        };
        let short = |left: Amounts| {
            [left.cpu_milli, left.memory, left.ephemeral, left.gpu].iter().any(|left| *left < 0)
        };
        let wants = |class: &str| {
            let mut volumes = booking.units.iter().flat_map(|unit| unit.need.volumes.iter());
            volumes.any(|(name, _)| **name == *class)
        };
        free.nodes().any(|node| short(node.free) && planned(node.name))
            || free.storage().any(|(class, left)| left < 0 && wants(class))
            || (booking.ips > 0 && free.ips().is_some_and(|left| left < 0))
            || (booking.ports > 0 && free.ports().is_some_and(|left| left < 0))
    }

    /// Keeps room for what was sold or offered while the cluster could not be seen, and for
    /// replicas of leases that had no place: leases first, and all before anything new is offered.
    pub(crate) fn book_unbooked(&mut self) {
        let unbooked = self.records.iter().filter(|record| match &record.booking {
            None => true,
            Some(booking) => record.lease().is_some() && !booking.is_complete(),
        });
        let (leases, orders): (Vec<_>, Vec<_>) = unbooked
            .map(|record| (record.id, record.lease().is_some()))
            .partition(|(_, is_lease)| *is_lease);
        for (order, _) in leases {
            self.book_lease(order);
        }
        for (order, _) in orders {
            self.book_open_bid(order);
        }
    }

    /// Looks after every bid: one whose place was taken gets another, or is closed. A bid that
    /// stands is never closed on a view that is no longer true.
    pub(crate) fn keep_bids_possible(&mut self) {
        if !self.cluster.fresh || !self.may_act() {
            return;
        }
        let open: Vec<_> = self
            .records
            .iter()
            .filter_map(|record| match &record.stage {
                Stage::Order(order::Stage::Open(bid)) => Some((record.id, bid.order.clone())),
                _ => None,
            })
            .collect();
        for (order, known) in open {
            if let Err(reason) = self.keep_possible(order, &known.spec) {
                self.step_order(order, OrderInput::Unfit(vec![reason]));
            }
        }
    }

    pub(crate) fn place(&mut self, spec: &GroupSpec) -> Result<Booking, Decline> {
        let need = GroupNeed::of(spec, &self.settings.commit)?;
        Ok(place(self.free(), &need)?)
    }

    /// Keeps what a lease needs, whether or not there is room: it was sold.
    pub(crate) fn book_lease(&mut self, order: OrderId) {
        if !self.cluster.fresh {
            return;
        }
        let Some(record) = self.records.get(order) else { return };
        let Some(lease) = record.lease() else { return };
        let Some(spec) = lease.order.as_ref().map(|order| &order.spec) else { return };
        let Ok(need) = GroupNeed::of(spec, &self.settings.commit) else { return };
        // What has its place needs none looked for, and changes nothing for others: after a start
        // with many leases this is the way of almost all.
        let settled = self.seen(record).is_some_and(|view| is_settled(&need, view));
        let computed = match self.free.get() {
            Some(_) if settled => None,
            _ => Some(self.compute_free(Some(order))),
        };
        let Some(free) = computed.as_ref().or(self.free.get()) else { return };
        let replanned = replan(free, &need, record.booking.as_ref(), self.seen(record));
        self.free.rebooked(computed);
        self.records.update(order, |record| record.booking = Some(replanned.booking));
    }
}

/// Whether every replica that is needed is on a node.
fn is_settled(need: &GroupNeed, view: &LeaseView) -> bool {
    let Some(held) = &view.held else { return false };
    need.units.iter().all(|unit| {
        let services = held.group.services.iter();
        let of_unit =
            |name: &str| services.clone().any(|it| it.resources.id == unit.id && it.name == name);
        let placed = view.replicas.iter().filter(|pod| pod.node.is_some() && of_unit(&pod.service));
        placed.count() >= usize::try_from(unit.count).unwrap_or(usize::MAX)
    })
}
