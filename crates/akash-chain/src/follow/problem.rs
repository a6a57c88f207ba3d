//! What a failed call means for the plan.

use super::plan::Problem;
use crate::transport::{RpcError, Unavailable, chain};

/// What it means that a question about `height` was answered with this.
pub(super) fn problem_of(error: &RpcError, height: u64) -> Problem {
    match error {
        RpcError::Unavailable(Unavailable::Timeout { .. }) => Problem::Silent,
        RpcError::Refused(refusal) => {
            refused(&refusal.data, height).unwrap_or_else(|| failed(error))
        }
        RpcError::Unavailable(_) | RpcError::Malformed(_) => failed(error),
    }
}

fn failed(error: &RpcError) -> Problem {
    Problem::Failed { reason: chain(error) }
}

/// CometBFT's own words; `None` for others.
fn refused(text: &str, height: u64) -> Option<Problem> {
    if text.contains("could not find results for height") {
        return Some(Problem::NotYet { latest: None });
    }
    if text.contains("must be less than or equal to the current blockchain height") {
        return Some(Problem::NotYet { latest: number_after(text, "blockchain height ") });
    }
    if text.contains("lowest height is") {
        // Whatever it says, it does not have this one.
        let lowest = number_after(text, "lowest height is ").unwrap_or_default();
        return Some(Problem::Pruned { lowest: lowest.max(height.saturating_add(1)) });
    }
    if text.contains("node is not persisting") {
        return Some(Problem::NoResults);
    }
    if text.contains("can't be greater than max height") {
        // Bounds as the node moved them: the lower one to its lowest, the upper to its newest.
        let (low, high) =
            (number_after(text, "min height ")?, number_after(text, "than max height ")?);
        return Some(match low > height {
            true => Problem::Pruned { lowest: low },
            false => Problem::NotYet { latest: Some(high) },
        });
    }
    None
}

fn number_after(text: &str, words: &str) -> Option<u64> {
    let (_, rest) = text.split_once(words)?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::RpcRefusal;

    #[test]
    fn the_nodes_words_are_understood() {
        for (text, expected) in [
            ("could not find results for height #7", Problem::NotYet { latest: None }),
            (
                "height 7 must be less than or equal to the current blockchain height 6",
                Problem::NotYet { latest: Some(6) },
            ),
            ("height 7 is not available, lowest height is 42", Problem::Pruned { lowest: 42 }),
            ("height 7 is not available, lowest height is 3", Problem::Pruned { lowest: 8 }),
            ("node is not persisting finalize block responses", Problem::NoResults),
            (
                "min height 7 can't be greater than max height 6",
                Problem::NotYet { latest: Some(6) },
            ),
            ("min height 42 can't be greater than max height 26", Problem::Pruned { lowest: 42 }),
        ] {
            let refusal = RpcRefusal {
                code: -32603,
                message: "Internal error".to_owned(),
                data: text.to_owned(),
            };
            assert_eq!(problem_of(&RpcError::Refused(refusal), 7), expected, "{text}");
        }
    }

    #[test]
    fn other_words_are_failures_and_silence_is_silence() {
        let refusal = |data: &str| {
            let (code, message) = (-32603, String::new());
            problem_of(&RpcError::Refused(RpcRefusal { code, message, data: data.to_owned() }), 7)
        };
        for text in ["", "panic", "min height can't be greater than max height"] {
            assert!(matches!(refusal(text), Problem::Failed { .. }), "{text}");
        }
        let timeout = Unavailable::Timeout {
            endpoint: "http://node".to_owned(),
            after: std::time::Duration::from_secs(1),
        };
        assert_eq!(problem_of(&RpcError::Unavailable(timeout), 7), Problem::Silent);
    }
}
