//! HTTPS to the authority.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, pem};
use rustls::{ClientConfig, RootCertStore};

/// How long an authority may take to answer one request.
const PATIENCE: Duration = Duration::from_secs(30);

/// Speaks to the authority.
#[derive(Clone, Debug)]
pub(super) struct Https(Client<HttpsConnector<HttpConnector>, BodyWrapper<Bytes>>);

impl Https {
    /// Believes who browsers believe, or only `root`.
    pub(super) fn new(root: Option<&PathBuf>) -> Result<Self, RootsError> {
        let mut roots = RootCertStore::empty();
        match root {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(path) => {
                let unread = |source| RootsError::Unread { path: path.clone(), source };
                for certificate in CertificateDer::pem_file_iter(path).map_err(unread)? {
                    roots.add(certificate.map_err(unread)?)?;
                }
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_only()
            .enable_http1()
            .build();
        Ok(Self(Client::builder(TokioExecutor::new()).build(connector)))
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
pub enum RootsError {
    /// The file of its root.
    #[error("{} could not be read as PEM", path.display())]
    Unread {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: pem::Error,
    },
    /// The TLS library refuses it.
    #[error("the authority's root cannot be used")]
    Refused(#[from] rustls::Error),
}
