//! Why a request is not served, in the words that clients know.

use http::{Response, StatusCode, header};

use super::lookup::{LookupFailure, NoKey};
use provider_api::jwt::{ClaimsError, Malformed, Scope, VerifyError};

/// Why a request is not served. [`Denial::response`] is what the client gets; the error and its
/// sources say more, for the log.
#[derive(Debug, thiserror::Error)]
pub enum Denial {
    #[error("the Authorization header is not \"Bearer\" and a token")]
    Header,
    #[error("the request has both a client certificate and a token")]
    Ambiguous,
    #[error("the token breaks a rule")]
    Claims(#[source] ClaimsError),
    #[error("the token cannot be read")]
    Malformed(#[source] Malformed),
    #[error("the token is not signed with the key of its issuer")]
    Signature,
    #[error("there is no key to check the token with")]
    NoKey(#[source] NoKey),
    #[error("the key of the token's issuer is not known")]
    Unknown(#[source] LookupFailure),
    #[error("the client's certificate is not valid any more")]
    Certificate(#[source] super::certificate::Refusal),
    #[error("not allowed")]
    Unauthorized(#[source] Reason),
    #[error("the account has no such lease here")]
    NoSuchLease {
        /// What is answered where the request has an answer of its own.
        body: &'static str,
    },
}

/// What is missing for a request to be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("it needs a client certificate or a token")]
    NoCredentials,
    #[error("the token has no permission for this provider")]
    Provider,
    #[error("the token has no permission for this deployment")]
    Deployment,
    #[error("the token lacks scope {0}")]
    Scope(Scope),
    #[error("the token has no permission for this service")]
    Service,
    #[error("only the provider's own account may do it")]
    NotOperator,
}

impl From<VerifyError> for Denial {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Signature => Self::Signature,
            VerifyError::Claims(rule) => Self::Claims(rule),
        }
    }
}

impl From<Reason> for Denial {
    fn from(reason: Reason) -> Self {
        Self::Unauthorized(reason)
    }
}

impl Denial {
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::Header | Self::Ambiguous | Self::Claims(_) => StatusCode::BAD_REQUEST,
            Self::Malformed(_)
            | Self::Signature
            | Self::NoKey(_)
            | Self::Certificate(_)
            | Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::Unknown(_) => StatusCode::INTERNAL_SERVER_ERROR,
            Self::NoSuchLease { .. } => StatusCode::NOT_FOUND,
        }
    }

    /// The text that clients know it by.
    pub const fn message(&self) -> &'static str {
        match self {
            Self::Header => "invalid authorization header",
            Self::Ambiguous => {
                "auth: ambiguous authentication. may not use mTLS and JWT at the same time"
            }
            Self::Claims(_) => "JWT has invalid claims",
            Self::Malformed(_) | Self::Signature | Self::NoKey(_) => "JWT is invalid",
            Self::Certificate(_) | Self::Unauthorized(_) => "unauthorized access",
            Self::Unknown(_) => "unknown error while processing JWT",
            Self::NoSuchLease { body } => body,
        }
    }

    /// The answer over HTTP: `{"message": …}`, or plain text for a lease that is not there.
    pub fn response(&self) -> Response<String> {
        let text = self.message();
        let (kind, body) = match self {
            Self::NoSuchLease { .. } => ("text/plain; charset=utf-8", format!("{text}\n")),
            _ => ("application/json", format!("{{\"message\":\"{text}\"}}")),
        };
        let empty = text.is_empty();
        let mut response = Response::new(if empty { String::new() } else { body });
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        if !empty {
            headers.insert(header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
        }
        if matches!(self, Self::NoSuchLease { .. }) && !empty {
            let nosniff = http::HeaderValue::from_static("nosniff");
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_those_that_clients_know() {
        let json = |text: &str| format!("{{\"message\":\"{text}\"}}");
        let slow = LookupFailure::Slow(std::time::Duration::from_secs(1));
        for (denial, status, body, kind) in [
            (Denial::Header, 400, json("invalid authorization header"), "application/json"),
            (
                Denial::Ambiguous,
                400,
                json("auth: ambiguous authentication. may not use mTLS and JWT at the same time"),
                "application/json",
            ),
            (
                Denial::Claims(ClaimsError::Version),
                400,
                json("JWT has invalid claims"),
                "application/json",
            ),
            (Denial::Signature, 401, json("JWT is invalid"), "application/json"),
            (Denial::NoKey(NoKey::NotPublished), 401, json("JWT is invalid"), "application/json"),
            (
                Denial::Unauthorized(Reason::Provider),
                401,
                json("unauthorized access"),
                "application/json",
            ),
            (
                Denial::Unknown(slow),
                500,
                json("unknown error while processing JWT"),
                "application/json",
            ),
            (
                Denial::NoSuchLease { body: "lease not found" },
                404,
                "lease not found\n".to_owned(),
                "text/plain; charset=utf-8",
            ),
            (Denial::NoSuchLease { body: "" }, 404, String::new(), ""),
        ] {
            let response = denial.response();
            assert_eq!(response.status(), status, "{denial}");
            assert_eq!(response.body(), &body, "{denial}");
            let found = response.headers().get(header::CONTENT_TYPE);
            assert_eq!(found.map_or("", |value| value.to_str().unwrap()), kind, "{denial}");
            let plain = kind.starts_with("text/plain");
            assert_eq!(response.headers().contains_key("x-content-type-options"), plain);
        }
    }
}
