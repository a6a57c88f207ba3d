//! What can go wrong when a provider is asked.

use std::io;

use crate::error::ErrorCode;

/// Why there is no answer, or not the one that was hoped for.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address is none.
    #[error("{0:?} is no address of a provider; expected one like https://host:8443")]
    Uri(String),
    /// The certificate cannot be used.
    #[error("setting up TLS")]
    Tls(#[from] rustls::Error),
    /// The provider cannot be reached.
    #[error("connecting to {authority}")]
    Connect {
        /// Which.
        authority: String,
        /// Why not.
        source: io::Error,
    },
    /// The connection broke.
    #[error("talking to the provider")]
    Http(#[from] hyper::Error),
    /// The connection of a stream broke.
    #[error("talking to the provider")]
    Stream(#[from] Box<tokio_tungstenite::tungstenite::Error>),
    /// No answer in time.
    #[error("the provider does not answer")]
    TimedOut,
    /// The answer is more than is read.
    #[error("the provider's answer has more than {0} bytes")]
    TooLarge(usize),
    /// The provider says no.
    #[error("the provider says {status}: {message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What kind of failure, if the provider says.
        code: Option<ErrorCode>,
        /// In its words; may be empty.
        message: String,
    },
    /// The answer is not what it should be.
    #[error("reading the provider's answer: {0}")]
    Answer(String),
    /// The request cannot be made.
    #[error("making the request: {0}")]
    Request(String),
}

impl ClientError {
    /// Whether another try may go better.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Connect { .. } | Self::Http(_) | Self::Stream(_) | Self::TimedOut => true,
            Self::Refused { status, code, .. } => {
                *status == 503 || *code == Some(ErrorCode::NoLease)
            }
            _ => false,
        }
    }
}

impl From<tokio_tungstenite::tungstenite::Error> for ClientError {
    fn from(error: tokio_tungstenite::tungstenite::Error) -> Self {
        Self::Stream(Box::new(error))
    }
}
