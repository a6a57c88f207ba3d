//! An API server that is reached through the proxy of the environment.

use std::collections::BTreeMap;

use e2e::network::{Network, Settings};
use kube_bed::Bed;
use provider_testkit::proxy::Tunnels;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::real::installed::{insist, install};

/// A name of the API server that the proxy alone knows.
const NAME: &str = "api.test:6443";

#[test]
fn the_api_server_is_reached_through_a_proxy_unless_no_proxy_names_it() {
    let runtime = Runtime::new().unwrap();
    let bed = runtime.block_on(Bed::api_server()).unwrap();
    let kubeconfig = install(&runtime, &bed);
    let text = std::fs::read_to_string(&kubeconfig).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    let cluster = &mut config["clusters"][0]["cluster"];
    let url = cluster["server"].as_str().unwrap().to_owned();
    let address = url.strip_prefix("https://").unwrap().parse().unwrap();
    cluster["server"] = format!("https://{NAME}").into();
    cluster["tls-server-name"] = "127.0.0.1".into();
    let named = kubeconfig.with_file_name("named.conf");
    std::fs::write(&named, config.to_string()).unwrap();

    let proxy = [(NAME.to_owned(), address)];
    let proxy = runtime.block_on(Tunnels::start(BTreeMap::from(proxy))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // An API server without controllers has no endpoints that policies could name.
    let run = vec!["--deployment-network-policies-enabled=false".to_owned()];
    let settings = Settings { kubeconfig: Some(named), run, ..Settings::default() };
    let mut network = Network::start(folder.path(), settings).unwrap();
    let at = proxy.url();
    network.set_variables(&[("HTTPS_PROXY", &at), ("NO_PROXY", ".test")]);
    network.start_provider().unwrap();
    insist("the name leads nowhere without the proxy", || {
        Ok(network.provider_log().contains("api.test").then_some(()))
    });
    assert!(network.ready().is_err() || network.ready().unwrap().is_none());
    assert_eq!(proxy.count(NAME), 0);

    network.provider.as_mut().unwrap().kill();
    network.set_variables(&[("HTTPS_PROXY", &at), ("NO_PROXY", "other.test,127.0.0.0/8")]);
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    assert!(proxy.count(NAME) > 0);
}
