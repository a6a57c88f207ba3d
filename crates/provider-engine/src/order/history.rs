//! Orders that this process has bid on, as far as that counts after the bid.

use std::collections::{BTreeMap, BTreeSet};

use akash_types::OrderId;

/// For how many blocks after a bid it is known that this process signed it, whatever became of the
/// order.
const SIGNED_FOR: u64 = 1_000;

#[derive(Clone, Debug, Default)]
pub(crate) struct BidHistory {
    /// Orders that this process handed a bid on to the lane, with the height then.
    signed: BTreeMap<OrderId, u64>,
    /// Open orders on which our one bid was made and is over: there is nothing to look for.
    settled: BTreeSet<OrderId>,
}

impl BidHistory {
    pub(crate) fn sign(&mut self, order: OrderId, height: u64) {
        self.signed.insert(order, height);
    }

    /// Whether this process signed the bid on an order.
    pub(crate) fn is_signed(&self, order: OrderId) -> bool {
        self.signed.contains_key(&order)
    }

    pub(crate) fn settle(&mut self, order: OrderId) {
        self.settled.insert(order);
    }

    pub(crate) fn is_settled(&self, order: OrderId) -> bool {
        self.settled.contains(&order)
    }

    /// Forgets old signatures of orders that have no record any more.
    pub(crate) fn forget_signed(&mut self, head: u64, has_record: impl Fn(OrderId) -> bool) {
        self.signed
            .retain(|order, height| has_record(*order) || height.saturating_add(SIGNED_FOR) > head);
    }

    /// Forgets settled orders that are not open: a closed order stays closed.
    pub(crate) fn forget_settled(&mut self, open: &BTreeSet<OrderId>) {
        self.settled.retain(|order| open.contains(order));
    }
}

#[cfg(test)]
mod tests {
    use akash_types::{Address, DeploymentId, GroupId};

    use super::*;

    fn id(dseq: u64) -> OrderId {
        let owner = Address::from_bytes(&[1; 20]).unwrap();
        let group = GroupId::new(DeploymentId::new(owner, dseq).unwrap(), 1).unwrap();
        OrderId::new(group, 1).unwrap()
    }

    #[test]
    fn a_signature_is_known_as_long_as_its_order_has_a_record_and_a_while_longer() {
        let (gone, known) = (id(7), id(8));
        let mut history = BidHistory::default();
        history.sign(gone, 100);
        history.sign(known, 100);
        history.forget_signed(100 + SIGNED_FOR - 1, |order| order == known);
        assert!(history.is_signed(gone));
        history.forget_signed(100 + SIGNED_FOR, |order| order == known);
        assert_eq!([gone, known].map(|order| history.is_signed(order)), [false, true]);
    }

    #[test]
    fn a_settled_order_is_known_as_long_as_it_is_open() {
        let (open, closed) = (id(7), id(8));
        let mut history = BidHistory::default();
        history.settle(open);
        history.settle(closed);
        history.forget_settled(&[open].into());
        assert_eq!([open, closed].map(|order| history.is_settled(order)), [true, false]);
    }
}
