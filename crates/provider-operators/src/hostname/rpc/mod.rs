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

use std::convert::Infallible;
use std::time::Duration;

use akash_grpc::Services;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tonic::body::Body;
use tonic_health::pb::health_server::HealthServer;

use super::operator::HostnameOperator;
use crate::listener::{CONNECTIONS, Listener};

/// Answers about an operator. Clones are the same.
#[derive(Clone, Debug)]
pub struct Rpc(Services);

#[derive(Debug, thiserror::Error)]
#[error("setting up reflection")]
pub struct RpcError(#[from] tonic_reflection::server::Error);

impl Rpc {
    /// Answers about `operator`.
    ///
    /// Only when the program itself is damaged.
    pub fn new(operator: HostnameOperator) -> Result<Self, RpcError> {
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .build_v1()?;
        let health = HealthServer::new(health::Answers(operator));
        Ok(Self(Services::none().with(health).with(reflection)))
    }

    pub async fn call(&self, request: Request<Incoming>) -> Response<Body> {
        self.0.call(request.map(Body::new)).await
    }
}

const CALLS: u32 = 32;
/// How long a connection may be silent before it is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(30);

/// Answers for as long as this is polled. Dropping it ends all connections.
pub async fn serve(listener: Listener, rpc: Rpc) -> Infallible {
    listener.serve_each(CONNECTIONS, |stream| connection(stream, rpc.clone())).await
}

async fn connection(stream: TcpStream, rpc: Rpc) {
    let service = service_fn(move |request| {
        let rpc = rpc.clone();
        async move { Ok::<_, Infallible>(rpc.call(request).await) }
    });
    // Whoever asks sees how it ended.
    let _ = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(SILENCE)
        .max_concurrent_streams(CALLS)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
