//! The same things over gRPC.
//!
//! ```text
//! request ─► is it gRPC? ─► Gatekeeper::authenticate ─┬─► ProviderRPC   for anybody
//!                                                     ├─► LeaseRPC      for tenants
//!                                                     ├─► Health
//!                                                     └─► reflection
//! ```
//!
//! Whatever is asked in another way is answered as gRPC, because that is how existing installations
//! see that the port is alive. A token that is no good is refused on every method.
//!
//! Must not know how connections are made.

mod follow;
mod health;
mod lease;
mod logs;
mod provider;
mod quantity;
mod status;

use std::sync::Arc;

use akash_grpc::akash::provider::lease::v1::lease_rpc_server::LeaseRpcServer;
use akash_grpc::akash::provider::v1::provider_rpc_server::ProviderRpcServer;
use akash_grpc::{DescriptorError, Services, descriptor_set_for};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use provider_api::error::CODE_HEADER;
use provider_engine::cluster::port::Cluster;
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_health::pb::health_server::HealthServer;

pub use status::status_message;

use crate::Gateway;
use crate::port::{Gatekeeper, Provider};
use crate::rest::{Failure, Readable};

/// Largest message that is taken.
const LARGEST: usize = 4 << 20;

/// The gRPC side of a gateway. Every clone is the same.
#[derive(Clone)]
pub struct Rpc<P, C, G> {
    gateway: Gateway<P, C, G>,
    services: Services,
}

/// Why there is no gRPC.
#[derive(Debug, thiserror::Error)]
pub enum RpcError {
    /// The descriptions of services are damaged.
    #[error("describing the services")]
    Descriptors(#[from] DescriptorError),
    /// Reflection cannot read them.
    #[error("setting up reflection")]
    Reflection(#[from] tonic_reflection::server::Error),
}

impl<P: Provider, C: Cluster, G: Gatekeeper> Rpc<P, C, G> {
    /// The gRPC side of `gateway`.
    ///
    /// # Errors
    ///
    /// Only when the program itself is damaged.
    pub fn new(gateway: Gateway<P, C, G>) -> Result<Self, RpcError> {
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
            .with(provider.max_decoding_message_size(LARGEST))
            .with(lease.max_decoding_message_size(LARGEST))
            .with(health)
            .with(reflection);
        Ok(Self { gateway, services })
    }

    /// Answers a call.
    pub async fn call<B: Readable>(&self, request: Request<B>) -> Response<Body> {
        let (mut parts, body) = request.into_parts();
        if parts.method != Method::POST {
            return not_grpc(StatusCode::METHOD_NOT_ALLOWED);
        }
        let kind = parts.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        if !kind.starts_with(b"application/grpc") {
            return not_grpc(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        match self.gateway.gate.authenticate(&parts).await {
            Ok(principal) => drop(parts.extensions.insert(Arc::new(principal))),
            Err(denied) => return status_of(&denied.into()).into_http(),
        }
        self.services.call(Request::from_parts(parts, Body::new(body))).await
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
        (_, StatusCode::NOT_FOUND) => Code::NotFound,
        (_, StatusCode::CONFLICT) => Code::AlreadyExists,
        (_, StatusCode::SERVICE_UNAVAILABLE) => Code::Unavailable,
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

impl<P, C, G> std::fmt::Debug for Rpc<P, C, G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rpc").field("services", &self.services).finish_non_exhaustive()
    }
}
