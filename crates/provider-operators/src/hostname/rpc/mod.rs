//! Whether the operator works and hosts answer, over gRPC.
//!
//! ```text
//! call ─┬─► grpc.health.v1.Health
//!       └─► reflection
//! ```
//!
//! There is no gRPC service of the Go operator to be equal to, so how a host is can be asked with what
//! every client has, the health service:
//!
//! | name | is well while |
//! |---|---|
//! | (none) | the process answers |
//! | `hostname` | this replica makes routes and has seen everything |
//! | `hostname/a.example.com` | that host has its route and somebody answers |
//!
//! All of it in one answer is in `/managed-hostnames` and `/ignore-list` ([`rest`](super::rest)).
//!
//! Decides nothing.

mod health;
mod server;

use akash_grpc::Services;
use http::{Request, Response};
use hyper::body::Incoming;
use tonic::body::Body;
use tonic_health::pb::health_server::HealthServer;

use super::operator::HostnameOperator;

pub use server::serve;

/// Answers about an operator. Clones are the same.
#[derive(Clone, Debug)]
pub struct Rpc(Services);

/// Why there is no gRPC.
#[derive(Debug, thiserror::Error)]
#[error("setting up reflection")]
pub struct RpcError(#[from] tonic_reflection::server::Error);

impl Rpc {
    /// Answers about `operator`.
    ///
    /// # Errors
    ///
    /// Only when the program itself is damaged.
    pub fn new(operator: HostnameOperator) -> Result<Self, RpcError> {
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .build_v1()?;
        let health = HealthServer::new(health::Answers(operator));
        Ok(Self(Services::none().with(health).with(reflection)))
    }

    /// Answers a call.
    pub async fn call(&self, request: Request<Incoming>) -> Response<Body> {
        self.0.call(request.map(Body::new)).await
    }
}
