//! Whether the provider can do its work.

use akash_chain::follow::FollowStatus;
use provider_engine::engine::Status;
use serde::Serialize;

/// Blocks behind the head that are normal: one may always be on its way.
const LAG: u64 = 10;

/// Whether the provider can do its work, and if not, why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// Whether nothing is missing.
    pub ready: bool,
    /// What is missing.
    pub missing: Vec<Missing>,
}

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// What: `chain`, `cluster`, `engine`.
    pub what: &'static str,
    /// Why, in words.
    pub why: String,
}

impl Readiness {
    /// Ready if nothing is missing.
    #[must_use]
    pub const fn without(missing: Vec<Missing>) -> Self {
        Self { ready: missing.is_empty(), missing }
    }

    /// What is missing, judged by how chain and engine are. What is absent has not begun.
    #[must_use]
    pub fn judge(follow: Option<&FollowStatus>, engine: Option<&Status>) -> Self {
        let mut missing = Vec::new();
        let mut miss = |what, why: &str| missing.push(Missing { what, why: why.to_owned() });
        match follow {
            None => miss("chain", "it is not followed yet"),
            Some(follow) => {
                if let Some(why) = stale(follow) {
                    miss("chain", &why);
                }
            }
        }
        match engine {
            None => {
                miss("cluster", "it was not looked at yet");
                miss("engine", "it has not begun");
            }
            Some(engine) => {
                if !engine.cluster_fresh {
                    miss("cluster", "there is no fresh view of it");
                }
                if !engine.ready {
                    miss("engine", "it is still reading how things are");
                }
            }
        }
        Self::without(missing)
    }
}

/// Why the chain is not fresh, if it is not.
fn stale(follow: &FollowStatus) -> Option<String> {
    if follow.stalled {
        return Some(match follow.head {
            Some(head) => format!("no new block came for too long, the last is {head}"),
            None => "no node can be used".to_owned(),
        });
    }
    if follow.cursor.is_none() {
        return Some("it is not known yet where to begin".to_owned());
    }
    if let Some(resync) = &follow.resync {
        return Some(format!("blocks were skipped and not followed by one yet: {resync:?}"));
    }
    (follow.lag > LAG).then(|| format!("{} blocks are still to be read", follow.lag))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow() -> FollowStatus {
        FollowStatus { cursor: Some(100), head: Some(101), lag: 1, ..FollowStatus::default() }
    }

    fn engine() -> Status {
        Status { height: 100, ready: true, cluster_fresh: true, ..Status::default() }
    }

    fn missing(follow: &FollowStatus, engine: &Status) -> Vec<&'static str> {
        let judged = Readiness::judge(Some(follow), Some(engine));
        assert_eq!(judged.ready, judged.missing.is_empty());
        judged.missing.iter().map(|missing| missing.what).collect()
    }

    #[test]
    fn ready_is_a_fresh_chain_a_fresh_cluster_and_an_engine_that_acts() {
        assert_eq!(missing(&follow(), &engine()), [""; 0]);
        let kept = Status { breaker_open: true, maintenance: true, ..engine() };
        // Both are what somebody wanted: traffic is as welcome as before.
        assert_eq!(missing(&follow(), &kept), [""; 0]);
        let nothing = Readiness::judge(None, None);
        let names: Vec<_> = nothing.missing.iter().map(|missing| missing.what).collect();
        assert_eq!(names, ["chain", "cluster", "engine"]);
    }

    #[test]
    fn a_chain_that_is_stalled_unknown_or_far_ahead_is_not_fresh() {
        for stale in [
            FollowStatus { stalled: true, ..follow() },
            FollowStatus { cursor: None, ..follow() },
            FollowStatus { lag: 11, ..follow() },
        ] {
            assert_eq!(missing(&stale, &engine()), ["chain"]);
        }
        assert_eq!(missing(&FollowStatus { lag: 10, ..follow() }, &engine()), [""; 0]);
    }

    #[test]
    fn a_cluster_without_a_fresh_view_and_an_engine_that_reads_are_named() {
        let lost = Status { cluster_fresh: false, ..engine() };
        assert_eq!(missing(&follow(), &lost), ["cluster"]);
        let begins = Status { ready: false, ..engine() };
        assert_eq!(missing(&follow(), &begins), ["engine"]);
    }
}
