//! Whether the provider can do its work, as every place that is asked says it, and what tenants hear
//! while it cannot.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use akash_keys::SecretKey;
use anyhow::Result;
use e2e::attack::{Client, Stream, answer, token};
use e2e::network::{Network, Settings, wait_until};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

const LONG: Duration = Duration::from_secs(120);
const SDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml");
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const SERVING: i32 = 1;
const NOT_SERVING: i32 = 2;

fn insist<T>(what: &str, look: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, look).unwrap_or_else(|error| panic!("{error:#}"))
}

/// A port that was free a moment ago.
fn free() -> SocketAddr {
    TcpListener::bind((LOCAL, 0)).unwrap().local_addr().unwrap()
}

fn gateway(network: &Network) -> (SocketAddr, SocketAddr) {
    let (rest, grpc) = insist("tenants can connect", || network.gateway());
    (rest.parse().unwrap(), grpc.parse().unwrap())
}

/// gRPC over TLS, to a server that is not verified.
fn channel(to: SocketAddr) -> Channel {
    let connect = move |_: http::Uri| async move {
        let stream = Client::http2()?.connect(to, LOCAL).await?;
        anyhow::Ok(hyper_util::rt::TokioIo::new(stream))
    };
    let connector = tower::service_fn(connect);
    Endpoint::from_static("http://provider").connect_with_connector_lazy(connector)
}

async fn rest(to: SocketAddr, request: &str) -> Result<(u16, Value)> {
    let mut stream: Stream = Client::new()?.connect(to, LOCAL).await?;
    stream.write_all(request.as_bytes()).await?;
    let (status, body) = answer(&mut stream).await?;
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}

fn request(method: &str, path: &str, token: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\
         accept: application/vnd.akash.error+json\r\ncontent-type: {kind}\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
}

/// What the listener for metrics says at a path: the status and the body.
async fn probe(to: SocketAddr, path: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect(to).await?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let status = text.split(' ').nth(1).unwrap_or_default().parse()?;
    Ok((status, text))
}

fn is_ready_everywhere(
    runtime: &Runtime,
    network: &Network,
    metrics: SocketAddr,
    health: &mut HealthClient<Channel>,
    ready: bool,
) {
    let ask = HealthCheckRequest { service: String::new() };
    let check = runtime.block_on(health.check(ask)).unwrap().into_inner().status;
    assert_eq!(check, if ready { SERVING } else { NOT_SERVING });
    let (status, body) = runtime.block_on(probe(metrics, "/readyz")).unwrap();
    assert_eq!(status, if ready { 200 } else { 503 }, "{body}");
    let (_, page) = runtime.block_on(probe(metrics, "/metrics")).unwrap();
    assert!(page.contains(&format!("\nprovider_ready {}\n", u8::from(ready))), "{ready}");
    let told = network.ctl(&["status"]).unwrap();
    assert_eq!(told["ready"], ready, "{told}");
}

#[test]
fn a_dead_chain_is_not_ready_everywhere_and_who_sends_a_manifest_is_told_so() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let metrics = free();
    let run = vec!["--metrics-listener".to_owned(), metrics.to_string()];
    let settings = Settings { run, ..Settings::default() };
    let mut network = Network::start(folder.path(), settings).unwrap();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    network.open_gateway().unwrap();
    let (rest_at, grpc_at) = gateway(&network);
    let signed = token(&SecretKey::from_hex(&network.private_key("tenant").unwrap()).unwrap());
    let token = signed.unwrap();

    let create = ["deployment", "create", SDL, "--dseq", "1", "--deposit", "5act"];
    network.tx("tenant", &create).unwrap();
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    let bid = ["query", "market", "bid", "get", "--owner", &tenant, "--dseq", "1"];
    let bid = [&bid[..], &["--provider", &operator]].concat();
    insist("a bid", || network.json(&bid).map(Some));
    let lease = ["market", "lease", "create", "--owner", &tenant, "--dseq", "1"];
    network.tx("tenant", &[&lease[..], &["--provider", &operator]].concat()).unwrap();
    insist("the lease", || Ok((network.leases()?.len() == 1).then_some(())));
    // The tenant's key is known from here on.
    let manifest = std::fs::read_to_string(SDL).unwrap();
    let put = request("PUT", "/deployment/1/manifest", &token, "application/yaml", &manifest);
    let ask = request("GET", "/lease/1/1/1/manifest", &token, "text/plain", "");
    runtime.block_on(rest(rest_at, &ask)).unwrap();

    let mut health = runtime.block_on(async { HealthClient::new(channel(grpc_at)) });
    let ask = HealthCheckRequest { service: String::new() };
    let mut watch = runtime.block_on(health.watch(ask)).unwrap().into_inner();
    let mut next = || {
        let message = async { tokio::time::timeout(LONG, watch.message()).await };
        let message = runtime.block_on(message).expect("news in time");
        message.unwrap().expect("the stream goes on").status
    };
    assert_eq!(next(), SERVING);
    is_ready_everywhere(&runtime, &network, metrics, &mut health, true);

    network.chain.as_mut().unwrap().kill();
    assert_eq!(next(), NOT_SERVING);
    is_ready_everywhere(&runtime, &network, metrics, &mut health, false);
    let (status, body) = runtime.block_on(rest(rest_at, &put)).unwrap();
    assert_eq!((status, &body["code"]), (503, &Value::from("chain-unavailable")), "{body}");

    network.start_chain().unwrap();
    assert_eq!(next(), SERVING);
    is_ready_everywhere(&runtime, &network, metrics, &mut health, true);
    insist("the manifest is taken", || {
        let (status, body) = runtime.block_on(rest(rest_at, &put))?;
        anyhow::ensure!(status == 200, "{body}");
        Ok(Some(()))
    });
}

#[test]
fn a_provider_that_has_not_seen_its_cluster_says_that_it_is_not_ready() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    // A first transaction publishes the tenant's key.
    let create = ["deployment", "create", SDL, "--dseq", "1", "--deposit", "5act"];
    network.tx("tenant", &create).unwrap();
    network.cluster.as_mut().unwrap().kill();
    network.start_provider().unwrap();
    let (rest_at, grpc_at) = gateway(&network);
    let groups = network.json(&["sdl", "groups", SDL]).unwrap();
    let group = groups[0].to_string();
    let ask = request("POST", "/validate", "", "application/json", &group);
    let ask = ask.replace("authorization: Bearer \r\n", "");
    let (status, body) = runtime.block_on(rest(rest_at, &ask)).unwrap();
    assert_eq!((status, &body["code"]), (503, &Value::from("not-ready")), "{body}");
    let signed = token(&SecretKey::from_hex(&network.private_key("tenant").unwrap()).unwrap());
    let manifest = std::fs::read_to_string(SDL).unwrap();
    let path = "/deployment/1/manifest";
    let put = request("PUT", path, &signed.unwrap(), "application/yaml", &manifest);
    let (status, body) = runtime.block_on(rest(rest_at, &put)).unwrap();
    assert_eq!((status, &body["code"]), (503, &Value::from("not-ready")), "{body}");
    let mut health = runtime.block_on(async { HealthClient::new(channel(grpc_at)) });
    let check = HealthCheckRequest { service: String::new() };
    let found = runtime.block_on(health.check(check)).unwrap().into_inner().status;
    assert_eq!(found, NOT_SERVING);

    network.start_cluster().unwrap();
    insist("there would be a bid", || {
        let (status, body) = runtime.block_on(rest(rest_at, &ask))?;
        anyhow::ensure!(status == 200, "{body}");
        Ok(Some(()))
    });
}
