//! One HTTP POST to a node, bounded in time and size.

use std::time::Duration;

use akash_net::{Connector, Route, TlsError};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, PROXY_AUTHORIZATION};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::upgrade::Upgraded;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::failure::chain;
use super::{Endpoint, Malformed, RpcError, Unavailable};

/// How long and how much a node may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a connection to be made.
    pub dial: Duration,
    /// For a whole call, from the first byte sent to the last received.
    pub request: Duration,
    /// Bytes of one answer.
    pub answer_bytes: usize,
}

impl Default for Limits {
    /// Ten and thirty seconds, as in Go; 64 MiB, which is some ten times a block full of orders.
    fn default() -> Self {
        Self {
            dial: Duration::from_secs(10),
            request: Duration::from_secs(30),
            answer_bytes: 64 << 20,
        }
    }
}

/// Why a client could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("TLS to {endpoint} cannot be set up")]
pub struct SetupError {
    /// The address.
    pub endpoint: String,
    /// Why not.
    pub source: TlsError,
}

impl SetupError {
    /// Looks at the files of TLS, where it is used.
    pub(super) fn check(endpoint: &Endpoint) -> Result<(), Self> {
        match endpoint.is_tls() {
            false => Ok(()),
            true => endpoint
                .outbound()
                .check()
                .map_err(|source| Self { endpoint: endpoint.to_string(), source }),
        }
    }
}

#[derive(derive_more::Debug)]
#[debug("HttpClient {{ endpoint: {:?}, limits: {:?}, .. }}", self.endpoint, self.limits)]
pub(super) struct HttpClient {
    client: Client<Connector, Full<Bytes>>,
    /// For connections that become something else, which a proxy has to leave alone.
    upgrading: Client<Connector, Full<Bytes>>,
    endpoint: Endpoint,
    limits: Limits,
}

impl HttpClient {
    pub(super) fn new(endpoint: Endpoint, limits: Limits) -> Result<Self, SetupError> {
        SetupError::check(&endpoint)?;
        let client = |connector| {
            Client::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(Duration::from_secs(90))
                .pool_max_idle_per_host(50)
                .build(connector)
        };
        let connector = endpoint.connector(limits.dial);
        let (upgrading, client) = (client(connector.clone()), client(connector.forwarding()));
        Ok(Self { client, upgrading, endpoint, limits })
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends JSON and takes whatever comes back.
    pub(super) async fn post(&self, json: Vec<u8>) -> Result<(StatusCode, Bytes), RpcError> {
        let after = self.limits.request;
        match tokio::time::timeout(after, self.exchange(json)).await {
            Ok(answer) => answer,
            Err(_) => Err(Unavailable::Timeout { endpoint: self.name(), after }.into()),
        }
    }

    async fn exchange(&self, json: Vec<u8>) -> Result<(StatusCode, Bytes), RpcError> {
        let response = self.client.request(self.request(json)).await.map_err(|error| {
            let (endpoint, reason) = (self.name(), chain(&error));
            match error.is_connect() {
                true => Unavailable::Connect { endpoint, reason },
                false => Unavailable::Broken { endpoint, reason },
            }
        })?;
        let (parts, body) = Response::into_parts(response);
        let limit = self.limits.answer_bytes;
        match Limited::new(body, limit).collect().await {
            Ok(body) => Ok((parts.status, body.to_bytes())),
            Err(error) if error.is::<LengthLimitError>() => {
                Err(Malformed::TooLarge { limit }.into())
            }
            Err(error) => {
                let reason = chain(error.as_ref());
                Err(Unavailable::Broken { endpoint: self.name(), reason }.into())
            }
        }
    }

    /// Asks to speak another protocol at `path` below the endpoint; the connection, if the node
    /// agrees, and what it said. Takes as long as a connection may take to be made, and as long
    /// again.
    pub(super) async fn upgrade(
        &self,
        path: &str,
        headers: HeaderMap,
    ) -> Result<(HeaderMap, Upgraded), Unavailable> {
        let after = self.limits.dial.saturating_mul(2);
        let endpoint = self.name();
        match tokio::time::timeout(after, self.exchange_upgrade(path, headers)).await {
            Ok(answer) => answer,
            Err(_) => Err(Unavailable::Timeout { endpoint, after }),
        }
    }

    async fn exchange_upgrade(
        &self,
        path: &str,
        headers: HeaderMap,
    ) -> Result<(HeaderMap, Upgraded), Unavailable> {
        let broken = |error: &(dyn std::error::Error + 'static)| Unavailable::Broken {
            endpoint: self.name(),
            reason: chain(error),
        };
        let mut request = Request::new(Full::new(Bytes::new()));
        *request.uri_mut() = self.endpoint.below(path).map_err(|error| broken(&error))?;
        *request.headers_mut() = headers;
        if let Some(value) = self.endpoint.authorization() {
            request.headers_mut().insert(AUTHORIZATION, value.clone());
        }
        let response = self.upgrading.request(request).await.map_err(|error| broken(&error))?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let status = response.status().as_u16();
            return Err(Unavailable::HttpStatus { endpoint: self.name(), status });
        }
        let headers = response.headers().clone();
        let upgraded = hyper::upgrade::on(response).await.map_err(|error| broken(&error))?;
        Ok((headers, upgraded))
    }

    fn request(&self, json: Vec<u8>) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(Bytes::from(json)));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.endpoint.uri().clone();
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if !self.endpoint.is_tls()
            && let proxies = self.endpoint.outbound().proxies()
            && let Route::Via(proxy) =
                proxies.route(false, self.endpoint.host(), self.endpoint.port())
            && let Some(value) = proxy.authorization()
        {
            headers.insert(PROXY_AUTHORIZATION, value.clone());
        }
        if let Some(value) = self.endpoint.authorization() {
            headers.insert(AUTHORIZATION, value.clone());
        }
        request
    }

    fn name(&self) -> String {
        self.endpoint.to_string()
    }
}
