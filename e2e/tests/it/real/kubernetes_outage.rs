//! An API server that is away for longer than a lease may be unhealthy, under a provider that runs
//! leases: nothing is closed and nothing is destroyed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use e2e::network::{Network, Settings};
use kube_bed::Bed;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::real::installed::{add_machines, insist, install, ours, running, take_leases};

const LEASES: u64 = 50;
/// The one more that its tenant closes while nobody can see the cluster.
const CLOSED: u64 = LEASES + 1;

/// How long the API server is away.
fn outage() -> Duration {
    let full = std::env::var_os("AKASH_TEST_FULL").is_some();
    Duration::from_secs(if full { 600 } else { 45 })
}

/// How many leases of the provider the chain has in a state.
fn leases(network: &Network, operator: &str, state: &str) -> Result<usize> {
    let list = ["query", "market", "lease", "list", "--provider", operator, "--state", state];
    let listed = network.json(&[&list[..], &["--limit", "500"]].concat())?;
    Ok(listed["leases"].as_array().map_or(0, Vec::len))
}

fn height(network: &Network) -> u64 {
    let status = network.ctl(&["status"]).unwrap();
    find_height(&status).unwrap_or_else(|| panic!("no height in {status}"))
}

fn find_height(status: &Value) -> Option<u64> {
    status.get("height").or_else(|| status.pointer("/chain/height")).and_then(Value::as_u64)
}

/// Brings deployments to leases that run.
fn deploy(network: &Network) {
    let hello = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/hello.yaml");
    let deployments: Vec<(String, PathBuf)> =
        (1..=CLOSED).map(|dseq| (dseq.to_string(), hello.clone())).collect();
    take_leases(network, &deployments);
    let hello = hello.to_str().unwrap();
    for (dseq, _) in &deployments {
        insist("a manifest is taken", || network.ctl(&["send-manifest", dseq, hello]).map(Some));
    }
    insist("everything runs", || Ok((network.running()?.len() as u64 == CLOSED).then_some(())));
}

#[test]
fn an_api_server_that_is_away_costs_no_lease() {
    let runtime = Runtime::new().unwrap();
    let mut bed = runtime.block_on(Bed::control_plane()).unwrap();
    let kubeconfig = install(&runtime, &bed);
    let _machines = add_machines(&runtime, &bed);

    let folder = tempfile::tempdir().unwrap();
    // The third check in a row that finds a lease unhealthy closes it: 15 to 18 seconds.
    let patience = ["--monitor-max-retries", "2", "--monitor-retry-period", "5s"];
    let patience = [&patience[..], &["--monitor-retry-period-jitter", "1s"]].concat();
    let settings = Settings {
        kubeconfig: Some(kubeconfig),
        run: patience.into_iter().map(str::to_owned).collect(),
        ..Settings::default()
    };
    let mut network = Network::start(folder.path(), settings).unwrap();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    network.open_gateway().unwrap();
    let operator = network.address("operator").unwrap();
    deploy(&network);
    insist("pods run", || {
        let pods = ours(&runtime, &bed, "/api/v1/pods")?;
        let runs = pods.iter().filter(|pod| pod["status"]["phase"] == "Running").count();
        Ok((runs as u64 == CLOSED).then_some(()))
    });
    let before = running(&runtime, &bed);
    assert_eq!(before.len() as u64, 3 * CLOSED);

    let (began, first) = (Instant::now(), height(&network));
    bed.stop_api();
    insist("it is noticed", || Ok((network.ctl(&["status"])?["ready"] == false).then_some(())));
    // The chain goes on meanwhile, and tells that one lease is over.
    let closing = CLOSED.to_string();
    network.tx("tenant", &["deployment", "close", "--dseq", &closing]).unwrap();
    std::thread::sleep(outage().saturating_sub(began.elapsed()));
    assert!(height(&network) > first + 60, "the chain stood still");
    assert_eq!(leases(&network, &operator, "active").unwrap() as u64, LEASES);

    runtime.block_on(bed.start_api()).unwrap();
    insist("it acts again", || network.ready());
    let over = insist("what is over goes", || {
        let namespaces = ours(&runtime, &bed, "/api/v1/namespaces")?;
        let ends = |it: &&Value| !it["metadata"]["deletionTimestamp"].is_null();
        let over = namespaces.iter().find(ends);
        Ok(over.and_then(|it| it["metadata"]["name"].as_str()).map(str::to_owned))
    });
    insist("all others run", || Ok((network.running()?.len() as u64 == LEASES).then_some(())));

    // The same pods, which nobody touched.
    let after = running(&runtime, &bed);
    let others: Vec<_> = before.iter().filter(|(name, _)| !name.contains(&over)).collect();
    assert_eq!(others.len() as u64, 3 * LEASES);
    for (name, identity) in others {
        assert_eq!(after.get(name), Some(identity), "{name}");
    }
    // Every lease but the tenant's own is active on chain: the provider closed none.
    assert_eq!(leases(&network, &operator, "active").unwrap() as u64, LEASES);
    assert_eq!(leases(&network, &operator, "closed").unwrap(), 1);
    let log = network.provider_log();
    assert!(!log.contains("MsgCloseBid") && !log.contains("MsgCloseLease"), "{log}");
    let status = network.run(&["lease-status", "--dseq", "1", "--from", "tenant"]).unwrap();
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["services"]["web"]["available"], 1, "{status}");
}
