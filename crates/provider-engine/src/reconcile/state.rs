//! What comparing has shown, and what it forbids.

use std::collections::{BTreeMap, BTreeSet};

use super::{Breaker, BreakerSettings, Drift, Rival};

#[derive(Clone, Debug, Default)]
pub(crate) struct Reconciliation {
    pub(crate) breaker: Breaker,
    pub(crate) rival: Rival,
    drift: BTreeSet<Drift>,
    /// Whether the breaker was open when that was told last.
    told_open: bool,
}

impl Reconciliation {
    pub(crate) fn new(settings: BreakerSettings) -> Self {
        Self { breaker: Breaker::new(settings), ..Self::default() }
    }

    /// Whether the breaker is open, if that is not told yet.
    pub(crate) fn breaker_change(&mut self) -> Option<bool> {
        let is_open = self.breaker.is_open();
        (std::mem::replace(&mut self.told_open, is_open) != is_open).then_some(is_open)
    }

    /// True if this was not seen since the views were last compared.
    pub(crate) fn add_drift(&mut self, drift: Drift) -> bool {
        self.drift.insert(drift)
    }

    /// The views are about to be compared.
    pub(crate) fn clear_drift(&mut self) {
        self.drift.clear();
    }

    pub(crate) fn drift(&self) -> impl Iterator<Item = &Drift> {
        self.drift.iter()
    }

    /// How often the views differ, by kind.
    pub(crate) fn drift_counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for drift in &self.drift {
            *counts.entry(drift.code()).or_default() += 1;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use akash_types::{Address, DeploymentId, GroupId, OrderId};

    use super::*;
    use crate::time::BlockTime;

    fn order(dseq: u64) -> OrderId {
        let owner = Address::from_bytes(&[1; 20]).unwrap();
        let group = GroupId::new(DeploymentId::new(owner, dseq).unwrap(), 1).unwrap();
        OrderId::new(group, 1).unwrap()
    }

    #[test]
    fn each_change_of_the_breaker_is_told_once() {
        let mut reconciliation = Reconciliation::new(BreakerSettings::default());
        for dseq in 1..=2 {
            reconciliation.breaker.propose(order(dseq), 2, false, BlockTime::default());
        }
        assert_eq!(reconciliation.breaker_change(), Some(true));
        assert_eq!(reconciliation.breaker_change(), None);
        reconciliation.breaker.reset();
        assert_eq!(reconciliation.breaker_change(), Some(false));
        assert_eq!(reconciliation.breaker_change(), None);
    }

    #[test]
    fn drift_is_counted_by_kind_until_the_views_are_compared_again() {
        let mut reconciliation = Reconciliation::default();
        for dseq in [1, 2, 2] {
            let is_new = !reconciliation.drift().any(|it| *it == Drift::BidUnknown(order(dseq)));
            assert_eq!(reconciliation.add_drift(Drift::BidUnknown(order(dseq))), is_new);
        }
        reconciliation.add_drift(Drift::BidMissing(order(1)));
        assert_eq!(reconciliation.drift_counts(), [("bid_missing", 1), ("bid_unknown", 2)].into());
        reconciliation.clear_drift();
        assert!(reconciliation.drift_counts().is_empty());
    }
}
