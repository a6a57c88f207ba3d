//! Stops destruction when too much looks bad at once.
//!
//! One lease that fails is the tenant's business; a third of all leases failing together is the
//! cluster's, and closing them would destroy what a repaired cluster would go on running. The
//! breaker then spares all of them and says so, until fewer look bad, the operator says
//! otherwise, or it has been open for so long that somebody must have seen it: then it lets one
//! through at a time.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use akash_types::OrderId;

use crate::time::BlockTime;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerSettings {
    /// With fewer bad leases than this it never opens.
    pub at_least: usize,
    /// It opens when more than this share of all leases looks bad, in percent.
    pub percent: usize,
    /// After this long it lets one through, and one more after each such time again.
    pub hold: Duration,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { at_least: 2, percent: 30, hold: Duration::from_secs(6 * 3_600) }
    }
}

/// Whether something may be destroyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Go,
    Spare,
}

#[derive(Clone, Debug, Default)]
pub struct Breaker {
    settings: BreakerSettings,
    bad: BTreeSet<OrderId>,
    open_since: Option<BlockTime>,
    reset_for: BTreeSet<OrderId>,
}

impl Breaker {
    pub fn new(settings: BreakerSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    pub fn configure(&mut self, settings: BreakerSettings) {
        self.settings = settings;
    }

    /// Whether destruction is stopped.
    pub const fn is_open(&self) -> bool {
        self.open_since.is_some()
    }

    /// A lease looks bad, and is to be closed. `all` is how many leases are live; `is_absent` says
    /// that nothing of it is in the cluster, which no amount of time makes a reason to close.
    pub fn propose(
        &mut self,
        lease: OrderId,
        all: usize,
        is_absent: bool,
        time: BlockTime,
    ) -> Verdict {
        self.bad.insert(lease);
        if self.reset_for.contains(&lease) {
            return Verdict::Go;
        }
        self.update(all, time);
        let Some(since) = self.open_since else { return Verdict::Go };
        if is_absent || time.since(since) < self.settings.hold {
            return Verdict::Spare;
        }
        self.open_since = Some(time);
        Verdict::Go
    }

    /// Whether a lease looks bad to it.
    pub fn has(&self, lease: OrderId) -> bool {
        self.bad.contains(&lease)
    }

    /// A lease looks good again, or is over.
    pub fn clear(&mut self, lease: OrderId, all: usize, time: BlockTime) {
        self.reset_for.remove(&lease);
        if self.bad.remove(&lease) {
            self.update(all, time);
        }
    }

    /// The operator looked: those that look bad now may go.
    pub fn reset(&mut self) {
        self.reset_for = self.bad.clone();
        self.open_since = None;
    }

    fn update(&mut self, all: usize, time: BlockTime) {
        let bad = self.bad.len();
        let too_many = bad >= self.settings.at_least
            && bad.saturating_mul(100) > all.saturating_mul(self.settings.percent);
        match (too_many, self.open_since) {
            (true, None) => self.open_since = Some(time),
            (false, Some(_)) => self.open_since = None,
            _ => {}
        }
    }
}

impl fmt::Display for Breaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.open_since {
            Some(since) => write!(f, "{} leases look bad at once, since {since}", self.bad.len()),
            None => write!(f, "{} leases look bad", self.bad.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use akash_types::{Address, DeploymentId, GroupId};

    use super::*;

    fn lease(number: u64) -> OrderId {
        let owner = Address::from_bytes(&[1; 20]).unwrap();
        let group = GroupId::new(DeploymentId::new(owner, number).unwrap(), 1).unwrap();
        OrderId::new(group, 1).unwrap()
    }

    fn at(seconds: u64) -> BlockTime {
        BlockTime::from_unix(seconds)
    }

    fn breaker() -> Breaker {
        let hold = Duration::from_secs(100);
        Breaker::new(BreakerSettings { at_least: 3, percent: 30, hold })
    }

    #[test]
    fn single_failures_are_closed() {
        let mut breaker = breaker();
        assert_eq!(breaker.propose(lease(1), 10, false, at(0)), Verdict::Go);
        assert_eq!(breaker.propose(lease(2), 10, false, at(0)), Verdict::Go);
        assert_eq!(
            breaker.propose(lease(3), 10, false, at(0)),
            Verdict::Go,
            "30 % are not more than 30 %"
        );
        assert!(!breaker.is_open());
    }

    #[test]
    fn many_at_once_are_spared_until_fewer_are_bad() {
        let mut breaker = breaker();
        for number in 1..=3 {
            breaker.propose(lease(number), 10, false, at(0));
        }
        assert_eq!(breaker.propose(lease(4), 10, false, at(0)), Verdict::Spare);
        assert_eq!(breaker.propose(lease(1), 10, false, at(50)), Verdict::Spare);
        breaker.clear(lease(4), 10, at(60));
        assert!(!breaker.is_open());
        assert_eq!(breaker.propose(lease(1), 10, false, at(60)), Verdict::Go);
    }

    #[test]
    fn open_for_long_it_lets_one_through_at_a_time() {
        let mut breaker = breaker();
        for number in 1..=5 {
            breaker.propose(lease(number), 10, false, at(0));
        }
        assert_eq!(breaker.propose(lease(1), 10, false, at(99)), Verdict::Spare);
        assert_eq!(breaker.propose(lease(1), 10, false, at(100)), Verdict::Go);
        assert_eq!(breaker.propose(lease(2), 10, false, at(101)), Verdict::Spare);
        assert_eq!(breaker.propose(lease(2), 10, false, at(200)), Verdict::Go);
    }

    #[test]
    fn no_time_lets_through_what_is_absent() {
        let mut breaker = breaker();
        for number in 1..=5 {
            breaker.propose(lease(number), 10, true, at(0));
        }
        assert_eq!(breaker.propose(lease(1), 10, true, at(1_000_000)), Verdict::Spare);
        breaker.reset();
        assert_eq!(breaker.propose(lease(1), 10, true, at(1_000_001)), Verdict::Go);
    }

    #[test]
    fn the_operator_lets_through_what_looks_bad_now_and_nothing_else() {
        let mut breaker = breaker();
        for number in 1..=5 {
            breaker.propose(lease(number), 10, false, at(0));
        }
        breaker.reset();
        assert_eq!(breaker.propose(lease(1), 10, false, at(1)), Verdict::Go);
        assert_eq!(breaker.propose(lease(6), 10, false, at(1)), Verdict::Spare);
    }
}
