//! Which certificate is shown to whom.

use provider_gateway::tls::{certified, certified_pem};

use crate::secured::support::{Client, PROVIDER, TENANT, pair, shown};
use crate::tls::server::{HOST, Running};

const MTLS: &str = "mtls.provider.example.com";

#[tokio::test]
async fn the_public_name_gets_the_public_certificate_and_all_else_the_providers_own() {
    let server = Running::http1().await;
    let own = pair(PROVIDER, 1, &["localhost"]);
    // Stands for one of an authority: the server does not look at who signed it.
    let public = pair(PROVIDER, 9, &[]);
    let expect = async |name: Option<&'static str>, expected: &[u8]| {
        let client = Client { name, ..Client::new() };
        let stream = client.connect(server.address).await.unwrap();
        assert_eq!(serial(&shown(&stream)), serial(expected), "{name:?}");
    };
    for name in [None, Some(HOST), Some(MTLS), Some("127.0.0.1"), Some("other.example.org")] {
        expect(name, own.certificate().der()).await;
    }
    let pem = public.certificate().to_pem();
    let key = key_pem(&public);
    server.certificates.set_public(Some(certified_pem(pem.as_bytes(), key.as_bytes()).unwrap()));
    expect(Some(HOST), public.certificate().der()).await;
    for name in [None, Some(MTLS), Some("127.0.0.1"), Some("other.example.org")] {
        expect(name, own.certificate().der()).await;
    }
    // Both are replaced while the server runs.
    let renewed = pair(PROVIDER, 2, &["localhost"]);
    server.certificates.set_own(certified(&renewed).unwrap());
    server.certificates.set_public(None);
    for name in [None, Some(HOST), Some(MTLS)] {
        expect(name, renewed.certificate().der()).await;
    }
}

#[tokio::test]
async fn who_asks_for_the_public_name_is_not_asked_for_a_certificate() {
    let server = Running::http1().await;
    let tenant = pair(TENANT, 5, &[]);
    server.chain.published.lock().unwrap().push(tenant.certificate().to_pem().into_bytes());
    let client = Client::showing(&[&tenant]);
    let owner = client.clone().named(HOST).get(server.address, "/").await.unwrap();
    assert_eq!(owner, (200, TENANT.to_owned()));
    let public = pair(PROVIDER, 9, &[]);
    let (pem, key) = (public.certificate().to_pem(), key_pem(&public));
    server.certificates.set_public(Some(certified_pem(pem.as_bytes(), key.as_bytes()).unwrap()));
    let nobody = client.clone().named(HOST).get(server.address, "/").await.unwrap();
    assert_eq!(nobody, (200, "nobody".to_owned()));
    let owner = client.named(MTLS).get(server.address, "/").await.unwrap();
    assert_eq!(owner, (200, TENANT.to_owned()));
}

#[test]
fn a_pair_that_does_not_belong_together_is_refused() {
    let (one, two) = (pair(PROVIDER, 1, &[]), pair(PROVIDER, 2, &[]));
    let (pem, key) = (one.certificate().to_pem(), key_pem(&one));
    assert!(certified_pem(pem.as_bytes(), key.as_bytes()).is_ok());
    for (pem, key) in [
        (pem.as_str(), key_pem(&two).as_str()),
        ("", key.as_str()),
        (key.as_str(), key.as_str()),
        (pem.as_str(), ""),
        (pem.as_str(), pem.as_str()),
        ("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n", key.as_str()),
    ] {
        assert!(certified_pem(pem.as_bytes(), key.as_bytes()).is_err(), "{pem} {key}");
    }
}

fn serial(der: &[u8]) -> String {
    let der = der.to_vec();
    akash_keys::certificate::Certificate::from_der(der).unwrap().serial().to_owned()
}

fn key_pem(pair: &akash_keys::certificate::KeyPair) -> String {
    use base64::Engine as _;
    let der = pair.key().to_pkcs8_der().unwrap();
    let text = base64::engine::general_purpose::STANDARD.encode(der.as_slice());
    format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
}
