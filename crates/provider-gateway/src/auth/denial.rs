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
    #[error("not allowed")]
    Unauthorized(#[source] Reason),
    /// Every route says it in its own way.
    #[error("the account has no such lease here")]
    NoSuchLease,
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
            Self::NoSuchLease => StatusCode::NOT_FOUND,
        }
    }

    pub const fn code(&self) -> ErrorCode {
        match self {
            Self::Header => ErrorCode::InvalidAuthorization,
            Self::Ambiguous => ErrorCode::AmbiguousAuthentication,
            Self::Claims(_) => ErrorCode::TokenClaims,
            Self::Malformed(_) | Self::Signature | Self::NoKey(_) => ErrorCode::TokenInvalid,
            Self::Unknown(_) => ErrorCode::AuthenticationFailed,
            Self::Certificate(_) | Self::Unauthorized(_) => ErrorCode::Unauthorized,
            Self::NoSuchLease => ErrorCode::LeaseNotFound,
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
            Self::NoSuchLease => "kube: lease not found",
        }
    }
}
