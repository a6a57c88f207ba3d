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

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use http::{Request, Response};
use hyper::body::Incoming;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::NamedService;
use tonic_health::pb::health_server::HealthServer;

use super::operator::HostnameOperator;

pub use server::serve;

type Serve = Arc<dyn Fn(Request<Body>) -> BoxFuture<'static, Response<Body>> + Send + Sync>;

/// Answers about an operator. Clones are the same.
#[derive(Clone)]
pub struct Rpc(Arc<[(&'static str, Serve)]>);

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
        Ok(Self([named(health), named(reflection)].into()))
    }

    /// Answers a call.
    pub async fn call(&self, request: Request<Incoming>) -> Response<Body> {
        let path = request.uri().path().trim_start_matches('/');
        let wanted = path.split('/').next().unwrap_or_default().to_owned();
        match self.0.iter().find(|(name, _)| *name == wanted) {
            Some((_, serve)) => serve(request.map(Body::new)).await,
            None => Status::unimplemented(format!("unknown service {wanted}")).into_http(),
        }
    }
}

fn named<S>(service: S) -> (&'static str, Serve)
where
    S: NamedService
        + Service<Request<Body>, Response = Response<Body>, Error = Infallible>
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
{
    let serve = move |request| -> BoxFuture<'static, Response<Body>> {
        // Generated servers are always ready.
        let called = service.clone().call(request);
        Box::pin(async move {
            let Ok(response) = called.await;
            response
        })
    };
    (S::NAME, Arc::new(serve))
}

impl fmt::Debug for Rpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}
