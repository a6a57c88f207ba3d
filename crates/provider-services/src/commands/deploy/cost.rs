//! What a price per block comes to.

use std::time::Duration;

use akash_types::{Dec, DecCoin, Denom};

/// A month: a twelfth of a year of 365.25 days.
const MONTH: Duration = Duration::from_secs(2_629_800);
/// How many smallest units a coin has, where its name begins with a u.
const MICRO: u64 = 1_000_000;

/// What a price per block comes to in a month; `None` if it is too much to count.
pub(super) fn per_month(price: &DecCoin, block_time: Duration) -> Option<DecCoin> {
    let micros = |span: Duration| u64::try_from(span.as_micros()).ok();
    let block = Dec::from_int(micros(block_time)?);
    let month = i128::from(micros(MONTH)?);
    let amount = price.amount().checked_mul_int(month)?.checked_quo(block)?;
    DecCoin::new(price.denom().clone(), amount).ok()
}

/// How long funds last at a price per block.
pub(super) fn lasts(funds: Dec, price: Dec, block_time: Duration) -> Option<Duration> {
    if !price.is_positive() {
        return None;
    }
    let blocks = u64::try_from(funds.checked_quo_truncate(price)?.truncate_int()).ok()?;
    let seconds = u128::from(blocks).checked_mul(block_time.as_micros())? / 1_000_000;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// An amount in whole coins: `1.25 act` for `1250000uact`. Two places, or as many as it takes to
/// show that it is not nothing, rounded up.
pub(crate) fn in_coins(coin: &DecCoin) -> String {
    let Some(name) = whole_coin(coin.denom()) else {
        return format!("{} {}", places(coin.amount(), 2), coin.denom());
    };
    let amount = coin.amount().checked_quo(Dec::from_int(MICRO)).unwrap_or(coin.amount());
    let cents = Dec::from_int(1).checked_quo(Dec::from_int(100)).unwrap_or(amount);
    let digits = if amount.is_zero() || amount.scaled() >= cents.scaled() { 2 } else { 6 };
    format!("{} {name}", places(amount, digits))
}

fn whole_coin(denom: &Denom) -> Option<&str> {
    denom.as_str().strip_prefix('u').filter(|name| ["akt", "act", "usd"].contains(name))
}

/// So many places, rounded up: nobody wants to pay more than they were shown.
fn places(amount: Dec, digits: u32) -> String {
    let unit = 10_i128.pow(18 - digits);
    let rounded = amount.scaled().saturating_add(unit - 1) / unit * unit;
    let text = Dec::from_scaled(rounded).to_string();
    let keep = text.find('.').map_or(text.len(), |point| point + 1 + digits as usize);
    text.get(..keep).unwrap_or(&text).to_owned()
}

/// `3 days 4 hours`, `4 hours`, `5 minutes`.
pub(super) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let counted =
        |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60) {
        (0, 0, minutes) => counted(minutes, "minute"),
        (0, hours, _) => counted(hours, "hour"),
        (days, 0, _) => counted(days, "day"),
        (days, hours, _) if days < 10 => {
            format!("{} {}", counted(days, "day"), counted(hours, "hour"))
        }
        (days, ..) => counted(days, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coin(text: &str) -> DecCoin {
        text.parse().unwrap()
    }

    #[test]
    fn a_month_has_as_many_blocks_as_fit() {
        let six = Duration::from_secs(6);
        assert_eq!(per_month(&coin("1uact"), six), Some(coin("438300uact")));
        let half = Duration::from_millis(500);
        assert_eq!(per_month(&coin("0.5uact"), half), Some(coin("2629800uact")));
        assert_eq!(per_month(&coin("1uact"), Duration::ZERO), None);
    }

    #[test]
    fn amounts_are_shown_in_coins_and_never_as_nothing() {
        for (amount, wanted) in [
            ("1250000uact", "1.25 act"),
            ("1250001uakt", "1.26 akt"),
            ("438300uact", "0.44 act"),
            ("400uact", "0.000400 act"),
            ("0.1uact", "0.000001 act"),
            ("0uact", "0.00 act"),
            ("7ibc/AB", "7.00 ibc/AB"),
        ] {
            assert_eq!(in_coins(&coin(amount)), wanted);
        }
    }

    #[test]
    fn funds_last_as_many_blocks_as_they_pay() {
        let dec = |text: &str| coin(&format!("{text}uact")).amount();
        let six = Duration::from_secs(6);
        assert_eq!(lasts(dec("5000000"), dec("500"), six), Some(Duration::from_secs(60_000)));
        assert_eq!(lasts(dec("5"), dec("0"), six), None);
    }

    #[test]
    fn spans_are_told_in_words() {
        for (seconds, wanted) in [
            (59, "0 minutes"),
            (60, "1 minute"),
            (7200, "2 hours"),
            (90_000, "1 day 1 hour"),
            (900_000, "10 days"),
        ] {
            assert_eq!(span(Duration::from_secs(seconds)), wanted);
        }
    }
}
