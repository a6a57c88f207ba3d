//! Sorting as the reference implementation sorts, where ties are visible in the result.
//!
//! Exposes and endpoints are sorted by Go's `sort.Sort`, which is not stable: with more than
//! twelve elements, equal ones may change places. Where that happens is part of what goes on
//! chain, so the same algorithm is followed here step by step: an insertion sort for short
//! ranges, a quicksort that looks for patterns for longer ones, a heap sort as its last resort,
//! and a generator of "random" numbers that is seeded with the length.

/// Ranges up to this length are sorted by insertion.
const SHORT: usize = 12;

/// Sorts by a strict "goes before".
pub(super) fn sort<T>(items: &mut [T], goes_before: impl Fn(&T, &T) -> bool) {
    let length = items.len();
    let limit = usize::BITS - length.leading_zeros();
    Sorter { items, goes_before }.quick_sort(0, length, limit);
}

struct Sorter<'i, T, F> {
    items: &'i mut [T],
    goes_before: F,
}

/// What choosing a pivot says about the range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Unknown,
    Increasing,
    Decreasing,
}

impl<T, F: Fn(&T, &T) -> bool> Sorter<'_, T, F> {
    fn less(&self, a: usize, b: usize) -> bool {
        match (self.items.get(a), self.items.get(b)) {
            (Some(a), Some(b)) => (self.goes_before)(a, b),
            _ => false,
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.items.swap(a, b);
    }

    fn insertion_sort(&mut self, start: usize, end: usize) {
        for next in start + 1..end {
            let mut at = next;
            while at > start && self.less(at, at - 1) {
                self.swap(at, at - 1);
                at -= 1;
            }
        }
    }

    fn quick_sort(&mut self, mut start: usize, mut end: usize, mut limit: u32) {
        let mut was_balanced = true;
        let mut was_partitioned = true;
        loop {
            let length = end - start;
            if length <= SHORT {
                return self.insertion_sort(start, end);
            }
            if limit == 0 {
                return self.heap_sort(start, end);
            }
            if !was_balanced {
                self.break_patterns(start, end);
                limit -= 1;
            }
            let (mut pivot, mut hint) = self.choose_pivot(start, end);
            if hint == Hint::Decreasing {
                self.reverse(start, end);
                pivot = (end - 1) - (pivot - start);
                hint = Hint::Increasing;
            }
            if was_balanced
                && was_partitioned
                && hint == Hint::Increasing
                && self.nearly_sorted(start, end)
            {
                return;
            }
            // Elements equal to the one before the range: they need no sorting among each other.
            if start > 0 && !self.less(start - 1, pivot) {
                start = self.partition_equal(start, end, pivot);
                continue;
            }
            let (middle, already_partitioned) = self.partition(start, end, pivot);
            was_partitioned = already_partitioned;
            let (left, right) = (middle - start, end - middle);
            was_balanced = left.min(right) >= length / 8;
            if left < right {
                self.quick_sort(start, middle, limit);
                start = middle + 1;
            } else {
                self.quick_sort(middle + 1, end, limit);
                end = middle;
            }
        }
    }

    /// Smaller elements to the left of the pivot, the others to its right.
    fn partition(&mut self, start: usize, end: usize, pivot: usize) -> (usize, bool) {
        self.swap(start, pivot);
        let (mut left, mut right) = (start + 1, end - 1);
        while left <= right && self.less(left, start) {
            left += 1;
        }
        while left <= right && !self.less(right, start) {
            right -= 1;
        }
        if left > right {
            self.swap(right, start);
            return (right, true);
        }
        self.swap(left, right);
        left += 1;
        right -= 1;
        loop {
            while left <= right && self.less(left, start) {
                left += 1;
            }
            while left <= right && !self.less(right, start) {
                right -= 1;
            }
            if left > right {
                break;
            }
            self.swap(left, right);
            left += 1;
            right -= 1;
        }
        self.swap(right, start);
        (right, false)
    }

    /// Elements equal to the pivot to the left, greater ones to the right.
    fn partition_equal(&mut self, start: usize, end: usize, pivot: usize) -> usize {
        self.swap(start, pivot);
        let (mut left, mut right) = (start + 1, end - 1);
        loop {
            while left <= right && !self.less(start, left) {
                left += 1;
            }
            while left <= right && self.less(start, right) {
                right -= 1;
            }
            if left > right {
                return left;
            }
            self.swap(left, right);
            left += 1;
            right -= 1;
        }
    }

    /// Finishes a range that is nearly in order; `false` when it is not after a few steps.
    fn nearly_sorted(&mut self, start: usize, end: usize) -> bool {
        const MOST_STEPS: usize = 5;
        const SHORTEST_SHIFTING: usize = 50;
        let mut at = start + 1;
        for _ in 0..MOST_STEPS {
            while at < end && !self.less(at, at - 1) {
                at += 1;
            }
            if at == end {
                return true;
            }
            if end - start < SHORTEST_SHIFTING {
                return false;
            }
            self.swap(at, at - 1);
            if at - start >= 2 {
                for left in (1..at).rev() {
                    if !self.less(left, left - 1) {
                        break;
                    }
                    self.swap(left, left - 1);
                }
            }
            if end - at >= 2 {
                for right in at + 1..end {
                    if !self.less(right, right - 1) {
                        break;
                    }
                    self.swap(right, right - 1);
                }
            }
        }
        false
    }

    /// Moves three elements about, so that an input made to be slow is slow no longer.
    fn break_patterns(&mut self, start: usize, end: usize) {
        let length = end - start;
        if length < 8 {
            return;
        }
        let mut random = length as u64;
        let modulus = 1usize << (usize::BITS - length.leading_zeros());
        let index = start + (length / 4) * 2 - 1;
        for offset in 0..3 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Only the low bits are used.
            #[expect(clippy::cast_possible_truncation)]
            let mut other = random as usize & (modulus - 1);
            if other >= length {
                other -= length;
            }
            self.swap(index + offset, start + other);
        }
    }

    /// A middling element, and whether the range looks sorted one way or the other.
    fn choose_pivot(&self, start: usize, end: usize) -> (usize, Hint) {
        const SHORTEST_NINTHER: usize = 50;
        const MOST_SWAPS: usize = 4 * 3;
        let length = end - start;
        let mut swaps = 0;
        let (mut i, mut j, mut k) =
            (start + length / 4, start + length / 4 * 2, start + length / 4 * 3);
        if length >= 8 {
            if length >= SHORTEST_NINTHER {
                i = self.median(i - 1, i, i + 1, &mut swaps);
                j = self.median(j - 1, j, j + 1, &mut swaps);
                k = self.median(k - 1, k, k + 1, &mut swaps);
            }
            j = self.median(i, j, k, &mut swaps);
        }
        match swaps {
            0 => (j, Hint::Increasing),
            MOST_SWAPS => (j, Hint::Decreasing),
            _ => (j, Hint::Unknown),
        }
    }

    fn median(&self, a: usize, b: usize, c: usize, swaps: &mut usize) -> usize {
        let mut ordered = |a: usize, b: usize| {
            if self.less(b, a) {
                *swaps += 1;
                (b, a)
            } else {
                (a, b)
            }
        };
        let (a, b) = ordered(a, b);
        let (b, _) = ordered(b, c);
        ordered(a, b).1
    }

    fn reverse(&mut self, start: usize, end: usize) {
        if let Some(range) = self.items.get_mut(start..end) {
            range.reverse();
        }
    }

    fn heap_sort(&mut self, start: usize, end: usize) {
        let length = end - start;
        for root in (0..=(length - 1) / 2).rev() {
            self.sift_down(root, length, start);
        }
        for last in (0..length).rev() {
            self.swap(start, start + last);
            self.sift_down(0, last, start);
        }
    }

    fn sift_down(&mut self, mut root: usize, end: usize, first: usize) {
        loop {
            let mut child = 2 * root + 1;
            if child >= end {
                return;
            }
            if child + 1 < end && self.less(first + child, first + child + 1) {
                child += 1;
            }
            if !self.less(first + root, first + child) {
                return;
            }
            self.swap(first + root, first + child);
            root = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sorts pairs by their first half and shows where the second halves went.
    fn order(keys: &[u32]) -> Vec<usize> {
        let mut pairs: Vec<(u32, usize)> = keys.iter().copied().zip(0..).collect();
        sort(&mut pairs, |a, b| a.0 < b.0);
        pairs.into_iter().map(|(_, index)| index).collect()
    }

    #[test]
    fn short_ranges_keep_their_order() {
        assert_eq!(order(&[1, 0, 1, 0, 1, 0]), [1, 3, 5, 0, 2, 4]);
        assert_eq!(order(&[0; 40]), (0..40).collect::<Vec<_>>());
    }

    /// The expected digests (FNV-1a over the indexes) are of what Go 1.26 makes of the same keys.
    #[test]
    fn longer_ranges_go_where_go_puts_them() {
        for (length, modulus, expected) in [
            (13, 2, 0x5d33cd044072bdc1),
            (13, 3, 0x2a7c80d6cd902c0f),
            (13, 10, 0x5effa2a1a6adf0e3),
            (13, 1000, 0xe80162ace053720f),
            (14, 2, 0xb746f5a24482cf7c),
            (14, 3, 0x8c36ab9e0351a21e),
            (14, 10, 0xd86df988dabc5f28),
            (14, 1000, 0x75dc69b59d088f0c),
            (17, 2, 0x26816bc97b5a5267),
            (17, 3, 0xdcc9527c21e1ff1d),
            (17, 10, 0xfbc9b010dc4ba313),
            (17, 1000, 0xae4c9b22ce2ad5e9),
            (20, 2, 0x9298f36df3ff3e23),
            (20, 3, 0x7c40dc089227b145),
            (20, 10, 0x04158a53f0b5a415),
            (20, 1000, 0xca25dcae20651b95),
            (30, 2, 0x38ef630e0c6ba0ee),
            (30, 3, 0x9a13eab5b6854e5c),
            (30, 10, 0xf10b1f38e8b1ea96),
            (30, 1000, 0x585e97bf834eda8a),
            (49, 2, 0x6fe56e29c402906d),
            (49, 3, 0x448d14b393a290cf),
            (49, 10, 0x6214ca7252a0cc23),
            (49, 1000, 0x1160a0a119f91d29),
            (50, 2, 0x636c57de144db422),
            (50, 3, 0x9d7955ce4170161c),
            (50, 10, 0x26383c9cac17f258),
            (50, 1000, 0x8739ca448e749234),
            (51, 2, 0x172a855eda737d3c),
            (51, 3, 0xb1a9c8e2eb00c7bc),
            (51, 10, 0xe8f2b63cf260ad22),
            (51, 1000, 0xc701fd5856ee803c),
            (64, 2, 0xd24952d32b81e75b),
            (64, 3, 0xba1ed4ca483b506d),
            (64, 10, 0x85f6f604de79bd35),
            (64, 1000, 0x7acc94af3e57edd9),
            (100, 2, 0xf8c35be149eddb3f),
            (100, 3, 0x4abfd1ecb969eee3),
            (100, 10, 0xa45d2e55cf28d987),
            (100, 1000, 0x3acac21e03643bd7),
            (200, 2, 0x16df6c869ed4ae83),
            (200, 3, 0x4f17b333218d39ff),
            (200, 10, 0xc075ae6b02713d37),
            (200, 1000, 0xcabc7c9755876981),
            (1000, 2, 0x34d51b6ff6e03705),
            (1000, 3, 0x77b7dc85a6cac3bb),
            (1000, 10, 0x0133389abcf30b2f),
            (1000, 1000, 0x9923e10da6d98de5),
        ] {
            let mut random: u64 = length * 31 + modulus;
            let keys: Vec<u32> = (0..length)
                .map(|_| {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    u32::try_from((random >> 33) % modulus).unwrap()
                })
                .collect();
            let digest = order(&keys).into_iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, index| {
                (hash ^ index as u64).wrapping_mul(0x0100_0000_01b3)
            });
            assert_eq!(digest, expected, "{length} keys below {modulus}");
        }
    }

    proptest! {
        #[test]
        fn whatever_the_order_it_is_sorted(keys in prop::collection::vec(0u32..20, 0..300)) {
            let sorted: Vec<u32> = order(&keys).into_iter().map(|index| keys[index]).collect();
            let mut expected = keys;
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }
}
