//! Times as a node writes them: nanoseconds since 1970 as RFC 3339 text or as a protobuf timestamp.

use prost_types::Timestamp;

/// Nanoseconds in a second.
const SECOND: i64 = 1_000_000_000;
const DAY_SECONDS: i64 = 86_400;

/// The text with as many digits after the point as needed, always in UTC.
pub fn rfc3339(unix_nanos: i64) -> String {
    let nanos = unix_nanos.rem_euclid(SECOND);
    let mut text = seconds_text(unix_nanos.div_euclid(SECOND));
    if nanos > 0 {
        let digits = format!("{nanos:09}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
    text.push('Z');
    text
}

/// The text without a fraction, as the chain writes it into answers about transactions.
pub fn rfc3339_seconds(unix_nanos: i64) -> String {
    let mut text = seconds_text(unix_nanos.div_euclid(SECOND));
    text.push('Z');
    text
}

/// The time of a text in UTC; `None` where it is none.
pub fn parse_rfc3339(text: &str) -> Option<i64> {
    let text = text.strip_suffix('Z')?;
    let (date, time) = text.split_once('T')?;
    let days = parse_date(date)?;
    let (whole, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut parts = whole.split(':');
    let mut part = |limit: i64| number(parts.next()?, 2).filter(|value| *value < limit);
    let seconds = part(24)? * 3_600 + part(60)? * 60 + part(60)?;
    if parts.next().is_some() || fraction.len() > 9 {
        return None;
    }
    let nanos = match fraction {
        "" if time.contains('.') => return None,
        "" => 0,
        digits => number(&format!("{digits:0<9}"), 9)?,
    };
    (days * DAY_SECONDS + seconds).checked_mul(SECOND)?.checked_add(nanos)
}

/// Days since 1970 of a date such as `2026-11-15`.
fn parse_date(text: &str) -> Option<i64> {
    let mut parts = text.split('-');
    let (year, month) = (number(parts.next()?, 4)?, number(parts.next()?, 2)?);
    let day = number(parts.next()?, 2)?;
    let valid = parts.next().is_none() && (1..=12).contains(&month) && (1..=31).contains(&day);
    let days = days_from_civil(year, month, day);
    (valid && civil_from_days(days) == (year, month, day)).then_some(days)
}

fn number(text: &str, length: usize) -> Option<i64> {
    let digits = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

pub fn timestamp(unix_nanos: i64) -> Timestamp {
    // A remainder of a second fits into 32 bits.
    let nanos = i32::try_from(unix_nanos.rem_euclid(SECOND)).unwrap_or_default();
    Timestamp { seconds: unix_nanos.div_euclid(SECOND), nanos }
}

fn seconds_text(unix: i64) -> String {
    let (year, month, day) = civil_from_days(unix.div_euclid(DAY_SECONDS));
    let second = unix.rem_euclid(DAY_SECONDS);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

// The calendar repeats every 400 years of 146,097 days; years are counted from March, so that a
// leap day is the last of its year.

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let shifted = (month + 9) % 12;
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_time_is_written_as_go_writes_it() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(1_794_769_040_119_188_959), "2026-11-15T18:57:20.119188959Z");
        assert_eq!(rfc3339(1_794_769_040_119_000_000), "2026-11-15T18:57:20.119Z");
        assert_eq!(rfc3339(-1), "1969-12-31T23:59:59.999999999Z");
        assert_eq!(rfc3339_seconds(1_794_769_040_119_188_959), "2026-11-15T18:57:20Z");
        assert_eq!(rfc3339(951_782_400_000_000_000), "2000-02-29T00:00:00Z");
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        for text in [
            "",
            "2026-11-15",
            "2026-11-15T18:57:20",
            "2026-02-29T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T18:57:20.Z",
            "2026-11-15T18:57:20.1234567890Z",
            "26-11-15T18:57:20Z",
            "2026-11-15T18:57:20+01:00",
        ] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_time_reads_back(nanos in 0..4_000_000_000_000_000_000_i64) {
            prop_assert_eq!(parse_rfc3339(&rfc3339(nanos)), Some(nanos));
        }
    }
}
