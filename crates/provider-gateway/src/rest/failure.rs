//! A request that is not served as asked, and how that is said.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use provider_api::error::{CODE_HEADER, DeniedBody, ERROR_JSON, ErrorBody, ErrorCode};
use provider_engine::cluster::port::{Missing, ReadFailure};
use serde::Serialize;

use crate::auth::Denial;
use crate::port::Busy;

/// Why a request is not served as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) code: ErrorCode,
    /// What existing clients know it by; may be empty.
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    form: Form,
    headers: Vec<(HeaderName, HeaderValue)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The text and a line break.
    Plain,
    /// `{"message": …}`.
    Denied,
    /// Nothing; the message is only for who asks for JSON.
    Empty,
}

impl Failure {
    pub(crate) fn plain(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self::new(status, code, message.into(), Form::Plain)
    }

    /// Said by the status alone.
    pub(crate) fn empty(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self::new(status, code, message.into(), Form::Empty)
    }

    const fn new(status: StatusCode, code: ErrorCode, message: String, form: Form) -> Self {
        Self { status, code, message, help: None, form, headers: Vec::new() }
    }

    /// With something that would help, beside what is said already.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        let help = help.into();
        self.help = Some(match self.help {
            Some(before) => format!("{before}; {help}"),
            None => help,
        });
        self
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The provider cannot say yet, and why.
    pub(crate) fn not_ready(why: String) -> Self {
        Self::plain(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::NotReady, why)
    }

    /// No lease of that id is here.
    pub(crate) fn no_lease() -> Self {
        Self::plain(StatusCode::NOT_FOUND, ErrorCode::LeaseNotFound, "kube: lease not found")
    }

    /// The answer, in the form that `headers` of the request ask for.
    pub(crate) fn response(self, headers: &HeaderMap) -> Answer {
        let (kind, body) = self.body(wants_json(headers));
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = self.status;
        let answer = response.headers_mut();
        if let Some(kind) = kind {
            answer.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        if kind == Some(TEXT) {
            answer.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        }
        let code = HeaderName::from_static(CODE_HEADER);
        answer.insert(code, HeaderValue::from_static(self.code.as_str()));
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            answer.insert(RETRY_AFTER, HeaderValue::from_static("2"));
        }
        answer.extend(self.headers);
        response
    }

    fn body(&self, json: bool) -> (Option<&'static str>, Bytes) {
        let encode = |value: serde_json::Result<Vec<u8>>| Bytes::from(value.unwrap_or_default());
        let message = self.message.clone();
        if json {
            let body = ErrorBody { code: self.code, message, help: self.help.clone() };
            return (Some(ERROR_JSON), encode(provider_api::json::to_vec(&body)));
        }
        match self.form {
            Form::Plain => (Some(TEXT), Bytes::from(message + "\n")),
            Form::Denied => {
                let body = DeniedBody { message };
                (Some("application/json"), encode(provider_api::json::to_vec(&body)))
            }
            Form::Empty => (None, Bytes::new()),
        }
    }
}

const TEXT: &str = "text/plain; charset=utf-8";

fn wants_json(headers: &HeaderMap) -> bool {
    let asks = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains(ERROR_JSON));
    headers.get_all(ACCEPT).iter().any(asks)
}

impl From<Denial> for Failure {
    fn from(denial: Denial) -> Self {
        let (status, code, message) = denial.answer();
        Self::new(status, code, message.to_owned(), Form::Denied)
    }
}

impl From<Busy> for Failure {
    fn from(busy: Busy) -> Self {
        let (status, code) = match busy {
            Busy::Full => (StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Busy),
            Busy::NotReady | Busy::Stopping => {
                (StatusCode::SERVICE_UNAVAILABLE, ErrorCode::NotReady)
            }
            Busy::TimedOut => (StatusCode::GATEWAY_TIMEOUT, ErrorCode::TimedOut),
        };
        Self::plain(status, code, busy.to_string())
    }
}

impl From<ReadFailure> for Failure {
    fn from(failure: ReadFailure) -> Self {
        match failure {
            ReadFailure::NotFound(Missing::Lease) => Self::no_lease(),
            ReadFailure::NotFound(Missing::Workloads) => Self::plain(
                StatusCode::NOT_FOUND,
                ErrorCode::NotDeployed,
                "kube: no deployments for lease",
            ),
            ReadFailure::NotFound(Missing::Service(_)) => Self::plain(
                StatusCode::NOT_FOUND,
                ErrorCode::ServiceNotFound,
                "kube: no service for that lease",
            ),
            ReadFailure::Unavailable(why) => {
                Self::plain(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::ClusterUnavailable, why)
            }
            ReadFailure::Refused(why) => Self::plain(
                StatusCode::INTERNAL_SERVER_ERROR,
                ErrorCode::ClusterRefused,
                format!("kube: internal error: {why}"),
            ),
        }
    }
}

/// What goes back to the client.
pub type Answer = Response<Full<Bytes>>;

pub(super) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=UTF-8");

pub(super) fn of_type(kind: HeaderValue, body: Bytes) -> Answer {
    let mut response = Response::new(Full::new(body));
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

pub(super) fn json<T: Serialize>(value: &T) -> Result<Answer, Failure> {
    Ok(of_type(JSON, encode(value)?))
}

pub(super) fn encode<T: Serialize>(value: &T) -> Result<Bytes, Failure> {
    provider_api::json::to_vec(value).map(Bytes::from).map_err(|error| {
        let text = format!("writing the answer: {error}");
        Failure::plain(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, text)
    })
}

pub(super) fn nothing(status: StatusCode) -> Answer {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

/// The encoded form of the value that was shown last. Values are told apart by where they are.
#[derive(Debug)]
pub(crate) struct Kept<T>(Mutex<Option<(Arc<T>, Bytes)>>);

impl<T> Kept<T> {
    /// The encoded form of `value`.
    pub(crate) fn get<E>(
        &self,
        value: &Arc<T>,
        encode: impl FnOnce(&T) -> Result<Bytes, E>,
    ) -> Result<Bytes, E> {
        if let Some((of, bytes)) = &*self.lock()
            && Arc::ptr_eq(of, value)
        {
            return Ok(bytes.clone());
        }
        // Not under the lock: others may have the same in hand, which costs once more and no wait.
        let bytes = encode(value)?;
        *self.lock() = Some((value.clone(), bytes.clone()));
        Ok(bytes)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Arc<T>, Bytes)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn each_value_is_encoded_once() {
        let kept = Kept::default();
        let (one, other) = (Arc::new(1), Arc::new(1));
        let mut count = 0;
        for value in [&one, &one, &other, &other, &one] {
            let encoded = kept.get::<Infallible>(value, |_| {
                count += 1;
                Ok(Bytes::from(count.to_string()))
            });
            assert_eq!(encoded.unwrap(), Bytes::from(count.to_string()));
        }
        assert_eq!(count, 3);
    }
}
