//! Showing an authority that a name leads here.
//!
//! - `http`: http-01, a file on plain HTTP.
//! - `tls`: tls-alpn-01, a certificate that only authorities ask for.
//!
//! Both listen only while the authority asks.

mod http;
mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use instant_acme::{ChallengeHandle, ChallengeType};

pub use tls::CertificateError;

/// A way to show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Challenge {
    /// http-01, answered here; port 80 of the domain leads here.
    Http(SocketAddr),
    /// tls-alpn-01, answered here; port 443 of the domain leads here.
    TlsAlpn(SocketAddr),
}

impl Challenge {
    pub(super) const fn kind(self) -> ChallengeType {
        match self {
            Self::Http(_) => ChallengeType::Http01,
            Self::TlsAlpn(_) => ChallengeType::TlsAlpn01,
        }
    }

    /// Answers the authority until dropped.
    pub(super) async fn answer(
        self,
        domain: &str,
        challenge: &ChallengeHandle<'_>,
    ) -> Result<BoxFuture<'static, Infallible>, AnswerError> {
        let key = challenge.key_authorization();
        Ok(match self {
            Self::Http(at) => {
                http::listen(at, challenge.token.clone(), key.as_str().to_owned()).await?.boxed()
            }
            Self::TlsAlpn(at) => {
                let config = tls::config(domain, key.digest().as_ref())?;
                tls::listen(at, config).await?.boxed()
            }
        })
    }
}

/// Why the authority's question cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The port.
    #[error("listening for it")]
    Listen(#[from] io::Error),
    /// The certificate that is the answer.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}
