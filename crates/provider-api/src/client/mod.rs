//! A client of a provider.
//!
//! ```text
//! Client ── connect ──► TCP, TLS (certificate of the tenant, or none)
//!        ── rest    ──► one request, one answer, one connection
//!        ── stream  ──► WebSocket: logs, events
//!        ── shell   ──► WebSocket: a command
//! ```
//!
//! Connections are not kept: who asks often asks with a server of its own. Nothing is tried twice;
//! whether that helps is for the caller to know, and [`ClientError::may_pass`] tells.

mod connect;
mod stream;

use std::io;
use std::time::Duration;

use akash_sdl::Manifest;
use akash_sdl::manifest::Group;
use akash_types::{GroupSpec, LeaseId};
use bytes::Bytes;
use connect::Connector;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;

use crate::error::{CODE_HEADER, DeniedBody, ErrorCode};
use crate::migrate::{MigrateEndpoints, MigrateHostnames, Transferred};
use crate::path;
use crate::screening::ScreeningResponse;
use crate::status::{AddressDocument, LeaseStatus, ProviderStatus, ServiceStatus, VersionDocument};

pub use connect::{ClientCertificate, ServerTrust};
pub use stream::{Frames, Shell, ShellInput, ShellOutput, StreamEnd};

/// By what a tenant is known.
#[derive(Clone, Default)]
pub enum Credentials {
    /// By nothing: only what is public can be asked.
    #[default]
    None,
    /// By a token.
    Bearer(String),
    /// By a certificate that is published on chain.
    Certificate(ClientCertificate),
}

/// A client of one provider.
#[derive(Clone)]
pub struct Client {
    connector: Connector,
    authority: String,
    token: Option<String>,
    patience: Duration,
}

impl Client {
    /// How long an answer may take if nobody says otherwise: a manifest waits for the chain.
    pub const PATIENCE: Duration = Duration::from_mins(2);

    /// A client of the provider at `uri`, such as `https://provider.example.com:8443`. `http` is
    /// for providers that something else stands in front of.
    pub fn new(
        uri: &str,
        trust: &ServerTrust,
        credentials: Credentials,
    ) -> Result<Self, ClientError> {
        let wrong = || ClientError::Uri(uri.to_owned());
        let parsed: Uri = uri.parse().map_err(|_| wrong())?;
        let authority = parsed.authority().ok_or_else(wrong)?.to_string();
        let token = match &credentials {
            Credentials::Bearer(token) => Some(token.clone()),
            Credentials::None | Credentials::Certificate(_) => None,
        };
        let connector = Connector::new(&parsed, trust, credentials).ok_or_else(wrong)??;
        Ok(Self { connector, authority, token, patience: Self::PATIENCE })
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("authority", &self.authority).finish_non_exhaustive()
    }
}

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

/// Largest answer that is read.
const LARGEST: usize = 64 << 20;
const JSON: &str = "application/json; charset=UTF-8";

impl Client {
    /// Which program runs.
    pub async fn version(&self) -> Result<VersionDocument, ClientError> {
        self.read(Method::GET, path::VERSION, Bytes::new()).await
    }

    /// Whose provider it is.
    pub async fn address(&self) -> Result<AddressDocument, ClientError> {
        self.read(Method::GET, path::ADDRESS, Bytes::new()).await
    }

    /// How the provider is.
    pub async fn status(&self) -> Result<ProviderStatus, ClientError> {
        self.read(Method::GET, path::STATUS, Bytes::new()).await
    }

    /// Sends a manifest. What was accepted is kept, and deployed soon.
    pub async fn send_manifest(&self, dseq: u64, manifest: &Manifest) -> Result<(), ClientError> {
        let body = Bytes::from(manifest.to_json());
        self.answer(Method::PUT, &path::deployment_manifest(dseq), JSON, body).await.map(drop)
    }

    /// Sends an SDL, from which the provider makes the manifest. Providers written in Go refuse.
    pub async fn send_sdl(&self, dseq: u64, sdl: String) -> Result<(), ClientError> {
        let path = path::deployment_manifest(dseq);
        self.answer(Method::PUT, &path, "application/yaml", sdl.into()).await.map(drop)
    }

    /// The manifest that is kept for a lease.
    pub async fn manifest(&self, lease: LeaseId) -> Result<Group, ClientError> {
        let path = path::lease_manifest(lease);
        let body = self.answer(Method::GET, &path, JSON, Bytes::new()).await?;
        let decoded =
            Manifest::from_json(&body).map_err(|error| ClientError::Answer(error.to_string()))?;
        let group = decoded.manifest.groups.into_iter().next();
        group.ok_or_else(|| ClientError::Answer("the manifest has no group".to_owned()))
    }

    /// How a lease is.
    pub async fn lease_status(&self, lease: LeaseId) -> Result<LeaseStatus, ClientError> {
        self.read(Method::GET, &path::lease_status(lease), Bytes::new()).await
    }

    /// How a service of a lease is.
    pub async fn service_status(
        &self,
        lease: LeaseId,
        service: &str,
    ) -> Result<ServiceStatus, ClientError> {
        self.read(Method::GET, &path::service_status(lease, service), Bytes::new()).await
    }

    /// Moves hostnames to another lease of the tenant.
    pub async fn migrate_hostnames(
        &self,
        request: &MigrateHostnames,
    ) -> Result<Transferred, ClientError> {
        self.read(Method::POST, path::MIGRATE_HOSTNAMES, body(request)?).await
    }

    /// Moves leased addresses to another lease of the tenant.
    pub async fn migrate_endpoints(
        &self,
        request: &MigrateEndpoints,
    ) -> Result<Transferred, ClientError> {
        self.read(Method::POST, path::MIGRATE_ENDPOINTS, body(request)?).await
    }

    /// Whether the provider would bid on a group.
    pub async fn validate(&self, group: &GroupSpec) -> Result<ScreeningResponse, ClientError> {
        let list = akash_sdl::groups_to_json(std::slice::from_ref(group));
        let alone = list.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let body = Bytes::from(alone.unwrap_or(&list).to_owned());
        self.read(Method::GET, path::VALIDATE, body).await
    }

    async fn read<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<T, ClientError> {
        let body = self.answer(method, path, JSON, body).await?;
        serde_json::from_slice(&body).map_err(|error| ClientError::Answer(error.to_string()))
    }

    async fn answer(
        &self,
        method: Method,
        path: &str,
        content_type: &str,
        body: Bytes,
    ) -> Result<Bytes, ClientError> {
        let mut request = Request::builder().method(method).uri(path).header(HOST, &self.authority);
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, content_type);
        }
        let request = request
            .body(Full::new(body))
            .map_err(|error| ClientError::Request(error.to_string()))?;
        let exchange = tokio::time::timeout(self.patience, self.exchange(request));
        exchange.await.map_err(|_| ClientError::TimedOut)?
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Bytes, ClientError> {
        let io = TokioIo::new(self.connector.connect().await?);
        let (mut sender, connection) = http1::handshake(io).await?;
        let asking = async {
            let (parts, body) = sender.send_request(request).await?.into_parts();
            let body = Limited::new(body, LARGEST).collect().await;
            let body = body.map_err(|error| match error.downcast::<hyper::Error>() {
                Ok(error) => ClientError::Http(*error),
                Err(_) => ClientError::TooLarge(LARGEST),
            })?;
            // Lets the connection end.
            drop(sender);
            Ok::<_, ClientError>((parts, body.to_bytes()))
        };
        let (answer, _) = futures_util::future::join(asking, connection).await;
        let (parts, body) = answer?;
        // Existing clients take nothing else for a success either.
        if parts.status == StatusCode::OK {
            Ok(body)
        } else {
            Err(refused(parts.status, &parts.headers, &body))
        }
    }
}

fn refused(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ClientError {
    let code = headers.get(CODE_HEADER).and_then(|code| ErrorCode::named(code.to_str().ok()?));
    let message = match serde_json::from_slice::<DeniedBody>(body) {
        Ok(denied) => denied.message,
        Err(_) => String::from_utf8_lossy(body).trim_end().to_owned(),
    };
    ClientError::Refused { status: status.as_u16(), code, message }
}

fn body<T: serde::Serialize>(request: &T) -> Result<Bytes, ClientError> {
    let json = crate::json::to_vec(request);
    json.map(Bytes::from).map_err(|error| ClientError::Request(error.to_string()))
}
