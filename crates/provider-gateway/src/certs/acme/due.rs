//! When a certificate is asked for.

use std::time::{Duration, SystemTime};

/// When a certificate with these times is to be replaced: a third of its life before its end, which
/// is a month for the usual three.
pub(super) fn replace_at(not_before: SystemTime, not_after: SystemTime) -> SystemTime {
    let life = not_after.duration_since(not_before).unwrap_or_default();
    not_after.checked_sub(life / 3).unwrap_or(not_before)
}

/// How long to wait after this many failures in a row. Authorities allow five failures an hour.
pub(super) fn wait_after(failures: u32) -> Duration {
    let minutes = match failures {
        0 | 1 => 1,
        2 => 5,
        3 => 15,
        4..=9 => 60,
        _ => 360,
    };
    Duration::from_mins(minutes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_its_life_is_left_when_it_is_replaced() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 20_000);
        let days = |days: u64| Duration::from_hours(24 * days);
        assert_eq!(replace_at(start, start + days(90)), start + days(60));
        assert_eq!(replace_at(start, start + days(6)), start + days(4));
        assert_eq!(replace_at(start + days(1), start), start);
    }

    #[test]
    fn no_hour_sees_more_than_four_failures() {
        let mut at = Duration::ZERO;
        let failures: Vec<Duration> = (1..20)
            .map(|failure| {
                at += wait_after(failure);
                at
            })
            .collect();
        for window in failures.windows(5) {
            assert!(window[4] - window[0] > Duration::from_hours(1), "{window:?}");
        }
    }
}
