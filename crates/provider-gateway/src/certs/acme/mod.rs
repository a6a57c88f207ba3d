//! A certificate of an authority, asked for with ACME.
//!
//! ```text
//!            ┌────────────────────── due? ◀──────────────┐
//!            ▼ now                     │ not yet: sleep  │
//! order ─── challenge ─────── finalize ─ certificate ─ store and show
//!   │ fails                                              ▲
//!   └── wait, longer each time ──────────────────────────┘
//! ```
//!
//! - `store`: files as the existing provider keeps them, so that its certificate is used.
//! - [`Challenge`]: answers the authority, only while it asks.
//! - [`AcmeIssuer`]: the task that does it.
//!
//! What is shown while there is no certificate is not its concern: clients get the provider's own.

mod challenge;
mod issuer;
mod store;

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use akash_net::Outbound;

pub use challenge::{AnswerError, CertificateError, Challenge};
pub use issuer::{AcmeError, AcmeIssuer, RootsError};

/// What is asked of whom.
#[derive(Clone, Debug)]
pub struct AcmeSettings {
    /// URL of the authority's directory.
    pub directory: String,
    /// Where the authority writes to when something is wrong.
    pub email: String,
    /// The name that the certificate is for.
    pub domain: String,
    /// How the authority can be shown that the name leads here, best first.
    pub challenges: Vec<Challenge>,
    /// Where account and certificates are kept.
    pub directory_path: PathBuf,
    /// Key id and HMAC key (base64url) of an account elsewhere, where the authority wants one.
    pub external_account: Option<(String, String)>,
    /// PEM file with the authority's own root, where browsers do not have it.
    pub root: Option<PathBuf>,
    /// How the authority is reached.
    pub outbound: Outbound,
}

/// When a certificate with these times is to be replaced: a third of its life before its end, which
/// is a month for the usual three.
fn replace_at(not_before: SystemTime, not_after: SystemTime) -> SystemTime {
    let life = not_after.duration_since(not_before).unwrap_or_default();
    not_after.checked_sub(life / 3).unwrap_or(not_before)
}

/// How long to wait after this many failures in a row. Authorities allow five failures an hour.
fn wait_after(failures: u32) -> Duration {
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
