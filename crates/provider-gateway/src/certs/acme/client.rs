//! HTTPS to the authority.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use akash_net::{Connector, Dialed, Outbound, Target, TlsError, TlsFiles};
use bytes::Bytes;
use http::uri::Scheme;
use http::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use tower_service::Service;

/// How long an authority may take to answer one request, and to accept a connection.
const PATIENCE: Duration = Duration::from_secs(30);

/// Speaks to the authority.
#[derive(Clone, Debug)]
pub(super) struct Https(Client<Dialer, BodyWrapper<Bytes>>);

impl Https {
    /// Goes out as `outbound` says, and believes only `root`, if there is one.
    pub(super) fn new(outbound: &Outbound, root: Option<&PathBuf>) -> Result<Self, RootsError> {
        let outbound = match root {
            None => outbound.clone(),
            Some(path) => outbound.with_files(TlsFiles { ca: Some(path.clone()), identity: None }),
        };
        outbound.check()?;
        Ok(Self(Client::builder(TokioExecutor::new()).build(Dialer(outbound))))
    }
}

/// Connects to whatever host a URL of the authority names, over TLS only.
#[derive(Clone, Debug)]
struct Dialer(Outbound);

impl Service<Uri> for Dialer {
    type Response = Dialed;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Dialed>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let host = uri.host().filter(|_| uri.scheme() == Some(&Scheme::HTTPS));
        let Some(host) = host else {
            let wrong = format!("{uri} is not an https URL");
            return Box::pin(async { Err(io::Error::new(io::ErrorKind::InvalidInput, wrong)) });
        };
        let port = uri.port_u16().unwrap_or(443);
        let target = Target { host: host.to_owned(), port, is_tls: true };
        Connector::new(self.0.clone(), target, PATIENCE).call(uri)
    }
}

impl HttpClient for Https {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let answer = self.0.request(request);
        Box::pin(async move {
            match tokio::time::timeout(PATIENCE, answer).await {
                Ok(Ok(response)) => Ok(BytesResponse::from(response)),
                Ok(Err(error)) => Err(Error::Other(Box::new(error))),
                Err(slow) => Err(Error::Other(Box::new(slow))),
            }
        })
    }
}

/// Why the authority's own certificate cannot be checked.
#[derive(Debug, thiserror::Error)]
#[error("the authority's root cannot be used")]
pub struct RootsError(#[from] TlsError);
