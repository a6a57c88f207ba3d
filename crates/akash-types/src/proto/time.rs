//! Heights, times and spans of time.

use std::time::Duration;

use super::error::{At, ConvertError, ConvertProblem};

/// A height or a time that cannot be negative.
pub(super) fn count(field: &str, value: i64) -> Result<u64, ConvertError> {
    u64::try_from(value).map_err(|_| ConvertProblem::Negative { value }).at(field)
}

/// A height or a time of which 0 means that it did not happen.
pub(super) fn happened(field: &str, value: i64) -> Result<Option<u64>, ConvertError> {
    count(field, value).map(|value| Some(value).filter(|&value| value > 0))
}

/// The wire form of a height or a time. What does not fit is beyond any block there will be.
pub(super) fn wire_count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A span of time that may be absent.
pub(super) fn span(
    field: &str,
    span: Option<prost_types::Duration>,
) -> Result<Option<Duration>, ConvertError> {
    span.map(|prost_types::Duration { seconds, nanos }| {
        let problem = ConvertProblem::Duration { seconds, nanos };
        match (u64::try_from(seconds), u32::try_from(nanos)) {
            (Ok(seconds), Ok(nanos @ 0..=999_999_999)) => Ok(Duration::new(seconds, nanos)),
            _ => Err(problem),
        }
    })
    .transpose()
    .at(field)
}

/// The wire form of a span of time, at most some 292 billion years.
pub(super) fn wire_span(span: Duration) -> prost_types::Duration {
    let nanos = i32::try_from(span.subsec_nanos()).unwrap_or_default();
    prost_types::Duration { seconds: wire_count(span.as_secs()), nanos }
}
