//! How many messages go into one transaction.
//!
//! A transaction is all or nothing, and simulation does not see what else will be in the block: in
//! large ones one message drags many down, small ones cost more gas each.

use std::collections::BTreeMap;

use akash_types::Class;

use super::config::LaneConfig;

#[derive(Debug, Default)]
pub(super) struct BatchSizes {
    sizes: BTreeMap<Class, Size>,
}

#[derive(Clone, Copy, Debug)]
struct Size {
    messages: usize,
    /// Height of the block in which it was last halved.
    halved_at: u64,
}

impl BatchSizes {
    pub(super) fn of(&self, config: &LaneConfig, class: Class) -> usize {
        let largest = config.largest_batch(class);
        self.sizes.get(&class).map_or(largest, |size| size.messages.min(largest))
    }

    /// Transactions of a class failed in a block: half as many from now on. Once per block, because
    /// what makes one fail makes others of the same block fail too.
    pub(super) fn failed(&mut self, config: &LaneConfig, class: Class, height: u64) {
        let messages = self.of(config, class);
        let size = self.sizes.entry(class).or_insert(Size { messages, halved_at: 0 });
        if size.halved_at < height {
            *size = Size { messages: messages.div_ceil(2), halved_at: height };
        }
    }

    /// A transaction of a class succeeded: one more from now on.
    pub(super) fn succeeded(&mut self, config: &LaneConfig, class: Class) {
        let largest = config.largest_batch(class);
        if let Some(size) = self.sizes.get_mut(&class) {
            size.messages = size.messages.saturating_add(1).min(largest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::FeeRule;
    use super::*;

    #[test]
    fn sizes_halve_once_per_block_and_grow_back() {
        let account = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap();
        let config = LaneConfig::new(account, FeeRule::parse("", "").unwrap());
        let mut sizes = BatchSizes::default();
        assert_eq!(sizes.of(&config, Class::Bid), 10);
        for (height, expected) in [(5, 5), (5, 5), (6, 3), (7, 2), (8, 1), (9, 1)] {
            sizes.failed(&config, Class::Bid, height);
            assert_eq!(sizes.of(&config, Class::Bid), expected, "{height}");
        }
        assert_eq!(sizes.of(&config, Class::Withdraw), 10, "each class for itself");
        for _ in 0..20 {
            sizes.succeeded(&config, Class::Bid);
        }
        assert_eq!(sizes.of(&config, Class::Bid), 10);
    }
}
