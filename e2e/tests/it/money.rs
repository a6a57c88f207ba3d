//! What balances do to bids, through the running provider.

use std::time::Duration;

use anyhow::Result;
use e2e::metrics::{free_address, metric};
use e2e::network::{Network, Settings, wait_until};
use tokio::runtime::Runtime;

use crate::grpc_front::{Front, Spendable};

const LONG: Duration = Duration::from_secs(120);
const SDL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml");
/// A balance that is too low is read ten times as often.
const FLAGS: [&str; 2] = ["--lease-funds-monitor-interval", "1m"];

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

/// Leaves the operator too little for the fees of bids.
fn spend(network: &Network) {
    let (operator, tenant) =
        (network.address("operator").unwrap(), network.address("tenant").unwrap());
    let held = network.json(&["query", "bank", "balances", &operator]).unwrap();
    let coins = held["balances"].as_array().unwrap();
    let coin = coins.iter().find(|coin| coin["denom"] == "uakt").unwrap();
    let held: u128 = coin["amount"].as_str().unwrap().parse().unwrap();
    let coins = format!("{}uakt", held - 12_000);
    network.tx("operator", &["bank", "send", &tenant, &coins]).unwrap();
}

#[test]
fn no_bid_without_money_for_its_fees_until_there_is_some_or_another_account_pays() {
    let folder = tempfile::tempdir().unwrap();
    let metrics = free_address().unwrap();
    let listener = metrics.to_string();
    let flags = [&FLAGS[..], &["--metrics-listener", &listener]].concat();
    let run = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let mut network =
        Network::start(folder.path(), Settings { run, ..Settings::default() }).unwrap();
    let operator = network.address("operator").unwrap();
    let granter = network.address("tenant").unwrap();
    spend(&network);
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    let why = insist(&network, "the balance is known", || {
        Ok(network.ctl(&["status"])?["cannot_pay"].as_str().map(str::to_owned))
    });
    assert!(why.contains("uakt for deposit and fees"), "{why}");
    assert_eq!(metric(metrics, "provider_cannot_pay").unwrap(), "1");
    order(&network, "1");
    insist(&network, "the reason", || {
        let why = network.ctl(&["why", "1"])?.to_string();
        Ok((why.contains("a bid needs") && why.contains("uakt can be spent")).then_some(()))
    });
    assert_eq!(bids(&network).unwrap(), 0);
    assert!(network.provider_log().contains("bidding suspended: balance too low"));

    network.tx("tenant", &["bank", "send", &operator, "5000000uakt"]).unwrap();
    insist(&network, "a bid", || Ok((bids(&network)? == 1).then_some(())));
    let status = network.ctl(&["status"]).unwrap();
    assert!(status["cannot_pay"].is_null(), "{status}");
    assert_eq!(metric(metrics, "provider_cannot_pay").unwrap(), "0");

    // The account is empty again, and fees are asked of the one that pays them.
    network.provider.as_mut().unwrap().kill();
    spend(&network);
    network.tx("tenant", &["feegrant", "grant", &operator]).unwrap();
    network.set_flags(&[&FLAGS[..], &["--fee-granter", &granter]].concat());
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    order(&network, "2");
    insist(&network, "a bid on the second order", || {
        let list = ["query", "market", "bid", "list", "--owner", &granter, "--dseq", "2"];
        let listed = network.json(&list)?;
        Ok(listed["bids"].as_array().is_some_and(|bids| bids.len() == 1).then_some(()))
    });
}

#[test]
fn a_key_that_acts_by_authz_pays_the_fees_and_the_provider_the_deposits() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { signer: "hot".to_owned(), ..Settings::default() };
    let mut network = Network::start(folder.path(), settings).unwrap();
    network.run(&["keys", "add", "hot"]).unwrap();
    let (hot, operator) = (network.address("hot").unwrap(), network.address("operator").unwrap());
    let bid = ["generic", "--msg-type", "/akash.market.v1beta5.MsgCreateBid"];
    network.tx("operator", &[&["authz", "grant", &hot], &bid[..]].concat()).unwrap();
    network.tx("tenant", &["bank", "send", &hot, "7uakt"]).unwrap();
    spend(&network);
    network.set_flags(&[&FLAGS[..], &["--authz-provider", &operator]].concat());
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    let why = insist(&network, "the balance is known", || {
        Ok(network.ctl(&["status"])?["cannot_pay"].as_str().map(str::to_owned))
    });
    assert!(why.starts_with("7uakt can be spent"), "{why}");
    order(&network, "1");
    insist(&network, "the reason", || {
        Ok(network.ctl(&["why", "1"])?.to_string().contains("7uakt can be spent").then_some(()))
    });
    assert_eq!(bids(&network).unwrap(), 0);

    network.tx("tenant", &["bank", "send", &hot, "5000000uakt"]).unwrap();
    insist(&network, "a bid", || Ok((bids(&network)? == 1).then_some(())));
    let (tenant, get) = (network.address("tenant").unwrap(), ["query", "market", "bid", "get"]);
    let of = ["--owner", &tenant, "--dseq", "1", "--provider", &operator];
    insist(&network, "the bid is the provider's", || {
        network.json(&[&get[..], &of].concat()).map(Some)
    });
}

#[test]
fn what_can_be_spent_decides_and_what_is_not_known_stops_nothing() {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    let front = runtime.block_on(Front::start(network.grpc().parse().unwrap()));
    front.spendable(Spendable::Withheld);
    network.set_flags(&[&FLAGS[..], &["--grpc-addr", &front.url()]].concat());
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    insist(&network, "the balance is asked for", || Ok((front.balances() > 0).then_some(())));
    order(&network, "1");
    insist(&network, "a bid without knowing", || Ok((bids(&network)? == 1).then_some(())));
    let status = network.ctl(&["status"]).unwrap();
    assert!(status["cannot_pay"].is_null(), "{status}");

    // All of the balance is there, and none of it can be spent.
    front.spendable(Spendable::Nothing);
    let why = insist(&network, "the balance is known", || {
        Ok(network.ctl(&["status"])?["cannot_pay"].as_str().map(str::to_owned))
    });
    assert!(why.starts_with("0uakt can be spent"), "{why}");
    order(&network, "2");
    insist(&network, "the reason", || {
        Ok(network.ctl(&["why", "2"])?.to_string().contains("0uakt can be spent").then_some(()))
    });
    assert_eq!(bids(&network).unwrap(), 1);
    front.spendable(Spendable::Told);
    insist(&network, "a bid again", || Ok((bids(&network)? == 2).then_some(())));
}

#[test]
fn the_daily_budget_pays_for_one_bid_and_outlives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    // A bid costs some 4,000.
    let run = ["--policy-daily-fees", "6000uakt"].map(str::to_owned).to_vec();
    let mut network =
        Network::start(folder.path(), Settings { run, ..Settings::default() }).unwrap();
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    order(&network, "1");
    insist(&network, "a bid", || Ok((bids(&network)? == 1).then_some(())));
    let is_spent = |network: &Network, dseq: &str| {
        order(network, dseq);
        insist(network, "the budget is spent", || {
            let why = network.ctl(&["why", dseq])?.to_string();
            Ok(why.contains("in fees today").then_some(()))
        });
        assert_eq!(bids(network).unwrap(), 1);
    };
    is_spent(&network, "2");
    network.provider.as_mut().unwrap().kill();
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    is_spent(&network, "3");
}
