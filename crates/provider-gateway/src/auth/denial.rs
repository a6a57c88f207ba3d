//! Why a request is not served, in the words that clients know.

use http::StatusCode;
use provider_api::error::ErrorCode;
use provider_api::jwt::{ClaimsError, Malformed, Scope, VerifyError};

use super::lookup::{LookupFailure, NoKey};

/// Why a request is not served. The client gets status, code and message; the error and its sources
/// say more, for the log.
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

impl Denial {
    /// Status and code of the answer, and the text that clients know it by.
    pub const fn answer(&self) -> (StatusCode, ErrorCode, &'static str) {
        match self {
            Self::Header => (
                StatusCode::BAD_REQUEST,
                ErrorCode::InvalidAuthorization,
                "invalid authorization header",
            ),
            Self::Ambiguous => (
                StatusCode::BAD_REQUEST,
                ErrorCode::AmbiguousAuthentication,
                "auth: ambiguous authentication. may not use mTLS and JWT at the same time",
            ),
            Self::Claims(_) => {
                (StatusCode::BAD_REQUEST, ErrorCode::TokenClaims, "JWT has invalid claims")
            }
            Self::Malformed(_) | Self::Signature | Self::NoKey(_) => {
                (StatusCode::UNAUTHORIZED, ErrorCode::TokenInvalid, "JWT is invalid")
            }
            Self::Unknown(_) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                ErrorCode::AuthenticationFailed,
                "unknown error while processing JWT",
            ),
            Self::Certificate(_)
            | Self::NoCredentials
            | Self::Provider
            | Self::Deployment
            | Self::Scope(_)
            | Self::Service
            | Self::NotOperator => {
                (StatusCode::UNAUTHORIZED, ErrorCode::Unauthorized, "unauthorized access")
            }
        }
    }
}
