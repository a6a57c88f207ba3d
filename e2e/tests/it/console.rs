//! What Console's services read of a provider, by their own rules.

use std::time::Duration;

use e2e::network::{Network, Settings, wait_until};
use provider_api::client::{Client, Credentials, ServerTrust};
use provider_api::status::VersionDocument;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use semver::Version;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);

/// A client of the provider that trusts the certificate in its home, and that nobody knows.
pub(crate) fn stranger(network: &Network) -> Client {
    let (rest, _) = wait_until("tenants can connect", LONG, || network.gateway()).unwrap();
    let operator = network.address("operator").unwrap();
    let certificate = network.home().join(format!("{operator}.pem"));
    let published = vec![CertificateDer::from_pem_file(certificate).unwrap()];
    Client::new(
        &format!("https://{rest}"),
        &ServerTrust { published, ..ServerTrust::default() },
        Credentials::None,
    )
    .unwrap()
}

pub(crate) fn version(network: &Network) -> VersionDocument {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(stranger(network).version()).unwrap()
}

/// As npm's `semver.parse` reads a version: with or without a `v`.
fn parsed(text: &str) -> Option<Version> {
    Version::parse(text.trim_start_matches('v')).ok()
}

/// `semver.gte`, which leaves build metadata out.
fn at_least(text: &str, least: &str) -> bool {
    let (found, least) = (parsed(text), Version::parse(least).unwrap());
    found.is_some_and(|found| found.cmp_precedence(&least).is_ge())
}

#[test]
fn must_match_version_selects_the_grpc_status_call_and_shows_our_bids() {
    assert!(!at_least("v0.1.0", "0.5.0-0") && !at_least("", "0.45.9"), "the rule can say no");
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    network.start_provider().unwrap();
    let VersionDocument { akash, kube } = version(&network);

    assert!(at_least(&akash.version, "0.5.0-0"), "{akash:?}");
    assert!(at_least(&akash.cosmos_sdk_version, "0.45.9"), "{akash:?}");
    let build = parsed(&akash.version).unwrap().build;
    assert_eq!(build.as_str(), concat!("rs.", env!("CARGO_PKG_VERSION")));
    let long = e2e::program::command(&["version", "--long", "-o", "json"], &[]).unwrap().output();
    let long: serde_json::Value = serde_json::from_slice(&long.unwrap().stderr).unwrap();
    assert_eq!(long["version"], akash.version);
    assert_eq!(long["commit"], akash.commit);
    assert_eq!(long["rust"], akash.go);
    assert_eq!(kube, None, "a simulated cluster has no API server");
}
