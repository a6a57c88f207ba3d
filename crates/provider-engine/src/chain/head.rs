//! Where the chain is, and when its blocks were made.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use akash_types::OrderId;

use crate::time::BlockTime;

/// How many recent blocks are remembered with their times.
const REMEMBERED: usize = 1_024;

/// Time between blocks as long as too few were seen to tell: mainnet's.
const USUAL_PACE: Duration = Duration::from_secs(6);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub height: u64,
    pub time: BlockTime,
}

/// The newest block, and the times of some before it.
#[derive(Clone, Debug, Default)]
pub struct ChainClock {
    newest: Option<Head>,
    times: BTreeMap<u64, BlockTime>,
    asked: BTreeMap<u64, BlockTime>,
    /// Orders and leases that wait for the time of a block.
    waiting: BTreeMap<u64, BTreeSet<OrderId>>,
}

/// Average time between blocks, exact: so much time for so many blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    time: Duration,
    blocks: u64,
}

impl Pace {
    /// So much time for so many blocks; `None` without either.
    pub fn new(time: Duration, blocks: u64) -> Option<Self> {
        (blocks > 0 && !time.is_zero()).then_some(Self { time, blocks })
    }

    /// How long `blocks` take.
    pub fn duration_of(self, blocks: u64) -> Duration {
        let millis = self.time.as_millis().saturating_mul(u128::from(blocks));
        let millis = millis.checked_div(u128::from(self.blocks)).unwrap_or(millis);
        Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
    }

    /// How many whole blocks fit into `time`.
    pub fn blocks_in(self, time: Duration) -> u64 {
        let blocks = time.as_millis().saturating_mul(u128::from(self.blocks));
        let blocks = blocks.checked_div(self.time.as_millis()).unwrap_or(u128::MAX);
        u64::try_from(blocks).unwrap_or(u64::MAX)
    }
}

impl ChainClock {
    /// The newest block; height 0 at the start of 1970 before the first.
    pub fn head(&self) -> Head {
        self.newest.unwrap_or_default()
    }

    /// Height of the newest block; 0 before the first.
    pub fn height(&self) -> u64 {
        self.head().height
    }

    /// Time of the newest block; the start of 1970 before the first.
    pub fn time(&self) -> BlockTime {
        self.head().time
    }

    /// Whether any block was seen.
    pub const fn is_known(&self) -> bool {
        self.newest.is_some()
    }

    /// A block was made. False, and nothing changes, if it is not newer than the newest.
    pub fn advance(&mut self, height: u64, time: BlockTime) -> bool {
        if self.newest.is_some_and(|newest| height <= newest.height) {
            return false;
        }
        // Block times never decrease; one that does is somebody's mistake and must not bring a
        // deadline back.
        let time = time.max(self.time());
        self.newest = Some(Head { height, time });
        self.times.insert(height, time);
        if self.times.len() > REMEMBERED {
            self.times.pop_first();
        }
        true
    }

    /// When block `height` was made, if that is known.
    pub fn time_of(&self, height: u64) -> Option<BlockTime> {
        self.times.get(&height).or_else(|| self.asked.get(&height)).copied()
    }

    /// When block `height` was made, for `order`, which waits for that if it is not known.
    pub fn time_for(&mut self, order: OrderId, height: u64) -> Option<BlockTime> {
        let known = self.time_of(height);
        if known.is_none() {
            self.waiting.entry(height).or_default().insert(order);
        }
        known
    }

    /// The chain said when block `height` was made, or that it no longer knows: then it is
    /// estimated from the pace. Gives the time, and what waited for it.
    pub fn learn(
        &mut self,
        height: u64,
        time: Option<BlockTime>,
    ) -> (BlockTime, BTreeSet<OrderId>) {
        let time = time.unwrap_or_else(|| self.estimate(height));
        if self.asked.len() >= REMEMBERED {
            self.asked.pop_first();
        }
        self.asked.insert(height, time);
        (time, self.waiting.remove(&height).unwrap_or_default())
    }

    fn estimate(&self, height: u64) -> BlockTime {
        let ago = self.pace().duration_of(self.height().saturating_sub(height));
        BlockTime::from_unix(self.time().unix().saturating_sub(ago.as_secs()))
    }

    /// Average time between the blocks remembered.
    pub fn pace(&self) -> Pace {
        let ends = self.times.first_key_value().zip(self.times.last_key_value());
        match ends {
            Some(((first, start), (last, end))) if first < last => {
                Pace { time: end.since(*start).max(Duration::from_millis(1)), blocks: last - first }
            }
            _ => Pace { time: USUAL_PACE, blocks: 1 },
        }
    }
}

#[cfg(test)]
mod tests {
    use akash_types::{Address, DeploymentId, GroupId};

    use super::*;

    fn at(seconds: u64) -> BlockTime {
        BlockTime::from_unix(seconds)
    }

    #[test]
    fn a_block_counts_once_and_in_order() {
        let mut head = ChainClock::default();
        assert!(head.advance(10, at(100)));
        assert!(!head.advance(10, at(101)));
        assert!(!head.advance(9, at(99)));
        assert_eq!((head.height(), head.time()), (10, at(100)));
        assert!(head.advance(11, at(90)));
        assert_eq!(head.time(), at(100), "time never goes back");
    }

    #[test]
    fn forgotten_times_are_estimated_from_the_pace() {
        let mut head = ChainClock::default();
        for block in 0..=10 {
            head.advance(1_000 + block, at(50_000 + 5 * block));
        }
        assert_eq!(head.time_of(1_003), Some(at(50_015)));
        assert_eq!(head.time_of(900), None);
        assert_eq!(head.learn(900, None).0, at(50_050 - 5 * 110));
        assert_eq!(head.learn(901, Some(at(7))).0, at(7));
        assert_eq!(head.time_of(901), Some(at(7)));
        assert_eq!(head.pace().blocks_in(Duration::from_secs(60)), 12);
    }

    #[test]
    fn an_order_waits_for_the_time_of_a_block_until_it_is_known() {
        let owner = Address::from_bytes(&[1; 20]).unwrap();
        let group = GroupId::new(DeploymentId::new(owner, 7).unwrap(), 1).unwrap();
        let order = OrderId::new(group, 1).unwrap();
        let mut head = ChainClock::default();
        head.advance(10, at(100));
        assert_eq!(head.time_for(order, 10), Some(at(100)));
        assert_eq!(head.time_for(order, 4), None);
        assert_eq!(head.learn(10, None).1, [].into(), "it does not wait for what it was told");
        assert_eq!(head.learn(4, Some(at(60))), (at(60), [order].into()));
        assert_eq!(head.learn(4, Some(at(60))).1, [].into());
        assert_eq!(head.time_for(order, 4), Some(at(60)));
    }

    #[test]
    fn before_two_blocks_the_usual_pace_holds() {
        let mut head = ChainClock::default();
        assert_eq!(head.pace().duration_of(10), Duration::from_secs(60));
        head.advance(5, at(5));
        assert_eq!(head.pace().blocks_in(Duration::from_secs(60)), 10);
    }
}
