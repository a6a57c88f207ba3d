//! What balances do to bids, through the running provider.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use e2e::network::{Network, Settings, wait_until};

const LONG: Duration = Duration::from_secs(120);
const SDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml");
/// A balance that is too low is read every second.
const FLAGS: [&str; 2] = ["--lease-funds-monitor-interval", "10s"];

fn started(folder: &Path) -> Network {
    let run = FLAGS.map(str::to_owned).to_vec();
    Network::start(folder, Settings { run, ..Settings::default() }).unwrap()
}

fn insist<T>(network: &Network, what: &str, look: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, look)
        .unwrap_or_else(|error| panic!("{error:#}\n{}", network.provider_log()))
}

fn order(network: &Network, dseq: &str) {
    let create = ["deployment", "create", SDL, "--dseq", dseq, "--deposit", "5act"];
    network.tx("tenant", &create).unwrap();
}

fn bids(network: &Network) -> Result<usize> {
    Ok(network.ctl(&["bids"])?["bids"].as_array().map_or(0, Vec::len))
}

/// Leaves the operator this much of a denomination, less the fee.
fn leave(network: &Network, denom: &str, rest: u128) {
    let (operator, tenant) =
        (network.address("operator").unwrap(), network.address("tenant").unwrap());
    let held = network.json(&["query", "bank", "balances", &operator]).unwrap();
    let coins = held["balances"].as_array().unwrap();
    let coin = coins.iter().find(|coin| coin["denom"] == denom).unwrap();
    let held: u128 = coin["amount"].as_str().unwrap().parse().unwrap();
    let coins = format!("{}{denom}", held - rest);
    network.tx("operator", &["bank", "send", &tenant, &coins]).unwrap();
}

#[test]
fn no_bid_without_its_deposit_and_bids_resume_with_the_money() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = started(folder.path());
    leave(&network, "uact", 400_000);
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    insist(&network, "the balance is known", || {
        Ok(network.ctl(&["status"])?["cannot_pay"].as_str().map(str::to_owned))
    });
    order(&network, "1");
    insist(&network, "the reason", || {
        let why = network.ctl(&["why", "1"])?.to_string();
        let reason = "a bid needs 500000uact for deposit and fees, 400000uact can be spent";
        Ok(why.contains(reason).then_some(()))
    });
    assert_eq!(bids(&network).unwrap(), 0);
    assert!(network.provider_log().contains("bidding suspended: balance too low"));

    let operator = network.address("operator").unwrap();
    network.tx("tenant", &["bank", "send", &operator, "200000uact"]).unwrap();
    insist(&network, "a bid", || Ok((bids(&network)? == 1).then_some(())));
    let status = network.ctl(&["status"]).unwrap();
    assert!(status["cannot_pay"].is_null(), "{status}");
}

#[test]
fn fees_are_asked_of_the_account_that_pays_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = started(folder.path());
    let operator = network.address("operator").unwrap();
    let granter = network.address("tenant").unwrap();
    network.tx("tenant", &["feegrant", "grant", &operator]).unwrap();
    leave(&network, "uakt", 30_000);

    // Its own: not enough for fees.
    network.start_provider().unwrap();
    insist(&network, "fees cannot be paid", || {
        let status = network.ctl(&["status"])?;
        Ok(status["cannot_pay"].as_str().is_some_and(|why| why.contains("uakt")).then_some(()))
    });

    network.provider.as_mut().unwrap().kill();
    network.set_flags(&[&FLAGS[..], &["--fee-granter", &granter]].concat());
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    order(&network, "1");
    insist(&network, "a bid", || Ok((bids(&network)? == 1).then_some(())));
}
