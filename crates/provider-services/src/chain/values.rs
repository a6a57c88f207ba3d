//! Values of flags that the libraries do not read by themselves.

use std::time::{Duration, SystemTime};

use akash_types::{Coin, DecCoin, DepositSource, parse_go_duration};
use prost_types::Timestamp;

/// A coin in its smallest unit: `5000000uakt`, or `5akt`, which is the same.
pub(crate) fn coin(text: &str) -> Result<Coin, String> {
    let wrong = |error: akash_types::CoinError| error.to_string();
    let coin: DecCoin = text.trim().parse().map_err(wrong)?;
    let coin = coin.normalize().map_err(wrong)?;
    let whole = coin.amount().truncate_int();
    let exact = akash_types::Dec::checked_from_int(whole) == Some(coin.amount());
    match u128::try_from(whole) {
        Ok(amount) if exact => Ok(Coin::new(coin.denom().clone(), amount)),
        _ => Err(format!("{coin} is not a whole number of the smallest unit")),
    }
}

/// Where the money of a deposit comes from.
pub(crate) fn deposit_source(text: &str) -> Result<DepositSource, String> {
    match text.trim() {
        "balance" => Ok(DepositSource::Balance),
        "grant" => Ok(DepositSource::Grant),
        _ => Err("expected balance or grant".to_owned()),
    }
}

/// A span of time as Go writes it: `8760h`, `1h30m`, `90s`, `500ms`.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    parse_go_duration(text)
        .ok_or_else(|| "expected a span of time such as 8760h, 1h30m or 90s".to_owned())
}

/// A moment: RFC 3339, as in `2027-01-31T12:00:00Z`.
pub(crate) fn moment(text: &str) -> Result<SystemTime, String> {
    let time: Option<Timestamp> = text.parse().ok();
    time.and_then(|time| SystemTime::try_from(time).ok())
        .ok_or_else(|| "expected a time such as 2027-01-31T12:00:00Z".to_owned())
}

/// A moment in seconds since 1970; 0 is none.
pub(crate) fn unix_seconds(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected seconds since 1970, or 0 for no end".to_owned())
}

/// The moment that [`unix_seconds`] means.
pub(crate) fn after_1970(seconds: u64) -> Option<SystemTime> {
    (seconds > 0).then(|| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coins_are_taken_to_their_smallest_unit() {
        for (text, wanted) in
            [("5akt", "5000000uakt"), ("0.5act", "500000uact"), ("7uakt", "7uakt")]
        {
            assert_eq!(coin(text).unwrap().to_string(), wanted);
        }
        for bad in ["", "uakt", "5", "-5uakt", "0.5uakt", "0.0000001akt"] {
            assert!(coin(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn spans_are_those_of_go() {
        for (text, seconds) in
            [("8760h", 31_536_000), ("1h30m", 5400), ("1.5h", 5400), ("90s", 90), ("0", 0)]
        {
            assert_eq!(span(text).unwrap(), Duration::from_secs(seconds), "{text}");
        }
        assert_eq!(span("1500ms").unwrap(), Duration::from_millis(1500));
        for bad in ["", "1", "h", "1x", "-1h", "99999999999999999999h"] {
            assert!(span(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn moments_are_rfc_3339() {
        let time = moment("1970-01-02T00:00:00Z").unwrap();
        assert_eq!(time, SystemTime::UNIX_EPOCH + Duration::from_hours(24));
        assert!(moment("tomorrow").is_err());
        assert_eq!(after_1970(0), None);
    }
}
