//! How much of what a tenant orders a pod asks the scheduler for.

/// By how much one resource is oversold: `1 + percent/100`, as an exact fraction.
///
/// The Go provider divides the percentage as an integer, so that anything under 100 has no effect;
/// here it means what it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitLevel {
    percent: u64,
}

impl CommitLevel {
    /// A level of `1 + percent/100`.
    pub const fn from_percent(percent: u64) -> Self {
        Self { percent }
    }

    /// What a pod asks for when the tenant ordered `ordered`: `ordered ÷ level`, rounded half away
    /// from zero, and at least 1. Without overcommit all of it.
    pub fn request(self, ordered: u64) -> u64 {
        if self.percent == 0 {
            return ordered;
        }
        // Under 2^64 × 100 and 2^64 + 100: no term reaches 2^80.
        let divisor = 100 + u128::from(self.percent);
        let rounded = (200 * u128::from(ordered) + divisor) / (2 * divisor);
        // The level is above 1, so the quotient is not above `ordered`.
        u64::try_from(rounded).unwrap_or(ordered).max(1)
    }
}

/// The levels of everything that can be oversold. Cards and persistent volumes never are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitLevels {
    pub cpu: CommitLevel,
    /// Of memory, volumes of class `ram` included.
    pub memory: CommitLevel,
    /// Of storage that lives with the pod.
    pub storage: CommitLevel,
}

impl CommitLevels {
    /// The levels for these percentages.
    pub const fn from_percent(cpu: u64, memory: u64, storage: u64) -> Self {
        Self {
            cpu: CommitLevel::from_percent(cpu),
            memory: CommitLevel::from_percent(memory),
            storage: CommitLevel::from_percent(storage),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_is_the_order_divided_by_the_level() {
        for (percent, ordered, request) in [
            (0, 100, 100),
            (0, 0, 0),
            (100, 100, 50),
            (200, 100, 33),
            (999_900, 100, 1),
            // Half away from zero.
            (100, 101, 51),
            (100, 1, 1),
            // Percentages that the Go provider ignores.
            (50, 100, 67),
            (25, 1000, 800),
            (10, 11, 10),
            (1, 101, 100),
            // At least 1, also of nothing.
            (100, 0, 1),
            (u64::MAX, u64::MAX, 100),
            (1, u64::MAX, 18_264_103_043_276_783_777),
        ] {
            let level = CommitLevel::from_percent(percent);
            assert_eq!(level.request(ordered), request, "{ordered} at {percent} %");
        }
    }

    proptest! {
        #[test]
        fn a_request_is_never_more_than_the_order(percent: u64, ordered in 1_u64..) {
            prop_assert!((1..=ordered).contains(&CommitLevel::from_percent(percent).request(ordered)));
        }
    }
}
