//! The bus over TLS, against a real redis-server.

mod support;

use provider_bus::fact::Block;
use support::{Running, Server, hear};

const CERTIFICATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates");

fn server(clients: &str) -> Server {
    Server::redis(&[
        "port 0",
        "tls-port {port}",
        &format!("tls-ca-cert-file {CERTIFICATES}/ca.pem"),
        &format!("tls-cert-file {CERTIFICATES}/server.pem"),
        &format!("tls-key-file {CERTIFICATES}/server.key"),
        &format!("tls-auth-clients {clients}"),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_travel_over_tls_to_a_server_that_the_authority_vouches_for() {
    let redis = server("no");
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("rediss://{host}:{}?ca={CERTIFICATES}/ca.pem", redis.port);
        let publisher = Running::start(&url);
        let subscriber = Running::start(&url);
        let mut blocks = subscriber.bus.subscribe::<Block>();
        publisher.bus.publish(&Block { height: 7, ..Block::default() });
        hear(&mut blocks, |block| block.height == 7).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_nobody_known_vouches_for_is_refused() {
    let redis = server("no");
    let stranger = Running::start(&format!("rediss://localhost:{}", redis.port));
    let reason = stranger.cut_off().await;
    assert!(reason.contains("handshake") && reason.contains("UnknownIssuer"), "{reason}");
    // The name has to be right as well.
    let url = format!("rediss://127.0.0.2:{}?ca={CERTIFICATES}/ca.pem", redis.port);
    let reason = Running::start(&url).cut_off().await;
    assert!(reason.contains("not valid for name"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_for_a_certificate_gets_ours() {
    let redis = server("yes");
    let url = format!("rediss://localhost:{}?ca={CERTIFICATES}/ca.pem", redis.port);
    Running::start(&url).cut_off().await;
    let url = format!("{url}&cert={CERTIFICATES}/client.pem&key={CERTIFICATES}/client.key");
    Running::start(&url).connected().await;
}
