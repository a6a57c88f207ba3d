//! Whether a call is repeated, and when.

use std::time::Duration;

use kube_access::Failure;

/// How often a call is tried at most.
const TRIES: u32 = 4;
/// How often it is tried when no answer comes: each try takes long.
const SILENT_TRIES: u32 = 2;
/// The longest wait that the API server may ask for.
const LONGEST: Duration = Duration::from_secs(10);

/// How long to wait before the next try, after `tries` that ended with `failure`; `None` if there is
/// to be none.
pub(crate) fn pause(tries: u32, failure: &Failure) -> Option<Duration> {
    let Failure::Unavailable { after, silent, .. } = failure else {
        return None;
    };
    if tries >= if *silent { SILENT_TRIES } else { TRIES } {
        return None;
    }
    let grown = Duration::from_millis(100).saturating_mul(2_u32.saturating_pow(tries));
    match after {
        // Who is to come back later than that is told so, and comes back as a new command.
        Some(after) if *after > LONGEST => None,
        after => Some(grown.max(after.unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unavailable(after: Option<u64>, silent: bool) -> Failure {
        Failure::Unavailable { why: String::new(), after: after.map(Duration::from_secs), silent }
    }

    #[test]
    fn only_what_may_help_is_repeated_and_not_for_long() {
        let millis = |tries, failure: &Failure| pause(tries, failure).map(|it| it.as_millis());
        let busy = unavailable(None, false);
        assert_eq!([1, 2, 3, 4].map(|n| millis(n, &busy)), [Some(200), Some(400), Some(800), None]);
        let silent = unavailable(None, true);
        assert_eq!([1, 2].map(|n| millis(n, &silent)), [Some(200), None]);
        assert_eq!(millis(1, &unavailable(Some(3), false)), Some(3000));
        assert_eq!(millis(1, &unavailable(Some(60), false)), None);
        for failure in [
            Failure::Refused(String::new()),
            Failure::NotFound(String::new()),
            Failure::Conflict(String::new()),
        ] {
            assert_eq!(pause(1, &failure), None);
        }
    }
}
