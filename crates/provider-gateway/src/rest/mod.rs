//! What is asked and answered once, and where streams begin.
//!
//! ```text
//! request ─ route ─► Authorizer::authenticate ─► public: answered
//!                                              └► admit ─► numbers ─► authorize ─► answered
//! ```
//!
//! Paths, statuses and bodies are those of the existing provider. A request that leads nowhere is
//! answered before anybody asks who makes it; a bad token is refused even where none is needed.
//!
//! Must not know how connections are made, what a token is, or what a cluster is made of.

mod body;
mod failure;
mod lease;
mod manifest;
mod migrate;
mod route;
mod status;

use bytes::Bytes;
use http::header::{AUTHORIZATION, LOCATION};
use http::request::Parts;
use http::{HeaderValue, Method, Request, StatusCode};
use hyper::body::Body;
use provider_api::error::ErrorCode;
use provider_api::query::{parse_u32, parse_u64};
use provider_api::status::AddressDocument;
use provider_engine::cluster::port::Cluster;

pub(crate) use body::{read_until, too_large, too_many_values};
pub use failure::Answer;
pub(crate) use failure::{Failure, Kept};
pub(crate) use lease::service_status;
pub(crate) use manifest::manifest_failure;
pub use route::{OfLease, Route, Routed, route};
pub use status::{metrics_answer, status_document};

use crate::Gateway;
use crate::auth::{self, Denial, Grant, LeaseRef, Principal};
use crate::port::Provider;
use crate::tls::AmbiguousLength;
use failure::{JSON, encode, json, nothing, of_type};

pub trait Readable:
    Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static
{
}

impl<B> Readable for B where
    B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static
{
}

impl<P: Provider, C: Cluster> Gateway<P, C> {
    /// Answers a request. A stream goes on in a task of its own after the answer is sent.
    pub async fn rest<B: Readable>(&self, request: Request<B>) -> Answer {
        let (mut parts, body) = request.into_parts();
        let answer = match route(&parts.method, parts.uri.path()) {
            _ if parts.extensions.get::<AmbiguousLength>().is_some() => Err(Failure::plain(
                StatusCode::BAD_REQUEST,
                ErrorCode::BadBody,
                "400 Bad Request: both Content-Length and Transfer-Encoding are given",
            )),
            Routed::To(Route::Metrics) => self.metrics(&parts).await,
            Routed::To(route) => self.serve(route, &mut parts, body).await,
            Routed::NotFound => Err(unknown_route()),
            Routed::MethodNotAllowed => Err(Failure::empty(
                StatusCode::METHOD_NOT_ALLOWED,
                ErrorCode::MethodNotAllowed,
                format!("{} is not for this path", parts.method),
            )),
            Routed::Unreadable => Err(Failure::plain(
                StatusCode::BAD_REQUEST,
                ErrorCode::UnknownRoute,
                "400 Bad Request: the path is not UTF-8",
            )),
            Routed::Moved(path) => moved(&path, parts.uri.query()),
        };
        answer.unwrap_or_else(|failure| failure.response(&parts.headers))
    }

    async fn serve<B: Readable>(
        &self,
        route: Route,
        parts: &mut Parts,
        body: B,
    ) -> Result<Answer, Failure> {
        let principal = self.authenticate(parts).await?;
        match route {
            Route::Version => {
                let identity = self.provider.identity();
                let body = self.version.get(&identity, |identity| encode(&identity.version))?;
                Ok(of_type(JSON, body))
            }
            Route::Address => {
                let address = self.provider.identity().address.to_string();
                json(&AddressDocument { address })
            }
            Route::Status => {
                let published = self.provider.published();
                let body = self.status.get(&published, |published| {
                    encode(&status_document(published, &self.provider.identity()))
                })?;
                Ok(of_type(JSON, body))
            }
            // Answered before: who scrapes may show a word that is no token.
            Route::Metrics => Err(unknown_route()),
            Route::Attestation => Err(no_attestation()),
            Route::Validate => self.validate(&principal, parts, body).await,
            Route::SendManifest { dseq } => self.send_manifest(principal, &dseq, parts, body).await,
            Route::MigrateHostnames => self.migrate_hostnames(principal, parts, body).await,
            Route::MigrateEndpoints => self.migrate_endpoints(principal, parts, body).await,
            Route::Lease { id, what } => {
                self.authorizer.admit(&principal)?;
                let lease = lease_ref(&id)?;
                match what {
                    OfLease::Manifest => self.get_manifest(&principal, lease).await,
                    OfLease::Status => self.lease_status(&principal, lease).await,
                    OfLease::Service(name) => self.service(&principal, lease, &name).await,
                    OfLease::Logs => self.logs(&principal, lease, parts),
                    OfLease::Events => self.events(&principal, lease, parts),
                    OfLease::Shell => self.shell(&principal, lease, parts),
                }
            }
        }
    }

    /// Figures for monitoring, for who operates the provider or shows the token for it.
    async fn metrics(&self, parts: &Parts) -> Result<Answer, Failure> {
        let metrics = self.settings.metrics.as_ref().ok_or_else(unknown_route)?;
        let shown = parts.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let token = self.settings.metrics_token.as_ref();
        if !token.is_some_and(|token| token.is_shown(shown)) {
            let principal = self.authorizer.authenticate(parts).await?;
            self.authorize(&principal, &auth::Request::Operate)?;
        }
        Ok(metrics_answer(metrics, &Method::GET, "/metrics"))
    }

    /// Asks whether a request may be served, given what is published now.
    pub(crate) fn authorize(
        &self,
        principal: &Principal,
        request: &auth::Request<'_>,
    ) -> Result<Grant, Denial> {
        self.authorizer.authorize(principal, request, &self.provider.published())
    }
}

fn unknown_route() -> Failure {
    Failure::plain(StatusCode::NOT_FOUND, ErrorCode::UnknownRoute, "404 page not found")
}

/// Providers with other hardware answer such a request; the status is that of those without.
pub(crate) fn no_attestation() -> Failure {
    let text = "this provider gives no proof of its hardware";
    Failure::plain(StatusCode::NOT_FOUND, ErrorCode::NoAttestation, text)
}

fn moved(path: &str, query: Option<&str>) -> Result<Answer, Failure> {
    let place = query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    let place = HeaderValue::from_str(&place).map_err(|_| unknown_route())?;
    let mut answer = nothing(StatusCode::MOVED_PERMANENTLY);
    answer.headers_mut().insert(LOCATION, place);
    Ok(answer)
}

fn lease_ref([dseq, gseq, oseq]: &[String; 3]) -> Result<LeaseRef, Failure> {
    let read =
        || Ok(LeaseRef { dseq: parse_u64(dseq)?, gseq: parse_u32(gseq)?, oseq: parse_u32(oseq)? });
    read().map_err(|error: provider_api::query::NumberError| bad_id(&error))
}

fn bad_id(error: &provider_api::query::NumberError) -> Failure {
    Failure::plain(StatusCode::BAD_REQUEST, ErrorCode::BadId, error.to_string())
}
