//! The bus over TLS, against a real redis-server.

use provider_bus::fact::Block;

use crate::support::{Running, Server, hear};

const CERTIFICATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates");

fn server(clients: &str) -> Server {
    Server::redis(&with(&tls(clients), &[]))
}

fn tls(clients: &str) -> [String; 6] {
    [
        String::from("port 0"),
        String::from("tls-port {port}"),
        format!("tls-ca-cert-file {CERTIFICATES}/ca.pem"),
        format!("tls-cert-file {CERTIFICATES}/server.pem"),
        format!("tls-key-file {CERTIFICATES}/server.key"),
        format!("tls-auth-clients {clients}"),
    ]
}

fn with<'a>(tls: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    tls.iter().map(String::as_str).chain(more.iter().copied()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sentinel_and_server_have_tls_and_a_login_each() {
    let tls = tls("no");
    let redis = Server::redis(&with(&tls, &["requirepass server-secret"]));
    let watch = format!("sentinel monitor mymaster 127.0.0.1 {} 1", redis.port);
    let settings = [
        "tls-replication yes",
        "requirepass sentinel-secret",
        watch.as_str(),
        "sentinel auth-pass mymaster server-secret",
    ];
    let sentinel = Server::start("redis-sentinel", &with(&tls, &settings));
    let at = format!("@127.0.0.1:{}/mymaster?ca={CERTIFICATES}/ca.pem", sentinel.port);
    let url = format!("rediss+sentinel://:server-secret{at}&sentinel_password=sentinel-secret");
    Running::start(&url).connected().await;
    for (url, expected) in [
        (url.replace("sentinel-secret", "wrong"), "no Redis server was found"),
        (url.replace("server-secret", "wrong"), "could not be reached"),
    ] {
        let reason = Running::start(&url).cut_off().await;
        assert!(reason.contains(expected) && reason.contains("refused the login"), "{reason}");
    }
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
