//! Why a request failed, as far as it matters what to do about it.

use std::error::Error;
use std::time::Duration;

use kube::core::Status;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("it is not there: {0}")]
    NotFound(String),
    #[error("it was changed meanwhile: {0}")]
    Conflict(String),
    #[error("{why}")]
    Unavailable {
        why: String,
        /// How long to wait at least, as the API server says.
        after: Option<Duration>,
        /// Whether no answer came at all.
        silent: bool,
    },
    #[error("{0}")]
    Refused(String),
}

impl Failure {
    pub fn silence(limit: Duration) -> Self {
        let why = format!("no answer within {} seconds", limit.as_secs());
        Self::Unavailable { why, after: None, silent: true }
    }

    pub fn unavailable(why: impl Into<String>) -> Self {
        Self::Unavailable { why: why.into(), after: None, silent: false }
    }

    pub const fn is_silent(&self) -> bool {
        matches!(self, Self::Unavailable { silent: true, .. })
    }
}

impl From<kube::Error> for Failure {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => of_status(&status),
            kube::Error::SerdeError(error) => {
                Self::unavailable(format!("an answer cannot be read: {error}"))
            }
            error => Self::Unavailable { why: in_words(&error), after: None, silent: true },
        }
    }
}

/// The innermost reason: the layers above only say that a request failed.
fn in_words(error: &dyn Error) -> String {
    let mut inner = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// What an answer means.
///
/// Only what says something about the request itself is a refusal. A namespace that is going away,
/// an identity that is not known and a full API server say nothing about it.
pub fn of_status(status: &Status) -> Failure {
    let why =
        if status.message.is_empty() { status.reason.clone() } else { status.message.clone() };
    let details = status.details.as_ref();
    let is_ending = details
        .is_some_and(|details| details.causes.iter().any(|it| it.reason == "NamespaceTerminating"));
    let after = details
        .map(|details| details.retry_after_seconds)
        .filter(|seconds| *seconds > 0)
        .map(|seconds| Duration::from_secs(u64::from(seconds)));
    match status.code {
        404 => Failure::NotFound(why),
        409 if !is_ending => Failure::Conflict(why),
        400 | 403 | 405 | 406 | 413 | 415 | 422 if !is_ending => Failure::Refused(why),
        _ => Failure::Unavailable { why, after, silent: false },
    }
}

impl From<kube::core::request::Error> for Failure {
    fn from(error: kube::core::request::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(json: serde_json::Value) -> Status {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn answers_are_told_apart_by_what_can_be_done() {
        let told =
            |code: u16| of_status(&status(serde_json::json!({"code": code, "message": "x"})));
        let words = || "x".to_owned();
        assert_eq!(told(404), Failure::NotFound(words()));
        assert_eq!(told(409), Failure::Conflict(words()));
        for code in [400, 403, 422] {
            assert_eq!(told(code), Failure::Refused(words()), "{code}");
        }
        for code in [0, 401, 410, 429, 500, 502, 503, 504] {
            assert_eq!(told(code), Failure::unavailable("x"), "{code}");
        }
    }

    #[test]
    fn a_namespace_on_its_way_out_is_no_refusal() {
        let failure = of_status(&status(serde_json::json!({
            "code": 403, "reason": "Forbidden",
            "details": {"causes": [{"reason": "NamespaceTerminating", "message": "", "field": ""}]},
        })));
        assert_eq!(failure, Failure::unavailable("Forbidden"));
    }

    #[test]
    fn a_full_api_server_says_when_to_come_back() {
        let failure = of_status(&status(serde_json::json!({
            "code": 429, "message": "later", "details": {"retryAfterSeconds": 3},
        })));
        let after = Some(Duration::from_secs(3));
        assert_eq!(failure, Failure::Unavailable { why: "later".to_owned(), after, silent: false });
    }
}
