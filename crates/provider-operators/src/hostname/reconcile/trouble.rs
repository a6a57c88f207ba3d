//! A host that failed, and when it is tried again.

use std::time::Duration;

use provider_kube::client::Failure;

use super::Moment;

/// The longest pause between two tries.
const LONGEST: Duration = Duration::from_mins(5);
/// The first pause after somebody else wrote the same object: what they wrote is told soon.
const CONFLICT: Duration = Duration::from_millis(100);

/// A host that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// How often in a row.
    pub failures: u32,
    /// What was wrong last.
    pub why: String,
    /// What kind of failure it was.
    pub kind: &'static str,
    /// When it failed last.
    pub at: Moment,
    /// When it is tried again, since the start.
    pub until: Duration,
}

impl Trouble {
    /// One more failure than `before`.
    pub(super) fn after(
        before: Option<&Self>,
        failure: &Failure,
        now: Moment,
        delay: Duration,
    ) -> Self {
        let failures = before.map_or(0, |before| before.failures).saturating_add(1);
        let kind = match failure {
            Failure::NotFound(_) => "NotFound",
            Failure::Conflict(_) => "Conflict",
            Failure::Unavailable { .. } => "Unavailable",
            Failure::Refused(_) => "Refused",
        };
        let until = now.since_start.saturating_add(pause(failures, failure, delay));
        Self { failures, why: failure.to_string(), kind, at: now, until }
    }

    /// Written too often: somebody else changes it back.
    pub(super) fn of_quarrel(failures: u32, now: Moment, delay: Duration) -> Self {
        let why = "its route is changed as often as it is written: let only one hostname operator \
                   run, or give all the same settings";
        let pause = pause(failures, &Failure::Refused(String::new()), delay);
        let until = now.since_start.saturating_add(pause);
        Self { failures, why: why.to_owned(), kind: "Quarrel", at: now, until }
    }
}

/// How long to wait after so many failures in a row.
fn pause(failures: u32, failure: &Failure, delay: Duration) -> Duration {
    let (first, wished) = match failure {
        Failure::Conflict(_) => (CONFLICT.min(delay), Duration::ZERO),
        Failure::Unavailable { after, .. } => (delay, after.unwrap_or_default()),
        Failure::NotFound(_) | Failure::Refused(_) => (delay, Duration::ZERO),
    };
    let grown = first.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1).min(16)));
    grown.max(wished).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_conflicts_are_short() {
        let delay = Duration::from_secs(3);
        let millis = |failure: &Failure| {
            [1, 2, 3, 60].map(|failures| pause(failures, failure, delay).as_millis())
        };
        let refused = Failure::Refused(String::new());
        assert_eq!(millis(&refused), [3000, 6000, 12_000, 300_000]);
        let conflict = Failure::Conflict(String::new());
        assert_eq!(millis(&conflict), [100, 200, 400, 300_000]);
        let after = Some(Duration::from_secs(20));
        let full = Failure::Unavailable { why: String::new(), after, silent: false };
        assert_eq!(millis(&full), [20_000, 20_000, 20_000, 300_000]);
    }
}
