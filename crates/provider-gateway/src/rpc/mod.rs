//! The same things over gRPC.
//!
//! ```text
//! request ─► is it gRPC? ─► Authorizer::authenticate ─┬─► ProviderRPC   for anybody
//!                                                     ├─► LeaseRPC      for tenants
//!                                                     ├─► Health
//!                                                     └─► reflection
//! ```
//!
//! A message is read whole before a service sees it: not larger than its method needs, not too
//! slowly, and counted against a budget as it arrives (`intake.rs`). The length that a client
//! announces reserves nothing.
//!
//! Whatever is asked in another way is answered as gRPC, because that is how existing installations
//! see that the port is alive. A token that is no good is refused on every method.
//!
//! Must not know how connections are made.

mod follow;
mod health;
mod intake;
mod lease;
mod provider;
mod status;

use std::sync::Arc;
use std::time::Duration;

use akash_grpc::akash::provider::lease::v1::lease_rpc_server::LeaseRpcServer;
use akash_grpc::akash::provider::v1::provider_rpc_server::ProviderRpcServer;
use akash_grpc::{DescriptorError, Services, descriptor_set_for};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use provider_api::error::CODE_HEADER;
use provider_engine::cluster::port::Cluster;
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_health::pb::health_server::HealthServer;

pub use status::status_message;

use crate::Gateway;
use crate::places::Held;
use crate::port::Provider;
use crate::rest::{Failure, Readable};

/// The one method whose message may be large; strangers are refused before any of it is read.
const SEND_MANIFEST: &str = "/akash.provider.lease.v1.LeaseRPC/SendManifest";
/// What begins the paths of the one service whose clients send several messages.
const REFLECTION: &str = "/grpc.reflection.";
/// How long a client may take to ask about all that is served.
const REFLECTED: Duration = Duration::from_mins(1);

/// The gRPC side of a gateway. Every clone is the same.
#[derive(Clone)]
pub struct Rpc<P, C> {
    gateway: Gateway<P, C>,
    services: Services,
}

/// Why there is no gRPC.
#[derive(Debug, thiserror::Error)]
pub enum RpcError {
    #[error("describing the services")]
    Descriptors(#[from] DescriptorError),
    #[error("setting up reflection")]
    Reflection(#[from] tonic_reflection::server::Error),
}

impl<P: Provider, C: Cluster> Rpc<P, C> {
    /// The gRPC side of `gateway`.
    pub fn new(gateway: Gateway<P, C>) -> Result<Self, RpcError> {
        let described = descriptor_set_for(&[
            "akash.provider.v1.ProviderRPC",
            "akash.provider.lease.v1.LeaseRPC",
        ])?;
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(&described)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .build_v1()?;
        let provider = ProviderRpcServer::new(provider::Answers(gateway.clone()));
        let lease = LeaseRpcServer::new(lease::Answers(gateway.clone()));
        let health = HealthServer::new(health::Answers(gateway.clone()));
        let services = Services::none()
            .with(provider)
            .with(lease.max_decoding_message_size(gateway.settings.largest_manifest))
            .with(health)
            .with(reflection.max_decoding_message_size(gateway.settings.largest_message));
        Ok(Self { gateway, services })
    }

    pub async fn call<B: Readable>(&self, request: Request<B>) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        if parts.method != Method::POST {
            return not_grpc(StatusCode::METHOD_NOT_ALLOWED);
        }
        let kind = parts.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        if !kind.starts_with(b"application/grpc") {
            return not_grpc(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        match self.take(&mut parts, body).await {
            Ok((body, held)) => {
                let response = self.services.call(Request::from_parts(parts, body)).await;
                response.map(|body| intake::counted(body, held))
            }
            Err(failure) => status_of(&failure).into_http(),
        }
    }

    /// The body of a call that may be made, and what it weighs.
    async fn take<B: Readable>(&self, parts: &mut Parts, body: B) -> Result<(Body, Held), Failure> {
        let Gateway { authorizer, settings, .. } = &self.gateway;
        let principal = self.gateway.authenticate(parts).await?;
        let path = parts.uri.path();
        let account = match authorizer.admit(&principal) {
            Err(denial) if path == SEND_MANIFEST => return Err(denial.into()),
            admitted => admitted.ok(),
        };
        let mut held = self.gateway.held(account, &parts.extensions);
        held.grow(intake::weight(parts))?;
        if path.starts_with(REFLECTION) {
            held.grow(settings.largest_message)?;
            let place = self.gateway.public_stream(&parts.extensions)?;
            return Ok((intake::ending(body, REFLECTED, place), held));
        }
        let largest = match path {
            SEND_MANIFEST => settings.largest_manifest,
            _ => settings.largest_message,
        };
        let message = intake::message(body, largest, settings.body_patience, &mut held).await?;
        let weight = self.gateway.read_document(message.clone(), intake::decoded_weight).await?;
        held.grow(weight)?;
        parts.extensions.insert(Arc::new(principal));
        Ok((Body::new(Full::new(message)), held))
    }
}

/// What is not gRPC is told so in gRPC's own type.
fn not_grpc(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

/// A failure as gRPC has it, with its code among the metadata.
fn status_of(failure: &Failure) -> Status {
    use provider_api::error::ErrorCode;
    let code = match (failure.code, failure.status) {
        (
            ErrorCode::InvalidAuthorization
            | ErrorCode::AmbiguousAuthentication
            | ErrorCode::TokenClaims
            | ErrorCode::TokenInvalid
            | ErrorCode::Unauthorized,
            _,
        ) => Code::Unauthenticated,
        (ErrorCode::AuthenticationFailed, _) => Code::Unavailable,
        (ErrorCode::NoAttestation, _) => Code::Unimplemented,
        (_, StatusCode::NOT_FOUND) => Code::NotFound,
        (_, StatusCode::CONFLICT) => Code::AlreadyExists,
        (_, StatusCode::SERVICE_UNAVAILABLE) => Code::Unavailable,
        (_, StatusCode::PAYLOAD_TOO_LARGE) => Code::ResourceExhausted,
        (_, StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT) => Code::DeadlineExceeded,
        (_, status) if status.is_client_error() => Code::InvalidArgument,
        _ => Code::Internal,
    };
    let text = if failure.message.is_empty() { failure.code.as_str() } else { &failure.message };
    let mut status = Status::new(code, text);
    if let Ok(value) = failure.code.as_str().parse() {
        status.metadata_mut().insert(CODE_HEADER, value);
    }
    status
}

impl<P, C> std::fmt::Debug for Rpc<P, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rpc").field("services", &self.services).finish_non_exhaustive()
    }
}
