//! A chain that stalls, goes back and changes its address, under a provider that runs leases.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use e2e::network::{Network, Settings, wait_until};
use e2e::program::Process;
use provider_testkit::proxy::{Mode, Proxy};
use serde_json::Value;
use tempfile::TempDir;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(90);

fn sdl(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    path.to_str().unwrap().to_owned()
}

fn insist<T>(what: &str, act: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, act).unwrap_or_else(|error| panic!("{error:#}"))
}

fn start(folder: &TempDir) -> Network {
    Network::start(folder.path(), Settings::default()).unwrap()
}

/// Brings a deployment to a lease that runs.
fn deploy(network: &Network, dseq: u64) {
    let hello = sdl("hello.yaml");
    let number = dseq.to_string();
    let create = ["deployment", "create", &hello, "--dseq", &number, "--deposit", "5act"];
    network.tx("tenant", &create).unwrap();
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    let bid = ["query", "market", "bid", "get", "--owner", &tenant, "--dseq", &number];
    let bid = [&bid[..], &["--provider", &operator]].concat();
    insist("a bid", || network.json(&bid).map(Some));
    let lease = ["market", "lease", "create", "--owner", &tenant, "--dseq", &number];
    network.tx("tenant", &[&lease[..], &["--provider", &operator]].concat()).unwrap();
    insist("the manifest is taken", || network.ctl(&["send-manifest", &number, &hello]).map(Some));
    insist("it runs", || Ok(network.running()?.contains(&dseq).then_some(())));
}

/// What the provider says of itself.
fn status(network: &Network) -> Result<Value> {
    network.ctl(&["status"])
}

#[test]
fn a_chain_that_stalls_and_goes_on_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = start(&folder);
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    deploy(&network, 1);

    network.chain.as_ref().unwrap().signal("STOP").unwrap();
    // Silence is noticed, and is no reason to act.
    insist("it is noticed", || Ok((status(&network)?["ready"] == false).then_some(())));
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(network.running().unwrap(), BTreeSet::from([1]));
    network.chain.as_ref().unwrap().signal("CONT").unwrap();
    insist("it acts again", || network.ready());
    deploy(&network, 2);
    assert_eq!(network.running().unwrap(), BTreeSet::from([1, 2]));
    let log = network.provider_log();
    assert!(!log.contains("torn down"), "{log}");
}

#[test]
fn a_chain_that_goes_back_is_followed_and_nothing_is_destroyed() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = start(&folder);
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    deploy(&network, 1);

    let (now, before) = (folder.path().join("chain"), folder.path().join("before"));
    network.chain = None;
    copy(&now, &before);
    network.start_chain().unwrap();
    deploy(&network, 2);

    network.chain = None;
    std::fs::remove_dir_all(&now).unwrap();
    std::fs::rename(&before, &now).unwrap();
    network.start_chain().unwrap();
    // On this branch the second lease never was. That is not the word that it is over: what runs is
    // left alone, and shown.
    insist("what the chain does not know is shown", || {
        Ok(network.ctl(&["drift"])?.to_string().contains("does not know").then_some(()))
    });
    insist("it acts again", || network.ready());
    assert_eq!(network.running().unwrap(), BTreeSet::from([1, 2]));
    deploy(&network, 3);
    assert_eq!(network.running().unwrap(), BTreeSet::from([1, 2, 3]));
    let why = network.ctl(&["why", "1"]).unwrap().to_string();
    assert!(!why.contains("torn down"), "{why}");
}

/// A folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn a_node_that_falls_silent_is_left_for_another() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut network = start(&folder);
    let chain = network.rpc().parse().unwrap();
    let [first, second] = [(); 2].map(|()| runtime.block_on(Proxy::start(chain)).unwrap());
    network.nodes = [&first, &second].map(|node| format!("http://{}", node.address())).to_vec();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    deploy(&network, 1);

    for (dseq, silent, other) in [(2, &first, &second), (3, &second, &first)] {
        other.set(Mode::Pass);
        insist("both are well", || network.ready());
        silent.set(Mode::Blackhole(None));
        deploy(&network, dseq);
    }
    assert_eq!(network.running().unwrap(), BTreeSet::from([1, 2, 3]));
    let log = network.provider_log();
    assert!(!log.contains("torn down"), "{log}");
}

#[test]
fn a_tenant_who_waits_for_bids_outlives_a_node_that_goes_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = start(&folder);
    let variables = network.variables().unwrap();
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let (hello, log) = (sdl("hello.yaml"), folder.path().join("deploy.log"));
    let deploy = ["deploy", &hello, "--dseq", "5", "--pick", "cheapest", "--bid-wait", "0"];
    let deploy = [&deploy[..], &["--from", "tenant"]].concat();
    let mut waiting = Process::start(&deploy, &variables, &log).unwrap();
    insist("it waits", || {
        Ok(std::fs::read_to_string(&log)?.contains("waiting for bids").then_some(()))
    });
    network.chain.as_mut().unwrap().kill();
    std::thread::sleep(Duration::from_secs(1));
    assert!(waiting.is_running().unwrap());
    network.start_chain().unwrap();
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    let bid = ["market", "bid", "create", "--owner", &tenant, "--dseq", "5", "--price", "1uact"];
    network.tx("operator", &bid).unwrap();
    let lease = ["query", "market", "lease", "get", "--owner", &tenant, "--dseq", "5"];
    let lease = [&lease[..], &["--provider", &operator]].concat();
    insist("the lease", || network.json(&lease).map(Some));
}
