//! What somebody gets over gRPC.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use akash_grpc::akash::provider::lease::v1::lease_rpc_client::LeaseRpcClient;
use akash_grpc::akash::provider::v1::provider_rpc_client::ProviderRpcClient;
use akash_proto::akash::provider::lease::v1 as wire;
use akash_proto::akash::provider::v1::BidScreeningRequest;
use futures_util::{Stream, StreamExt};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tonic::codegen::Service;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;

use crate::authorization::principals::Shown;
use crate::common::{case, lease};
use crate::secured::Secured;
use crate::secured::support::Client;

/// Every method, in the order of the table.
pub(crate) const METHODS: [&str; 15] = [
    "GetStatus",
    "StreamStatus",
    "BidScreening",
    "ValidateGroupSpec",
    "Health/Check",
    "Health/Watch",
    "ServerReflectionInfo",
    "SendManifest",
    "ServiceStatus",
    "ServiceStatus of db",
    "StreamServiceStatus",
    "ServiceLogs",
    "ServiceLogs of db",
    "StreamServiceLogs",
    "AttestationQuote",
];

/// Connects with what somebody shows.
#[derive(Clone)]
struct Connector(Client, SocketAddr);

impl Service<http::Uri> for Connector {
    type Response = TokioIo<TlsStream<TcpStream>>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = std::io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: http::Uri) -> Self::Future {
        let Self(client, address) = self.clone();
        Box::pin(async move { Ok(TokioIo::new(client.connect(address).await?)) })
    }
}

/// The answer as a letter of the table.
pub(crate) async fn call(gateway: &Secured, shown: &Shown, method: &str) -> char {
    let connector = Connector(shown.tls.clone().alpn(&["h2"]), gateway.rpc);
    let channel = Endpoint::from_static("http://localhost").connect_with_connector_lazy(connector);
    match answer(channel, shown, method).await {
        Ok(()) => '+',
        Err(status) if is_closed(&status) => alert(gateway, shown).await,
        Err(status) => letter(&status),
    }
}

/// Whether there was no answer at all.
fn is_closed(status: &Status) -> bool {
    std::error::Error::source(status).is_some_and(|cause| cause.is::<tonic::transport::Error>())
}

/// With which alert a connection ends. gRPC's own client does not tell.
async fn alert(gateway: &Secured, shown: &Shown) -> char {
    let hello = async {
        let mut stream = shown.tls.clone().alpn(&["h2"]).connect(gateway.rpc).await?;
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await?;
        stream.read_u8().await
    };
    let error = hello.await.expect_err("a connection that is closed").to_string();
    if error.contains("BadCertificate") { '!' } else { panic!("{error}") }
}

fn letter(status: &Status) -> char {
    match (status.code(), status.message()) {
        (Code::NotFound, _) => '0',
        (Code::Unimplemented, _) => 'u',
        (Code::Unauthenticated, "unauthorized access") => '-',
        (Code::Unauthenticated, "JWT is invalid") => 'j',
        (Code::Unauthenticated, "JWT has invalid claims") => 'c',
        (Code::Unauthenticated, "invalid authorization header") => 'h',
        (Code::Unauthenticated, text) if text.starts_with("auth: ambiguous") => 'a',
        _ => panic!("{status:?}"),
    }
}

async fn answer(channel: Channel, shown: &Shown, method: &str) -> Result<(), Status> {
    let mut provider = ProviderRpcClient::new(channel.clone());
    let mut leases = LeaseRpcClient::new(channel.clone());
    let mut health = HealthClient::new(channel.clone());
    let mut reflection = ServerReflectionClient::new(channel);
    let lease_id = Some(lease(9002).into());
    let db = vec!["db".to_owned()];
    let status = |services| wire::ServiceStatusRequest { lease_id: lease_id.clone(), services };
    let logs = |services| wire::ServiceLogsRequest { lease_id: lease_id.clone(), services };
    match method {
        "GetStatus" => provider.get_status(by(shown, ())).await.map(drop),
        "StreamStatus" => first(provider.stream_status(by(shown, ())).await?).await,
        "BidScreening" => provider.bid_screening(by(shown, group())).await.map(drop),
        "ValidateGroupSpec" => provider.validate_group_spec(by(shown, group())).await.map(drop),
        "Health/Check" => health.check(by(shown, HealthCheckRequest::default())).await.map(drop),
        "Health/Watch" => {
            first(health.watch(by(shown, HealthCheckRequest::default())).await?).await
        }
        "ServerReflectionInfo" => {
            let list = Some(MessageRequest::ListServices(String::new()));
            let list = ServerReflectionRequest { host: String::new(), message_request: list };
            let asked = by(shown, tokio_stream::once(list));
            first(reflection.server_reflection_info(asked).await?).await
        }
        "SendManifest" => {
            let manifest = case("02-two-services").0.into_proto();
            let request = wire::SendManifestRequest { lease_id, manifest };
            leases.send_manifest(by(shown, request)).await.map(drop)
        }
        "ServiceStatus" => leases.service_status(by(shown, status(vec![]))).await.map(drop),
        "ServiceStatus of db" => leases.service_status(by(shown, status(db))).await.map(drop),
        "StreamServiceStatus" => {
            first(leases.stream_service_status(by(shown, status(vec![]))).await?).await
        }
        "ServiceLogs" => leases.service_logs(by(shown, logs(vec![]))).await.map(drop),
        "ServiceLogs of db" => leases.service_logs(by(shown, logs(db))).await.map(drop),
        "StreamServiceLogs" => {
            first(leases.stream_service_logs(by(shown, logs(vec![]))).await?).await
        }
        "AttestationQuote" => {
            let request = wire::AttestationQuoteRequest { lease_id, ..Default::default() };
            leases.attestation_quote(by(shown, request)).await.map(drop)
        }
        other => panic!("{other}"),
    }
}

fn group() -> BidScreeningRequest {
    let spec = case("02-two-services").1.groups()[0].clone();
    BidScreeningRequest { group_spec: Some(spec.into()), hostnames: vec![] }
}

fn by<T>(shown: &Shown, message: T) -> Request<T> {
    let mut request = Request::new(message);
    if let Some(header) = &shown.header {
        request.metadata_mut().insert("authorization", header.parse().unwrap());
    }
    request
}

/// A stream is answered with its first message, or with why there is none.
async fn first<T>(
    answer: Response<impl Stream<Item = Result<T, Status>> + Unpin>,
) -> Result<(), Status> {
    answer.into_inner().next().await.expect("a stream that says nothing").map(drop)
}
