//! Durations in Go's notation, as SDLs and flags have them.

use std::time::Duration;

/// Reads `1h30m`, `1.5h`, `300ms`; `None` when it is not a duration, negative, or beyond what
/// Go can hold (2^63 nanoseconds).
pub fn parse_go_duration(text: &str) -> Option<Duration> {
    const MOST_NANOS: u128 = i64::MAX as u128;
    let text = text.strip_prefix('+').unwrap_or(text);
    if text == "0" {
        return Some(Duration::ZERO);
    }
    if text.is_empty() {
        return None;
    }
    let mut rest = text;
    let mut nanos: u128 = 0;
    while !rest.is_empty() {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at_checked(number_end)?;
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at_checked(unit_end)?;
        nanos = nanos.checked_add(part(number, unit_nanos(unit)?)?)?;
        rest = after;
    }
    if nanos > MOST_NANOS {
        return None;
    }
    u64::try_from(nanos).ok().map(Duration::from_nanos)
}

fn unit_nanos(unit: &str) -> Option<u128> {
    Some(match unit {
        "ns" => 1,
        // Both code points that look like a micro sign.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `1.5` of a unit, cut to whole nanoseconds.
fn part(number: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // Beyond 18 places nothing of an hour is left.
    let fraction = fraction.get(..18).unwrap_or(fraction);
    let scale = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let fraction: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    whole.checked_mul(unit)?.checked_add(fraction.checked_mul(unit)? / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, millis) in [
            ("24h", Some(86_400_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5h", Some(5_400_000)),
            (".5s", Some(500)),
            ("1.s", Some(1000)),
            ("300ms", Some(300)),
            ("2000us", Some(2)),
            ("2000µs", Some(2)),
            ("+1s", Some(1000)),
            ("0", Some(0)),
            ("0s", Some(0)),
            ("", None),
            ("5", None),
            ("h", None),
            (".s", None),
            ("1..5s", None),
            ("1d", None),
            ("-1s", None),
            ("1 h", None),
            ("abc", None),
            ("2562048h", None),
            ("99999999999999999999999999999999999999999999h", None),
        ] {
            assert_eq!(parse_go_duration(text), millis.map(Duration::from_millis), "{text:?}");
        }
    }
}
