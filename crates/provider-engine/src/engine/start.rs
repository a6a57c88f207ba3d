//! What has to be known before anything is written.

use std::collections::BTreeSet;

use akash_types::OrderId;

use crate::chain::Head;
use crate::time::BlockTime;

/// What is read whole at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Listing {
    OpenOrders,
    OwnBids,
    OwnLeases,
    Cluster,
}

impl Listing {
    const COUNT: usize = 4;
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    listed: BTreeSet<Listing>,
    /// Orders with a bid or lease of ours that was listed and not classified yet: until it is known
    /// what they were promised, there is nothing to promise to others.
    unclassified: BTreeSet<OrderId>,
    /// The newest block when everything was known; `None` before that.
    ready_at: Option<Head>,
}

impl Start {
    pub(crate) fn has(&self, listing: Listing) -> bool {
        self.listed.contains(&listing)
    }

    pub(crate) fn listed(&mut self, listing: Listing) {
        self.listed.insert(listing);
    }

    /// Waits for the classification of an order.
    pub(crate) fn await_classification(&mut self, order: OrderId) {
        self.unclassified.insert(order);
    }

    /// An order was classified, or is over.
    pub(crate) fn classified(&mut self, order: OrderId) {
        self.unclassified.remove(&order);
    }

    pub(crate) const fn is_ready(&self) -> bool {
        self.ready_at.is_some()
    }

    /// Height and time of the newest block when everything was known; zero before that.
    pub(crate) fn ready_at(&self) -> (u64, BlockTime) {
        let Head { height, time } = self.ready_at.unwrap_or_default();
        (height, time)
    }

    /// The start is over if everything is known. True if it just ended.
    pub(crate) fn end(&mut self, head: Head) -> bool {
        let known = self.listed.len() == Listing::COUNT && self.unclassified.is_empty();
        if self.is_ready() || !known {
            return false;
        }
        self.ready_at = Some(head);
        true
    }
}

#[cfg(test)]
mod tests {
    use akash_types::{Address, DeploymentId, GroupId};

    use super::*;

    #[test]
    fn it_ends_once_when_all_is_listed_and_every_order_classified() {
        let owner = Address::from_bytes(&[1; 20]).unwrap();
        let group = GroupId::new(DeploymentId::new(owner, 7).unwrap(), 1).unwrap();
        let order = OrderId::new(group, 1).unwrap();
        let head = Head { height: 9, time: BlockTime::from_unix(5) };
        let mut start = Start::default();
        start.await_classification(order);
        for listing in [Listing::OpenOrders, Listing::OwnBids, Listing::OwnLeases] {
            start.listed(listing);
            start.listed(listing);
            assert!(!start.end(head));
        }
        start.listed(Listing::Cluster);
        assert!(!start.end(head), "an order is not classified");
        start.classified(order);
        assert_eq!((start.is_ready(), start.ready_at().0), (false, 0));
        assert!(start.end(head));
        assert_eq!((start.is_ready(), start.ready_at().0), (true, 9));
        assert!(!start.end(Head { height: 10, ..head }));
        assert_eq!(start.ready_at().0, 9);
    }
}
