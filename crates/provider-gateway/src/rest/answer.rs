//! Answers that went well.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use provider_api::error::ErrorCode;
use serde::Serialize;

use super::failure::Failure;

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
