//! Decimal numbers of any length, compared without rounding.

use std::cmp::Ordering;

/// A number as its digits, without leading zeros before and trailing zeros after the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal<'a> {
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Decimal<'a> {
    /// The number that a text begins with: `5000uakt` is 5000.
    pub(super) fn leading(text: &'a str) -> Option<Self> {
        let (whole, rest) = split_digits(text);
        if whole.is_empty() {
            return None;
        }
        let fraction = rest.strip_prefix('.').map_or("", |rest| split_digits(rest).0);
        let whole = whole.trim_start_matches('0');
        Some(Self { whole, fraction: fraction.trim_end_matches('0') })
    }
}

impl Ord for Decimal<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let whole = self.whole.len().cmp(&other.whole.len());
        whole.then(self.whole.cmp(other.whole)).then(self.fraction.cmp(other.fraction))
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value() {
        let order = |left, right| Some(Decimal::leading(left)?.cmp(&Decimal::leading(right)?));
        assert_eq!(order("9", "10"), Some(Ordering::Less));
        assert_eq!(order("010", "10"), Some(Ordering::Equal));
        assert_eq!(order("1.50", "1.5"), Some(Ordering::Equal));
        assert_eq!(order("1.49", "1.5"), Some(Ordering::Less));
        assert_eq!(order("5000uakt", "4999.99"), Some(Ordering::Greater));
        assert_eq!(order("340282366920938463463374607431768211456", "1"), Some(Ordering::Greater));
        assert_eq!(order("uakt", "1"), None);
    }
}
