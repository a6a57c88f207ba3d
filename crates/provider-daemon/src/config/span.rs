//! Spans of time as Go writes them: `5m`, `1h30m`, `1.5s`, `300ms`, `0`.

use std::time::Duration;

use super::error::Wrong;

/// Nanoseconds of each unit; those that begin like another stand before it.
const UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// What Go holds at most: 2^63 - 1 nanoseconds.
const MOST: u128 = i64::MAX as u128;

/// Reads a span that is not negative, for flags that are no settings of the provider.
pub fn read_span(text: &str) -> Result<Duration, String> {
    parse(text).map_err(|wrong| format!("{}; {}", wrong.what, wrong.remedy))
}

/// Reads a span that is not negative.
pub(super) fn parse(text: &str) -> Result<Duration, Wrong> {
    let remedy = "write a span of time such as 5m, 1h30m or 90s";
    let trimmed = text.trim();
    let unsigned = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    let nanos = nanoseconds(unsigned)
        .ok_or_else(|| Wrong::new(format!("{text:?} is not a span of time"), remedy))?;
    if trimmed.starts_with('-') && nanos > 0 {
        return Err(Wrong::new(format!("{text:?} is negative"), "give 0 or more"));
    }
    let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    // Under 2^63 nanoseconds, so both fit.
    let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
    Ok(Duration::new(seconds, u32::try_from(rest).unwrap_or_default()))
}

fn nanoseconds(text: &str) -> Option<u128> {
    if text == "0" {
        return Some(0);
    }
    let mut rest = text;
    let mut total = 0_u128;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at_checked(end)?;
        let (name, unit) = UNITS.iter().find(|(name, _)| tail.starts_with(name))?;
        total = total.checked_add(part(number, *unit)?)?;
        rest = tail.strip_prefix(name)?;
    }
    (!text.is_empty() && total <= MOST).then_some(total)
}

/// `1.5` of a unit, what is under a nanosecond cut off.
fn part(number: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut total = whole.checked_mul(unit)?;
    let mut scale = 10_u128;
    for digit in fraction.chars().take(18) {
        total = total.checked_add(u128::from(digit.to_digit(10)?) * unit / scale)?;
        scale *= 10;
    }
    Some(total)
}

/// A span in a short form that [`parse`] reads back.
pub(super) fn show(span: Duration) -> String {
    let seconds = span.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let mut text = String::new();
    if hours > 0 {
        text.push_str(&format!("{hours}h"));
    }
    if minutes > 0 {
        text.push_str(&format!("{minutes}m"));
    }
    if !seconds.is_multiple_of(60) {
        text.push_str(&format!("{}s", seconds % 60));
    }
    if span.subsec_millis() > 0 {
        text.push_str(&format!("{}ms", span.subsec_millis()));
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_of_go() {
        for (text, nanos) in [
            ("0", 0),
            ("5m", 300_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5h", 5_400_000_000_000),
            (".5s", 500_000_000),
            ("300ms", 300_000_000),
            ("2us", 2_000),
            ("2µs", 2_000),
            ("7ns", 7),
            ("1m0.25s", 60_250_000_000),
            ("+1s", 1_000_000_000),
            ("-0s", 0),
            ("0.0000000001s", 0),
        ] {
            assert_eq!(parse(text).map(|span| span.as_nanos()), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn what_go_does_not_take_is_refused() {
        for text in ["", "5", "m", "5x", "1..5s", ".s", "5m ago", "9999999999h", "1h-5m", "5 m"] {
            let wrong = parse(text).unwrap_err();
            assert!(wrong.what.contains("is not a span of time"), "{text}: {wrong:?}");
        }
        assert_eq!(parse("-5m").unwrap_err().what, "\"-5m\" is negative");
    }

    #[test]
    fn what_is_shown_reads_back() {
        for text in ["0", "5m", "1h30m", "24h", "10s", "1h1s", "1s500ms"] {
            assert_eq!(show(parse(text).unwrap()), text);
        }
    }
}
