//! A fact as JSON, with its version and its stamp.

use serde::{Deserialize, Serialize};

use crate::fact::Fact;

/// The version that this program writes. Newer ones are read as far as they are understood.
pub const VERSION: u32 = 1;

/// Bytes that a payload may have. A thousand nodes take a tenth of it.
pub const PAYLOAD_LIMIT: usize = 4 << 20;

/// Stamps end in the year 2248: one from beyond could never be followed by a newer one.
const LAST_TIME: u64 = 1 << 43;

/// When a message was published, and by whom: of two messages the one with the higher stamp is
/// the newer one, everywhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    /// Milliseconds since 1970, or one more than what was heard before.
    pub(crate) time: u64,
    /// Who published it. Decides between equal times.
    pub(crate) publisher: String,
}

/// Why a payload is not a message.
#[derive(Debug, thiserror::Error)]
pub enum MalformedMessage {
    #[error("{0} bytes are more than the {PAYLOAD_LIMIT} that a message may have")]
    TooLong(usize),
    #[error("stamp {0} is beyond any time: expected milliseconds since 1970")]
    Stamp(u64),
    #[error("the payload is not a fact of its topic")]
    Json(#[from] serde_json::Error),
    #[error("the payload is not UTF-8")]
    Text(#[from] std::str::Utf8Error),
}

#[derive(Serialize)]
struct Written<'a, F> {
    version: u32,
    stamp: u64,
    publisher: &'a str,
    fact: &'a F,
}

#[derive(Deserialize)]
struct Label {
    stamp: u64,
    publisher: String,
}

#[derive(Deserialize)]
struct Content<F> {
    #[serde(rename = "version")]
    _version: u32,
    fact: F,
}

pub(crate) fn write<F: Fact>(fact: &F, stamp: &Stamp) -> Result<String, MalformedMessage> {
    let publisher = &stamp.publisher;
    let payload =
        serde_json::to_string(&Written { version: VERSION, stamp: stamp.time, publisher, fact })?;
    within_limit(payload.len())?;
    Ok(payload)
}

/// The stamp of a payload, whatever its fact.
pub(crate) fn stamp(payload: &str) -> Result<Stamp, MalformedMessage> {
    within_limit(payload.len())?;
    let Label { stamp: time, publisher } = serde_json::from_str(payload)?;
    if time >= LAST_TIME {
        return Err(MalformedMessage::Stamp(time));
    }
    Ok(Stamp { time, publisher })
}

pub(crate) fn read<F: Fact>(payload: &str) -> Result<F, MalformedMessage> {
    let content: Content<F> = serde_json::from_str(payload)?;
    Ok(content.fact)
}

pub(crate) fn check<F: Fact>(payload: &str) -> Result<(), MalformedMessage> {
    stamp(payload)?;
    read::<F>(payload).map(drop)
}

fn within_limit(length: usize) -> Result<(), MalformedMessage> {
    if length > PAYLOAD_LIMIT { Err(MalformedMessage::TooLong(length)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::{LeaseChange, LeaseState, ManifestStatus};
    use crate::topic::Topic;

    #[test]
    fn what_is_written_reads_back() {
        let stamp_written = Stamp { time: 7, publisher: "a".into() };
        let fact = ManifestStatus { deployments: 4, awaited: 1 };
        let payload = write(&fact, &stamp_written).unwrap();
        assert_eq!(
            payload,
            r#"{"version":1,"stamp":7,"publisher":"a","fact":{"deployments":4,"awaited":1}}"#
        );
        assert_eq!(stamp(&payload).unwrap(), stamp_written);
        assert_eq!(read::<ManifestStatus>(&payload).unwrap(), fact);
    }

    #[test]
    fn newer_versions_and_unknown_fields_and_words_are_tolerated() {
        let newer = r#"{"version":9,"stamp":7,"publisher":"a","more":[],"fact":{
            "owner":"akash1o","dseq":1,"gseq":1,"oseq":1,"provider":"akash1p",
            "state":"hibernating","since":{"block":5}}}"#;
        Topic::Lease.check(newer).unwrap();
        assert_eq!(read::<LeaseChange>(newer).unwrap().state, LeaseState::Unknown);
    }

    #[test]
    fn what_is_not_a_message_is_an_error() {
        let beyond = format!(
            r#"{{"version":1,"stamp":{},"publisher":"a","fact":{{"deployments":4}}}}"#,
            u64::MAX
        );
        let long = " ".repeat(PAYLOAD_LIMIT + 1);
        for wrong in [
            "",
            "{}",
            "null",
            "\u{0}",
            r#"{"stamp":7,"publisher":"a","fact":{"deployments":4}}"#,
            r#"{"version":1,"publisher":"a","fact":{"deployments":4}}"#,
            r#"{"version":1,"stamp":7,"fact":{"deployments":4}}"#,
            r#"{"version":1,"stamp":7,"publisher":"a"}"#,
            r#"{"version":1,"stamp":7,"publisher":"a","fact":{}}"#,
            r#"{"version":1,"stamp":7,"publisher":"a","fact":{"deployments":-4}}"#,
            &beyond,
            &long,
        ] {
            assert!(Topic::ManifestStatus.check(wrong).is_err(), "{wrong:.60}");
        }
    }
}
