//! Showing an authority that a name leads here.
//!
//! - http-01: a file on plain HTTP.
//! - `tls`: tls-alpn-01, a certificate that only authorities ask for.
//!
//! Both listen only while the authority asks.

mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use instant_acme::{ChallengeHandle, ChallengeType};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::gateway::accept;

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
                listen(at, challenge.token.clone(), key.as_str().to_owned()).await?.boxed()
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
    #[error("listening for it")]
    Listen(#[from] io::Error),
    #[error(transparent)]
    Certificate(#[from] CertificateError),
}

const PREFIX: &str = "/.well-known/acme-challenge/";
/// Connections at once; authorities look from a handful of places.
const CONNECTIONS: usize = 64;

/// Answers that `token` is `answer`, until dropped.
async fn listen(
    at: SocketAddr,
    token: String,
    answer: String,
) -> io::Result<impl Future<Output = Infallible>> {
    let listener = TcpListener::bind(at).await?;
    Ok(async move {
        let mut connections = JoinSet::new();
        loop {
            let (tcp, _) = accept(&listener).await;
            while connections.try_join_next().is_some() {}
            if connections.len() >= CONNECTIONS {
                continue;
            }
            let (path, answer) = (format!("{PREFIX}{token}"), answer.clone());
            let service = service_fn(move |request: Request<Incoming>| {
                let response = respond(&request, &path, &answer);
                async move { Ok::<_, Infallible>(response) }
            });
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .keep_alive(false)
                .serve_connection(TokioIo::new(tcp), service);
            connections.spawn(connection);
        }
    })
}

fn respond<B>(request: &Request<B>, path: &str, answer: &str) -> Response<String> {
    let found = request.uri().path() == path;
    let mut response = Response::new(if found { answer.to_owned() } else { String::new() });
    if !found {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}
