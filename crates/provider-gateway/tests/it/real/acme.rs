//! A certificate asked for at a real ACME server.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use akash_keys::certificate::{CertificateKey, CertificateSpec, KeyPair};
use provider_gateway::certs::acme::{AcmeIssuer, AcmeSettings, Challenge};
use provider_gateway::tls::{ServerCertificates, certified};
use provider_testkit::pebble::{Pebble, free_port};

const DOMAIN: &str = "provider.example.com";

fn shown() -> Arc<ServerCertificates> {
    let spec = CertificateSpec {
        owner: "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap(),
        serial: 2,
        not_before: SystemTime::now(),
        valid_for: Duration::from_hours(1),
        domains: vec![],
    };
    let own = KeyPair::generate(&spec, CertificateKey::generate().unwrap()).unwrap();
    Arc::new(ServerCertificates::new(certified(&own).unwrap()))
}

/// What the issuer says first: when it will replace the certificate, or why there is none.
async fn first_word(
    settings: &AcmeSettings,
    shown: &Arc<ServerCertificates>,
) -> Result<SystemTime, String> {
    let issuer = AcmeIssuer::new(settings.clone()).unwrap();
    let (said, mut word) = tokio::sync::mpsc::unbounded_channel();
    let told = move |result: Result<SystemTime, &provider_gateway::certs::acme::AcmeError>| {
        let words = |error: &dyn std::error::Error| {
            let causes = std::iter::successors(Some(error), |error| error.source());
            causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
        };
        said.send(result.map_err(|error| words(error))).unwrap();
    };
    tokio::select! {
        () = issuer.keep(shown.clone(), told) => panic!("it never ends"),
        word = word.recv() => word.unwrap(),
        () = tokio::time::sleep(Duration::from_secs(60)) => panic!("nothing happened"),
    }
}

#[tokio::test]
async fn a_certificate_is_obtained_kept_and_used_again() {
    let home = tempfile::tempdir().unwrap();
    let http_port = free_port().unwrap();
    let free = free_port().unwrap();
    let authority = Pebble::start(home.path(), "localhost", http_port, free).unwrap();
    let here = |port| Challenge::Http(SocketAddr::from(([127, 0, 0, 1], port)));
    let settings = AcmeSettings {
        directory: authority.directory.clone(),
        email: "operator@example.com".into(),
        domain: DOMAIN.into(),
        challenges: vec![here(http_port)],
        directory_path: home.path().join("issuer"),
        external_account: None,
        root: Some(authority.root.clone()),
        outbound: akash_net::Outbound::default(),
    };
    // Somebody else answers the authority: it is not convinced, and nothing is shown.
    let lost = AcmeSettings { challenges: vec![here(free_port().unwrap())], ..settings.clone() };
    let certificates = shown();
    let error = first_word(&lost, &certificates).await.unwrap_err();
    assert!(error.contains("port 80"), "{error}");
    assert!(!certificates.has_public());

    let replace = first_word(&settings, &certificates).await.unwrap();
    assert!(replace > SystemTime::now() + Duration::from_hours(24), "{replace:?}");
    assert!(certificates.has_public());
    let file = settings.directory_path.join(format!("certificates/{DOMAIN}.crt"));
    let chain = std::fs::read_to_string(&file).unwrap();
    assert!(chain.matches("BEGIN CERTIFICATE").count() >= 2, "{chain}");

    // After a restart it is used as it is, and the authority is not asked.
    drop(authority);
    let certificates = shown();
    assert_eq!(first_word(&settings, &certificates).await, Ok(replace));
    assert!(certificates.has_public());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), chain);
}

#[tokio::test]
async fn a_certificate_is_obtained_by_tls_alone() {
    let home = tempfile::tempdir().unwrap();
    let tls_port = free_port().unwrap();
    let free = free_port().unwrap();
    let authority = Pebble::start(home.path(), "localhost", free, tls_port).unwrap();
    let settings = AcmeSettings {
        directory: authority.directory.clone(),
        email: "operator@example.com".into(),
        domain: DOMAIN.into(),
        challenges: vec![Challenge::TlsAlpn(SocketAddr::from(([127, 0, 0, 1], tls_port)))],
        directory_path: home.path().join("issuer"),
        external_account: None,
        root: Some(authority.root.clone()),
        outbound: akash_net::Outbound::default(),
    };
    let certificates = shown();
    let replace = first_word(&settings, &certificates).await.unwrap();
    assert!(replace > SystemTime::now() + Duration::from_hours(24), "{replace:?}");
    assert!(certificates.has_public());
    // The port is free again once the authority has seen the answer.
    TcpListener::bind(("127.0.0.1", tls_port)).unwrap();
}
