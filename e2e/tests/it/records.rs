//! What the provider remembers and counts of its decisions, read from `ctl` and `/metrics`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use e2e::network::{Network, Settings, wait_until};
use serde_json::Value;

const LONG: Duration = Duration::from_secs(180);
/// A withdrawal costs some 3,000 `uakt`, which are some 30 `uact` at this price.
const AKT_PRICE: &str = "0.01";
const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml");

fn insist<T>(what: &str, look: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, look).unwrap_or_else(|error| panic!("{error:#}"))
}

/// A network whose provider serves metrics at the address.
fn network(folder: &Path, block_time: &str, flags: &[&str]) -> (Network, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = listener.local_addr().unwrap().to_string();
    drop(listener);
    let flags = [flags, &["--metrics-listener", &metrics]].concat();
    let run = flags.iter().map(|&flag| flag.to_owned()).collect();
    let settings = Settings {
        run,
        block_time: block_time.to_owned(),
        akt_price: Some(AKT_PRICE.to_owned()),
        ..Settings::default()
    };
    let network = Network::start(folder, settings).unwrap();
    (network, metrics)
}

/// Whether `/metrics` has this line.
fn counted(metrics: &str, line: &str) -> Result<Option<()>> {
    let mut stream = TcpStream::connect(metrics)?;
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")?;
    let mut page = String::new();
    stream.read_to_string(&mut page)?;
    Ok(page.lines().any(|found| found == line).then_some(()))
}

fn bid_stages(network: &Network) -> Result<Vec<String>> {
    let bids = network.ctl(&["bids"])?;
    let stage = |bid: &Value| bid["stage"].as_str().map(str::to_owned);
    Ok(bids["bids"].as_array().into_iter().flatten().filter_map(stage).collect())
}

fn create(network: &Network, dseq: &str) {
    network
        .tx("tenant", &["deployment", "create", HELLO, "--dseq", dseq, "--deposit", "5act"])
        .unwrap();
}

fn lease(network: &Network, dseq: &str) {
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    let create = ["market", "lease", "create", "--owner", &tenant, "--dseq", dseq, "--provider"];
    let create = [&create[..], &[&operator]].concat();
    insist("a bid that can be taken", || network.tx("tenant", &create).map(Some));
}

fn why(network: &Network, dseq: &str, words: &str) {
    insist(words, || Ok(network.ctl(&["why", dseq])?.to_string().contains(words).then_some(())));
}

#[test]
fn what_runs_before_a_restart_and_what_the_operator_closes_is_recorded_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    // Slow blocks: a bid is on its way for a while.
    let (mut network, metrics) = network(folder.path(), "2s", &[]);
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    create(&network, "7");
    insist("a bid on its way", || {
        Ok(bid_stages(&network)?.contains(&"bidding".to_owned()).then_some(()))
    });
    insist("an open bid", || Ok((bid_stages(&network)? == ["open"]).then_some(())));
    lease(&network, "7");
    insist("the manifest is taken", || network.ctl(&["send-manifest", "7", HELLO]).map(Some));
    insist("it runs", || Ok(network.running()?.contains(&7).then_some(())));

    network.provider.as_mut().unwrap().kill();
    network.start_provider().unwrap();
    insist("it still runs", || Ok(network.running()?.contains(&7).then_some(())));
    why(&network, "7", "found in the cluster, left as it is");
    insist("it is watched", || {
        counted(&metrics, r#"provider_deployment_monitor{action="start"} 1"#)
    });

    network.ctl(&["lease", "close", "7", "--reason", "decommission"]).unwrap();
    why(&network, "7", "close the lease: the operator asked for it");
    insist("the cause is counted", || {
        counted(&metrics, r#"provider_lease_closes{cause="operator"} 1"#)
    });
    insist("nothing is left", || Ok(network.leases()?.is_empty().then_some(())));
    insist("it is no longer watched", || {
        counted(&metrics, r#"provider_deployment_monitor{action="stop"} 1"#)
    });
}

#[test]
fn bids_that_others_close_are_no_lost_leases() {
    let folder = tempfile::tempdir().unwrap();
    let (mut network, metrics) = network(folder.path(), "250ms", &[]);
    let tenant = network.address("tenant").unwrap();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    // Another process with the provider's key closes its bid.
    create(&network, "7");
    let close = ["market", "bid", "close", "--owner", &tenant, "--dseq", "7", "--reason", "10002"];
    insist("a bid that can be closed", || network.tx("operator", &close).map(Some));
    why(&network, "7", "over: our bid was closed");
    insist("it is counted", || {
        counted(&metrics, r#"provider_order_complete{result="bid-closed-external"} 1"#)
    });
    // A tenant closes a deployment without a lease.
    create(&network, "8");
    insist("an open bid", || Ok((bid_stages(&network)? == ["open"]).then_some(())));
    network.tx("tenant", &["deployment", "close", "--dseq", "8"]).unwrap();
    why(&network, "8", "over: the order was closed");
    insist("it is counted", || {
        counted(&metrics, r#"provider_order_complete{result="order-closed"} 1"#)
    });
}

#[test]
fn the_announced_end_of_a_lease_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let (mut network, _) = network(folder.path(), "250ms", &["--reclamation-window", "24h"]);
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    create(&network, "7");
    lease(&network, "7");
    insist("the lease is known", || Ok((network.leases()?.len() == 1).then_some(())));
    network.ctl(&["lease", "close", "7", "--reason", "decommission"]).unwrap();
    why(&network, "7", "announce the end of the lease");
}

/// Two groups that one provider gets.
fn two_groups(folder: &Path) -> String {
    let text = std::fs::read_to_string(HELLO).unwrap();
    let (head, deployment) = text.split_once("deployment:\n").unwrap();
    assert!(deployment.contains("    anywhere:\n") && head.contains("    anywhere:\n"), "{text}");
    let (head, placement) = head.split_once("    anywhere:\n").unwrap();
    let placement = placement.replace("amount: 1000\n", "amount: 100000\n");
    let groups = ["anywhere", "elsewhere"];
    let placements = groups.map(|group| format!("    {group}:\n{placement}")).concat();
    let targets = groups.map(|group| format!("    {group}:\n      profile: web\n      count: 1\n"));
    let path = folder.join("two.yaml");
    std::fs::write(&path, format!("{head}{placements}deployment:\n  web:\n{}", targets.concat()))
        .unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_payment_that_a_close_leaves_open_is_withdrawn_if_that_pays_for_the_fee_by_the_chains_price() {
    let folder = tempfile::tempdir().unwrap();
    // Some 50 a block: after 12 blocks much less than the units of the fee, but worth more.
    let (mut network, _) = network(folder.path(), "250ms", &["--bid-price-memory-scale", "0.39"]);
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    let sdl = two_groups(folder.path());
    network
        .tx("tenant", &["deployment", "create", &sdl, "--dseq", "7", "--deposit", "50act"])
        .unwrap();
    let lease = |act: &'static str, gseq: &'static str| {
        let id = ["--owner", &tenant, "--dseq", "7", "--gseq", gseq, "--provider", &operator];
        [&["market", "lease", act][..], &id]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    fn words(args: &[String]) -> Vec<&str> {
        args.iter().map(String::as_str).collect()
    }
    for gseq in ["1", "2"] {
        let create = lease("create", gseq);
        insist("a bid that can be taken", || network.tx("tenant", &words(&create)).map(Some));
    }
    insist("both are known", || Ok((network.leases()?.len() == 2).then_some(())));
    let height = |network: &Network| -> Result<u64> {
        Ok(network.ctl(&["status"])?["height"].as_u64().unwrap_or_default())
    };
    let began = height(&network).unwrap();
    insist("both earn something", || Ok((height(&network)? > began + 12).then_some(())));

    // The second close finds an account that was settled in its block, and leaves the payment open.
    let messages: Vec<Value> = ["1", "2"]
        .iter()
        .map(|gseq| network.message("tenant", &words(&lease("close", gseq))).unwrap())
        .collect();
    network.tx_of("tenant", &messages).unwrap();
    let payments = || -> Result<Vec<Value>> {
        let listed = network.json(&["query", "escrow", "payments", "--state", "open"])?;
        Ok(listed["payments"].as_array().cloned().unwrap_or_default())
    };
    let left = payments().unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    let balance = left[0]["state"]["balance"]["amount"].as_str().unwrap().parse::<f64>().unwrap();
    assert!((200.0..2_000.0).contains(&balance), "{left:?}");
    why(&network, "7", "its payment was left open with");
    insist("it was paid out", || {
        let withdrawn = payments()?[0]["state"]["withdrawn"]["amount"].clone();
        Ok(withdrawn.as_str().is_some_and(|amount| amount != "0").then_some(()))
    });
    why(&network, "7", "received");
}
