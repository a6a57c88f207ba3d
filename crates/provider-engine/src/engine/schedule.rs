//! What happens when time has passed.

use akash_types::OrderId;

use super::timers::Timers;
use crate::time::{BlockTime, Now};

/// What is due when some time has passed on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    Reconcile,
    /// Check whether a lease is healthy, or gone.
    Check(OrderId),
    /// Look at an order or lease again: something about it failed.
    Retry(OrderId),
    /// The balance checker wants to look.
    Escrow,
    /// Manifests that wait for something may have waited too long.
    Manifests,
}

/// Everything that is due later, on either clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    pub(crate) timers: Timers<Now, Timer>,
    /// Deadlines of bids and leases.
    pub(crate) deadlines: Timers<BlockTime, OrderId>,
}

impl Schedule {
    /// Nothing is due any more for an order that is over, or its lease.
    pub(crate) fn forget(&mut self, order: OrderId) {
        self.deadlines.clear(&order);
        self.timers.clear(&Timer::Retry(order));
        self.timers.clear(&Timer::Check(order));
    }
}

#[cfg(test)]
mod tests {
    use akash_types::{Address, DeploymentId, GroupId};

    use super::*;

    #[test]
    fn an_order_that_is_over_leaves_nothing_that_is_due() {
        let id = |dseq| {
            let owner = Address::from_bytes(&[1; 20]).unwrap();
            let group = GroupId::new(DeploymentId::new(owner, dseq).unwrap(), 1).unwrap();
            OrderId::new(group, 1).unwrap()
        };
        let (over, other) = (id(7), id(8));
        let mut schedule = Schedule::default();
        for order in [over, other] {
            schedule.timers.set(Timer::Check(order), Now::default());
            schedule.timers.set(Timer::Retry(order), Now::default());
            schedule.deadlines.set(order, BlockTime::default());
        }
        schedule.forget(over);
        let timers: Vec<_> = std::iter::from_fn(|| schedule.timers.pop(Now::default())).collect();
        assert_eq!(timers, [Timer::Check(other), Timer::Retry(other)]);
        assert_eq!(schedule.deadlines.pop(BlockTime::default()), Some(other));
        assert_eq!(schedule.deadlines.pop(BlockTime::default()), None);
    }
}
