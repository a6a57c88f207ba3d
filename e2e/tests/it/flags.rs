//! Flags that do nothing say so in a running provider, and the others do what their help says.

use std::time::Duration;

use anyhow::Result;
use e2e::network::{Network, Settings, wait_until};
use provider_testkit::proxy::Proxy;
use tokio::runtime::Runtime;

use crate::grpc_front::Front;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);
const SDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml");
const ADDRESSES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/ip-endpoint.yaml");

/// Flags that do nothing on a simulated cluster with two nodes, and what is said of each.
const WITHOUT_EFFECT: [(&str, &str, &str); 9] = [
    ("migrations-enabled", "false", "objects of older versions are used as they are"),
    ("migrations-state-path", "/migrations", "objects of older versions are used as they are"),
    ("hostname-operator-endpoint", "a:1", "routes are read from the cluster"),
    ("ip-operator", "true", "on Kubernetes, orders that ask for an address are not bid on"),
    ("ip-operator-endpoint", "a:1", "on Kubernetes, orders that ask for an address are not bid on"),
    (
        "gateway-provider",
        "traefik",
        "the controller of the Gateway's class says what implements it",
    ),
    ("proxy-buffer-size", "8k", "has no effect with --ingress-mode ingress"),
    ("rpc-query-timeout", "5m", "counts as 1m30s"),
    ("grpc-addr", "", "not used by the provider with several nodes"),
];

fn insist<T>(network: &Network, what: &str, look: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, look)
        .unwrap_or_else(|error| panic!("{error:#}\n{}", network.provider_log()))
}

fn order(network: &Network, sdl: &str, dseq: &str) {
    let create = ["deployment", "create", sdl, "--dseq", dseq, "--deposit", "5act"];
    network.tx("tenant", &create).unwrap();
}

fn bid(network: &Network, dseq: &str) {
    insist(network, "a bid", || {
        let bids = network.ctl(&["bids"])?["bids"].to_string();
        Ok(bids.contains(&format!("/{dseq}/1/1")).then_some(()))
    });
}

#[test]
fn flags_without_effect_are_named_with_the_reason() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    let second = runtime.block_on(Proxy::start(network.rpc().parse().unwrap())).unwrap();
    let front = runtime.block_on(Front::start(network.grpc().parse().unwrap()));
    network.nodes =
        vec![format!("http://{}", network.rpc()), format!("http://{}", second.address())];
    let flag = |(name, value, _): (&str, &str, &str)| match name {
        "grpc-addr" => format!("--{name}={}", front.url()),
        _ => format!("--{name}={value}"),
    };
    let flags = WITHOUT_EFFECT.map(flag);
    network.set_flags(&flags.each_ref().map(String::as_str));
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    let log = network.provider_log();
    for (name, _, reason) in WITHOUT_EFFECT {
        let said = log.lines().find(|line| line.contains(&format!("{name} (flag): ")));
        let said = said.unwrap_or_else(|| panic!("nothing is said of {name}:\n{log}"));
        assert!(said.contains("WARN") && said.contains(reason), "{said}");
    }
    // What is said is true: questions go to the RPC ports, and addresses are not the IP operator's.
    order(&network, SDL, "1");
    bid(&network, "1");
    assert_eq!(front.calls(), 0);
    assert!(second.accepted() > 0);
    order(&network, ADDRESSES, "2");
    bid(&network, "2");
}

#[test]
fn an_answer_is_waited_for_longer_than_half_a_minute_if_the_flag_says_so() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    let front = runtime.block_on(Front::start(network.grpc().parse().unwrap()));
    network.set_flags(&["--grpc-addr", &front.url(), "--rpc-query-timeout", "40s"]);
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    assert!(front.calls() > 0, "questions go to the only node's gRPC port");
    front.hold();
    order(&network, SDL, "1");
    let waited = insist(&network, "the provider gives up", || Ok(front.waited()));
    assert!(waited > Duration::from_secs(35), "{waited:?}");
    // It asks again.
    bid(&network, "1");
}
