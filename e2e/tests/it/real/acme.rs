//! A provider that reaches its ACME authority through a proxy.

use std::collections::BTreeMap;

use e2e::network::{Network, Settings};
use provider_testkit::pebble::{Pebble, free_port};
use provider_testkit::proxy::Tunnels;
use tokio::runtime::Runtime;

use crate::real::installed::insist;

const DOMAIN: &str = "provider.example.com";
/// Only the proxy knows where this is.
const AUTHORITY: &str = "acme.test";

#[test]
fn an_authority_is_reached_through_the_proxy_unless_it_is_excepted() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let http_port = free_port().unwrap();
    let pebble = Pebble::start(folder.path(), AUTHORITY, http_port, free_port().unwrap()).unwrap();
    let target = format!("{AUTHORITY}:{}", pebble.address.port());
    let targets = BTreeMap::from([(target.clone(), pebble.address)]);
    let proxy = runtime.block_on(Tunnels::start(targets)).unwrap();

    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    let (root, port) = (pebble.root.to_str().unwrap(), http_port.to_string());
    network.set_flags(&[
        "--cluster-public-hostname",
        DOMAIN,
        "--cert-issuer-enabled",
        "--cert-issuer-email",
        "operator@example.com",
        "--cert-issuer-ca-dir-url",
        &pebble.directory,
        "--cert-issuer-ca-root",
        root,
        "--cert-issuer-http-challenge-port",
        &port,
    ]);
    let at = proxy.url();
    let issued = network.home().join(format!(".certissuer/certificates/{DOMAIN}.crt"));
    let said = |network: &Network, words: &str| {
        insist(words, || {
            let log = network.provider_log();
            anyhow::ensure!(log.contains(words), "{log}");
            Ok(Some(()))
        });
    };

    network.set_variables(&[("HTTPS_PROXY", &at), ("NO_PROXY", AUTHORITY)]);
    network.start_provider().unwrap();
    said(&network, "no certificate was issued");
    assert_eq!(proxy.count(&target), 0);
    assert!(!issued.exists());

    network.provider.as_mut().unwrap().kill();
    network.set_variables(&[("HTTPS_PROXY", &at), ("NO_PROXY", "other.test")]);
    network.start_provider().unwrap();
    said(&network, "the certificate of the authority is shown");
    assert!(proxy.count(&target) > 0);
    let chain = std::fs::read_to_string(&issued).unwrap();
    assert!(chain.matches("BEGIN CERTIFICATE").count() >= 2, "{chain}");
    insist("the provider acts", || network.ready());
}
