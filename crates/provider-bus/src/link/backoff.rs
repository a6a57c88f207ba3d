//! How long to wait before the next try.

use std::time::Duration;

use super::Timing;

/// The wait after that many tries in a row ended.
pub(super) fn wait(attempts: u32, timing: &Timing) -> Duration {
    let doublings = attempts.saturating_sub(1).min(30);
    timing.first_wait.saturating_mul(1 << doublings).min(timing.longest_wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let timing = Timing::default();
        let waits: Vec<_> =
            [0, 1, 2, 3, 6, 7, u32::MAX].map(|tries| wait(tries, &timing).as_millis()).into();
        assert_eq!(waits, [100, 100, 200, 400, 3_200, 5_000, 5_000]);
    }
}
