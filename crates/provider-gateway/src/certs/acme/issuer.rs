//! Asking for a certificate, and asking again before it ends.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use akash_net::{Connector, Dialed, Outbound, Target, TlsError, TlsFiles};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use der::Decode;
use http::uri::Scheme;
use http::{Request, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, BodyWrapper, BytesResponse, Error,
    ExternalAccountKey, HttpClient, Identifier, NewAccount, NewOrder, Order, OrderStatus,
    RetryPolicy,
};
use rustls::sign::CertifiedKey;
use tower_service::Service;

use super::challenge::AnswerError;
use super::store::Store;
use super::{AcmeSettings, replace_at, wait_after};
use crate::tls::{CertificateFileError, ServerCertificates, certified_pem};

/// The longest sleep: the clock may be set meanwhile.
const AT_MOST: Duration = Duration::from_hours(6);
/// Orders in a row where the authority refuses nonces.
const ORDERS: usize = 5;

/// Asks an authority for certificates.
#[derive(Debug)]
pub struct AcmeIssuer {
    settings: AcmeSettings,
    store: Store,
    https: Https,
}

impl AcmeIssuer {
    /// One with these settings. Nobody is asked yet.
    pub fn new(settings: AcmeSettings) -> Result<Self, RootsError> {
        let https = Https::new(&settings.outbound, settings.root.as_ref())?;
        Ok(Self { store: Store::new(&settings), settings, https })
    }

    /// Shows a good certificate, for ever. `told` hears of each that is shown, and of failures.
    pub async fn keep(
        self,
        shown: Arc<ServerCertificates>,
        told: impl Fn(Result<SystemTime, &AcmeError>),
    ) {
        let mut failures = 0;
        let mut replace = match self.stored() {
            Ok(Some((pair, replace))) => {
                shown.set_public(Some(pair));
                told(Ok(replace));
                replace
            }
            // What cannot be used is replaced: it is the authority's word that counts.
            Ok(None) | Err(_) => SystemTime::UNIX_EPOCH,
        };
        loop {
            if let Ok(wait) = replace.duration_since(SystemTime::now()) {
                tokio::time::sleep(wait.min(AT_MOST)).await;
                continue;
            }
            match self.obtain().await {
                Ok((pair, next)) => {
                    shown.set_public(Some(pair));
                    (failures, replace) = (0, next);
                    told(Ok(replace));
                }
                Err(error) => {
                    failures += 1;
                    told(Err(&error));
                    tokio::time::sleep(wait_after(failures)).await;
                }
            }
        }
    }

    /// The certificate that is kept, and when it is to be replaced.
    fn stored(&self) -> Result<Option<(Arc<CertifiedKey>, SystemTime)>, AcmeError> {
        let Some((chain, key)) = self.store.certificate().map_err(AcmeError::Store)? else {
            return Ok(None);
        };
        usable(&chain, &key).map(Some)
    }

    /// Asks again at once where the authority only wants another nonce: it may refuse more of them
    /// in a row than one request is repeated.
    async fn obtain(&self) -> Result<(Arc<CertifiedKey>, SystemTime), AcmeError> {
        for _ in 1..ORDERS {
            match self.order().await {
                Err(error) if error.is_nonce() => {}
                other => return other,
            }
        }
        self.order().await
    }

    async fn order(&self) -> Result<(Arc<CertifiedKey>, SystemTime), AcmeError> {
        let account = self.account().await?;
        let identifiers = [Identifier::Dns(self.settings.domain.clone())];
        let mut order = account.new_order(&NewOrder::new(&identifiers)).await?;
        self.prove(&mut order).await?;
        let key = order.finalize().await?;
        let chain = order.poll_certificate(&RetryPolicy::default()).await?;
        let usable = usable(chain.as_bytes(), key.as_bytes())?;
        let written = self.store.write_certificate(chain.as_bytes(), key.as_bytes());
        written.map_err(AcmeError::Store)?;
        Ok(usable)
    }

    /// The account, which is made where there is none.
    async fn account(&self) -> Result<Account, AcmeError> {
        let builder = Account::builder_with_http(Box::new(self.https.clone()));
        let kept = self.store.account().map_err(AcmeError::Store)?;
        let kept = kept.and_then(|bytes| serde_json::from_slice::<AccountCredentials>(&bytes).ok());
        if let Some(credentials) = kept {
            return Ok(builder.from_credentials(credentials).await?);
        }
        let external = match &self.settings.external_account {
            None => None,
            Some((id, key)) => {
                let key = URL_SAFE_NO_PAD.decode(key.trim_end_matches('='));
                let key = key.map_err(|_| AcmeError::ExternalKey)?;
                Some(ExternalAccountKey::new(id.clone(), &key))
            }
        };
        let contact = format!("mailto:{}", self.settings.email);
        let new = NewAccount {
            contact: &[&contact],
            terms_of_service_agreed: true,
            only_return_existing: false,
        };
        let directory = self.settings.directory.clone();
        let (account, credentials) = builder.create(&new, directory, external.as_ref()).await?;
        let credentials = serde_json::to_vec(&credentials).map_err(AcmeError::Credentials)?;
        self.store.write_account(&credentials).map_err(AcmeError::Store)?;
        Ok(account)
    }

    /// Shows the authority that the domain leads here.
    async fn prove(&self, order: &mut Order) -> Result<(), AcmeError> {
        let mut authorizations = order.authorizations();
        let mut answering = None;
        while let Some(authorization) = authorizations.next().await {
            let mut authorization = authorization?;
            if authorization.status == AuthorizationStatus::Valid {
                continue;
            }
            let offered: Vec<_> =
                authorization.challenges.iter().map(|offered| offered.r#type.clone()).collect();
            let ours = self.settings.challenges.iter();
            let way = ours.copied().find(|way| offered.contains(&way.kind()));
            let way = way.ok_or(AcmeError::NoChallenge)?;
            let challenge = authorization.challenge(way.kind());
            let mut challenge = challenge.ok_or(AcmeError::NoChallenge)?;
            let answer = way.answer(&self.settings.domain, &challenge).await;
            answering = Some(answer.map_err(AcmeError::Answer)?);
            challenge.set_ready().await?;
            // One name, one challenge.
            break;
        }
        let retries = RetryPolicy::default();
        let ready = order.poll_ready(&retries);
        let status = match answering {
            None => ready.await,
            Some(answering) => tokio::select! {
                status = ready => status,
                never = answering => match never {},
            },
        };
        let status = status.map_err(AcmeError::Challenge)?;
        if status == OrderStatus::Ready { Ok(()) } else { Err(AcmeError::NotProved { status }) }
    }
}

/// A pair for handshakes, and when it is to be replaced.
fn usable(chain: &[u8], key: &[u8]) -> Result<(Arc<CertifiedKey>, SystemTime), AcmeError> {
    let pair = certified_pem(chain, key)?;
    let first = pair.cert.first().map(|der| x509_cert::Certificate::from_der(der));
    let Some(Ok(certificate)) = first else {
        return Err(CertificateFileError::NoCertificate.into());
    };
    let validity = certificate.tbs_certificate().validity();
    let (start, end) = (validity.not_before, validity.not_after);
    let replace = replace_at(start.to_system_time(), end.to_system_time());
    Ok((pair, replace))
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum AcmeError {
    #[error("asking the authority")]
    Authority(#[from] instant_acme::Error),
    #[error("the authority offers none of the challenges that can be answered here")]
    NoChallenge,
    #[error("answering the authority's question")]
    Answer(#[source] AnswerError),
    #[error(
        "the authority did not see the answer; does the domain (port 80 for http-01, 443 for tls-alpn-01) lead here?"
    )]
    Challenge(#[source] instant_acme::Error),
    #[error("the authority was not convinced: the order is {status:?}")]
    NotProved {
        /// What the order is instead of ready.
        status: OrderStatus,
    },
    #[error("the HMAC key of the external account is not base64url")]
    ExternalKey,
    #[error("writing the account's credentials")]
    Credentials(#[source] serde_json::Error),
    #[error("the files of the certificate issuer")]
    Store(#[source] io::Error),
    #[error("the authority's certificate")]
    Certificate(#[from] CertificateFileError),
}

impl AcmeError {
    fn is_nonce(&self) -> bool {
        let (Self::Authority(error) | Self::Challenge(error)) = self else { return false };
        let instant_acme::Error::Api(problem) = error else { return false };
        problem.r#type.as_deref() == Some("urn:ietf:params:acme:error:badNonce")
    }
}

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
