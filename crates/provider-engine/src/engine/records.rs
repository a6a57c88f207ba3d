//! What the provider looks after: one record per order id, with the order, our bid, what is
//! reserved for it, and the lease.

use std::collections::BTreeMap;

use akash_types::{Address, OrderId};

use crate::inventory::Booking;
use crate::lease::LeaseRecord;
use crate::order;

/// Everything about an order id.
#[derive(Clone, Debug)]
pub struct Record {
    pub id: OrderId,
    pub stage: Stage,
    /// What is reserved for it, as long as the record exists.
    pub booking: Option<Booking>,
    /// Bids of other providers that were seen since it was noticed; the chain counts closed ones too.
    pub foreign_bids: u32,
}

/// First an order, then perhaps a lease.
#[derive(Clone, Debug)]
pub enum Stage {
    Order(order::Stage),
    Lease(Box<LeaseRecord>),
}

impl Record {
    pub const fn new(id: OrderId) -> Self {
        Self { id, stage: Stage::Order(order::Stage::Seen), booking: None, foreign_bids: 0 }
    }

    pub const fn lease(&self) -> Option<&LeaseRecord> {
        match &self.stage {
            Stage::Lease(lease) => Some(lease),
            Stage::Order(_) => None,
        }
    }

    pub const fn order(&self) -> Option<&order::Stage> {
        match &self.stage {
            Stage::Order(stage) => Some(stage),
            Stage::Lease(_) => None,
        }
    }

    pub const fn stage_name(&self) -> &'static str {
        match &self.stage {
            Stage::Order(stage) => stage.name(),
            Stage::Lease(lease) => lease.stage_name(),
        }
    }

    /// Whether a bid of ours is open, or may become so.
    pub const fn has_bid(&self) -> bool {
        match &self.stage {
            Stage::Order(stage) => stage.has_bid(),
            Stage::Lease(_) => false,
        }
    }
}

/// All records, and how many of each owner's orders have a bid of ours.
#[derive(Clone, Debug, Default)]
pub(crate) struct Records {
    by_order: BTreeMap<OrderId, Record>,
    bids_by_owner: BTreeMap<Address, u32>,
}

impl Records {
    pub(crate) fn get(&self, order: OrderId) -> Option<&Record> {
        self.by_order.get(&order)
    }

    pub(crate) fn contains(&self, order: OrderId) -> bool {
        self.by_order.contains_key(&order)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.by_order.values()
    }

    pub(crate) fn stage(&self, order: OrderId) -> Option<&Stage> {
        self.get(order).map(|record| &record.stage)
    }

    pub(crate) fn order(&self, order: OrderId) -> Option<&order::Stage> {
        self.get(order).and_then(Record::order)
    }

    pub(crate) fn lease(&self, order: OrderId) -> Option<&LeaseRecord> {
        self.get(order).and_then(Record::lease)
    }

    pub(crate) fn leases(&self) -> impl Iterator<Item = &LeaseRecord> {
        self.iter().filter_map(Record::lease)
    }

    pub(crate) fn lease_mut(&mut self, order: OrderId) -> Option<&mut LeaseRecord> {
        match &mut self.by_order.get_mut(&order)?.stage {
            Stage::Lease(lease) => Some(lease),
            Stage::Order(_) => None,
        }
    }

    pub(crate) fn leases_mut(&mut self) -> impl Iterator<Item = &mut LeaseRecord> {
        self.by_order.values_mut().filter_map(|record| match &mut record.stage {
            Stage::Lease(lease) => Some(lease.as_mut()),
            Stage::Order(_) => None,
        })
    }

    /// Begins the record of an order of which nothing is known.
    pub(crate) fn insert(&mut self, order: OrderId) {
        self.remove(order);
        self.by_order.insert(order, Record::new(order));
    }

    pub(crate) fn remove(&mut self, order: OrderId) {
        self.update(order, |record| record.stage = Stage::Order(order::Stage::Seen));
        self.by_order.remove(&order);
    }

    /// Changes a record, and with it the count of its owner's bids.
    pub(crate) fn update<T>(
        &mut self,
        order: OrderId,
        change: impl FnOnce(&mut Record) -> T,
    ) -> Option<T> {
        let record = self.by_order.get_mut(&order)?;
        let had_bid = record.has_bid();
        let changed = change(record);
        let has_bid = record.has_bid();
        if had_bid != has_bid {
            let count = self.bids_by_owner.entry(order.owner()).or_default();
            *count = if has_bid { count.saturating_add(1) } else { count.saturating_sub(1) };
            if *count == 0 {
                self.bids_by_owner.remove(&order.owner());
            }
        }
        Some(changed)
    }

    /// How many bids of ours the orders of `owner` have.
    pub(crate) fn bids_of(&self, owner: Address) -> u32 {
        self.bids_by_owner.get(&owner).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use akash_types::{DeploymentId, GroupId};

    use super::*;

    fn id(owner: u8, dseq: u64) -> OrderId {
        let owner = Address::from_bytes(&[owner; 20]).unwrap();
        let group = GroupId::new(DeploymentId::new(owner, dseq).unwrap(), 1).unwrap();
        OrderId::new(group, 1).unwrap()
    }

    #[test]
    fn bids_are_counted_by_owner_through_every_change() {
        let mut records = Records::default();
        let (first, second, other) = (id(1, 7), id(1, 8), id(2, 7));
        let abandon = |record: &mut Record| record.stage = Stage::Order(order::Stage::Abandoned);
        for order in [first, second, other] {
            records.insert(order);
            records.update(order, abandon);
            records.update(order, abandon);
        }
        assert_eq!([first, other].map(|order| records.bids_of(order.owner())), [2, 1]);
        records.update(first, |record| record.stage = Stage::Order(order::Stage::Seen));
        assert_eq!(records.bids_of(first.owner()), 1);
        records.remove(second);
        records.insert(other);
        assert_eq!([first, other].map(|order| records.bids_of(order.owner())), [0, 0]);
        assert!(records.bids_by_owner.is_empty());
        assert_eq!(records.update(second, abandon), None);
    }
}
