//! A simulated cluster that lost its state, under a provider that is started on it: no lease is
//! closed, whether or not the provider's store is there.

use std::path::PathBuf;

use e2e::network::{Network, Settings};
use serde_json::Value;

use crate::real::installed::{insist, take_leases};

/// Far shorter than by default, so that a provider that does not wait would close at once.
const FLAGS: [&str; 2] = ["--manifest-timeout", "3s"];
const LEASES: usize = 3;
/// Blocks of a quarter of a second in which nothing may be closed: four manifest timeouts.
const QUIET: u64 = 48;

fn status(network: &Network) -> Value {
    insist("the provider answers", || network.ctl(&["status"]).map(Some))
}

fn nothing_is_closed(network: &Network, operator: &str) {
    let height = |network: &Network| status(network)["height"].as_u64().unwrap();
    let first = height(network);
    insist("blocks pass", || Ok((height(network) > first + QUIET).then_some(())));
    let list = ["query", "market", "lease", "list", "--provider", operator, "--state", "active"];
    let listed = network.json(&list).unwrap();
    assert_eq!(listed["leases"].as_array().map(Vec::len), Some(LEASES), "{listed}");
}

#[test]
fn a_cluster_that_lost_its_state_costs_no_lease_with_and_without_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    let operator = network.address("operator").unwrap();
    let hello = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml"));
    let leases: Vec<_> = (1..=LEASES).map(|dseq| (dseq.to_string(), hello.clone())).collect();
    take_leases(&network, &leases);
    let sdl = hello.to_str().unwrap();
    for (dseq, _) in &leases {
        insist("a manifest is taken", || network.ctl(&["send-manifest", dseq, sdl]).map(Some));
    }
    insist("everything runs", || Ok((network.running()?.len() == LEASES).then_some(())));

    network.provider.as_mut().unwrap().kill();
    network.cluster.as_mut().unwrap().kill();
    std::fs::remove_file(folder.path().join("cluster")).unwrap();
    network.start_cluster().unwrap();
    network.set_flags(&FLAGS);
    network.start_provider().unwrap();
    insist("it does not know this cluster", || {
        Ok((network.ctl(&["status"])?["recognition"] == "unknown").then_some(()))
    });
    let told = status(&network);
    assert_ne!(told["cluster_uid"], told["expected_cluster_uid"], "{told}");
    nothing_is_closed(&network, &operator);

    // Without the store nothing proves that anything was deployed: bidding goes on, and the leases
    // wait for their manifests.
    network.provider.as_mut().unwrap().kill();
    network.forget_store();
    network.start_provider().unwrap();
    insist("it takes the cluster for new", || {
        Ok((network.ctl(&["status"])?["recognition"] == "known").then_some(()))
    });
    nothing_is_closed(&network, &operator);
    insist("they are reported", || {
        let drift = network.ctl(&["drift"])?.to_string();
        Ok((drift.matches("lease_lost").count() == LEASES).then_some(()))
    });
    for (dseq, _) in &leases {
        insist("a manifest is taken again", || {
            network.ctl(&["send-manifest", dseq, sdl]).map(Some)
        });
    }
    insist("everything runs again", || Ok((network.running()?.len() == LEASES).then_some(())));
}
