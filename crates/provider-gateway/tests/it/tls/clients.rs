//! Certificates of clients.

use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use provider_gateway::tls::{Limits, Protocol};

use crate::secured::support::{Client, PROVIDER, TENANT, pair, pair_from};
use crate::tls::server::Running;

fn publish(server: &Running, pair: &akash_keys::certificate::KeyPair) {
    server.chain.published.lock().unwrap().push(pair.certificate().to_pem().into_bytes());
}

#[tokio::test]
async fn must_match_a_certificate_is_asked_for_and_not_needed_and_a_published_one_says_who_the_client_is()
 {
    let server = Running::http1().await;
    for (owner, domains) in [(TENANT, &[][..]), (PROVIDER, &["localhost"])] {
        let pair = pair(owner, 5, domains);
        publish(&server, &pair);
        let answer = Client::showing(&[&pair]).get(server.address, "/").await.unwrap();
        assert_eq!(answer, (200, owner.to_owned()));
    }
    let answer = Client::new().get(server.address, "/").await.unwrap();
    assert_eq!(answer, (200, "nobody".to_owned()));
}

#[tokio::test]
async fn must_match_any_other_certificate_ends_in_the_tls_alert_bad_certificate() {
    let server = Running::http1().await;
    let now = SystemTime::now();
    let good = pair(TENANT, 5, &[]);
    let expired = pair_from(TENANT, 6, &[], now - Duration::from_hours(2));
    let early = pair_from(TENANT, 7, &[], now + Duration::from_hours(1));
    for pair in [&good, &expired, &early] {
        publish(&server, pair);
    }
    // The same number as one that is published.
    let mut other = pair_from(TENANT, 5, &[], now - Duration::from_mins(30));
    if other.certificate().der() == good.certificate().der() {
        other = pair_from(TENANT, 5, &["x"], now);
    }
    for (shown, expected) in [
        (&[&pair(TENANT, 8, &[])][..], "non-existing or revoked"),
        (&[&other], "another one is published"),
        (&[&expired], "it has expired"),
        (&[&early], "not yet valid"),
        (&[&good, &good], "too many peer certificates"),
    ] {
        let error = Client::showing(shown).get(server.address, "/").await.unwrap_err();
        assert!(error.to_string().contains("BadCertificate"), "{expected}: {error}");
        server.hears(expected).await;
    }
    assert_eq!(server.tally.snapshot().refused, 5);
    // It was not the connection that was bad.
    assert_eq!(Client::showing(&[&good]).get(server.address, "/").await.unwrap().0, 200);
}

#[tokio::test]
async fn a_resumed_connection_is_still_the_clients() {
    let server = Running::http1().await;
    let pair = pair(TENANT, 5, &[]);
    publish(&server, &pair);
    let client = Client::showing(&[&pair]);
    for expected in [rustls::HandshakeKind::Full, rustls::HandshakeKind::Resumed] {
        let mut stream = client.connect(server.address).await.unwrap();
        let answer = crate::secured::support::get(&mut stream, "/").await.unwrap();
        assert_eq!(answer, (200, TENANT.to_owned()));
        assert_eq!(stream.get_ref().1.handshake_kind(), Some(expected));
    }
}

#[tokio::test]
async fn a_chain_that_does_not_answer_holds_up_only_those_who_need_it() {
    let limits = Limits { handshake: Duration::from_secs(3), ..Limits::default() };
    let server = Running::start(Protocol::Http1, limits).await;
    server.chain.silent.store(true, Ordering::Relaxed);
    let pair = pair(TENANT, 5, &[]);
    let client = Client::showing(&[&pair]);
    let waiting: Vec<_> = (0..20)
        .map(|_| {
            let (client, address) = (client.clone(), server.address);
            tokio::spawn(async move { client.get(address, "/").await })
        })
        .collect();
    tokio::time::timeout(Duration::from_secs(2), Client::new().get(server.address, "/"))
        .await
        .expect("others are served meanwhile")
        .unwrap();
    for waiting in waiting {
        assert!(waiting.await.unwrap().is_err());
    }
    server.hears("took more than").await;
}
