//! What is asked and answered once, and where streams begin.
//!
//! ```text
//! request ─ route ─► Authorizer::authorize ─► body, if it has one ─► answered
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

use akash_types::Address;
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
use crate::auth::{self, LeaseRef};
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
        match route {
            Route::Version => {
                self.anybody(parts).await?;
                let identity = self.provider.identity();
                let body = self.version.get(&identity, |identity| encode(&identity.version))?;
                Ok(of_type(JSON, body))
            }
            Route::Address => {
                self.anybody(parts).await?;
                let address = self.provider.identity().address.to_string();
                json(&AddressDocument { address })
            }
            Route::Status => {
                self.anybody(parts).await?;
                let published = self.provider.published();
                let body = self.status.get(&published, |published| {
                    encode(&status_document(published, &self.provider.identity()))
                })?;
                Ok(of_type(JSON, body))
            }
            Route::Attestation => {
                self.anybody(parts).await?;
                Err(no_attestation())
            }
            Route::Metrics => self.metrics(parts).await,
            Route::Validate => self.validate(parts, body).await,
            Route::SendManifest { dseq } => self.send_manifest(&dseq, parts, body).await,
            Route::MigrateHostnames => self.migrate_hostnames(parts, body).await,
            Route::MigrateEndpoints => self.migrate_endpoints(parts, body).await,
            Route::Lease { id, what } => {
                let lease = lease_ref(&id);
                match what {
                    OfLease::Manifest => self.get_manifest(lease, parts).await,
                    OfLease::Status => self.lease_status(lease, parts).await,
                    OfLease::Service(name) => self.service(lease, &name, parts).await,
                    OfLease::Logs => self.logs(lease, parts).await,
                    OfLease::Events => self.events(lease, parts).await,
                    OfLease::Shell => self.shell(lease, parts).await,
                }
            }
        }
    }

    /// The account that asks for what anybody may, if it may ask for more here.
    async fn anybody(&self, parts: &mut Parts) -> Result<Option<Address>, Failure> {
        let grant = self.authorizer.authorize::<Failure>(parts, Ok(auth::Request::Public)).await?;
        Ok(grant.account)
    }

    /// Figures for monitoring, for who operates the provider or shows the token for it.
    async fn metrics(&self, parts: &mut Parts) -> Result<Answer, Failure> {
        let metrics = self.settings.metrics.as_ref().ok_or_else(unknown_route)?;
        let shown = parts.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let token = self.settings.metrics_token.as_ref();
        if !token.is_some_and(|token| token.is_shown(shown)) {
            self.authorizer.authorize::<Failure>(parts, Ok(auth::Request::Operate)).await?;
        }
        Ok(metrics_answer(metrics, &Method::GET, "/metrics"))
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
