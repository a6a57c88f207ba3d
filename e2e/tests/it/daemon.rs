//! A chain, a simulated cluster and a provider as three processes, used through the program alone.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use e2e::network::{Network, Settings, wait_until};
use serde_json::json;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);
const PER_ROUND: u64 = 20;
/// What the example asks for.
const CPU: &str = "units: 0.1";

fn sdl(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    path.to_str().unwrap().to_owned()
}

/// What `GET /` says where workloads answer, for a hostname.
fn page(network: &Network, hostname: &str) -> Result<String> {
    let mut stream = TcpStream::connect(network.web())?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {hostname}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn a_new_user_sees_an_order_become_a_lease_that_runs_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    network.start_provider().unwrap();
    wait_until("the provider acts", LONG, || network.ready()).unwrap();

    let hello = sdl("hello.yaml");
    network.tx("tenant", &["deployment", "create", &hello, "--dseq", "7"]).unwrap();
    wait_until("a bid", LONG, || {
        let bids = network.ctl(&["bids"])?;
        Ok(bids["bids"].as_array().is_some_and(|bids| bids.len() == 1).then_some(()))
    })
    .unwrap();
    // No node has such a card, or such processors: no bid, and the operator is told why.
    let arm = folder.path().join("arm.yaml");
    let text = std::fs::read_to_string(&hello).unwrap();
    assert!(text.contains(CPU), "{text}");
    std::fs::write(
        &arm,
        text.replace(CPU, &format!("{CPU}\n          attributes: {{arch: arm64}}")),
    )
    .unwrap();
    for (dseq, sdl, reason) in [
        ("8", sdl("gpu.yaml"), "GPU"),
        ("9", arm.to_str().unwrap().to_owned(), "short of arm64 nodes"),
    ] {
        network.tx("tenant", &["deployment", "create", &sdl, "--dseq", dseq]).unwrap();
        let why = wait_until("a reason", LONG, || {
            let why = network.ctl(&["why", dseq])?.to_string();
            Ok(why.contains("no bid").then_some(why))
        })
        .unwrap();
        assert!(why.contains(reason), "{why}");
    }

    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    let create = ["market", "lease", "create", "--owner", &tenant, "--dseq", "7", "--provider"];
    network.tx("tenant", &[&create[..], &[&operator]].concat()).unwrap();
    wait_until("the manifest is taken", LONG, || {
        network.ctl(&["send-manifest", "7", &hello]).map(Some)
    })
    .unwrap();
    wait_until("it runs", LONG, || Ok(network.running()?.contains(&7).then_some(()))).unwrap();

    // SIGTERM leaves everything as it is, and does not take long.
    let provider = network.provider.as_mut().unwrap();
    provider.signal("TERM").unwrap();
    assert!(provider.wait().unwrap().success(), "{}", network.provider_log());
    network.start_provider().unwrap();
    wait_until("it still runs", LONG, || Ok(network.running()?.contains(&7).then_some(())))
        .unwrap();
    assert!(network.ctl(&["why", "7"]).unwrap().to_string().contains("the order was noticed"));

    network.tx("tenant", &["deployment", "close", "--dseq", "7"]).unwrap();
    wait_until("nothing is left", LONG, || Ok(network.leases()?.is_empty().then_some(()))).unwrap();
    assert!(page(&network, "hello.sim.localhost").unwrap().contains("404"));
}

/// Something that is done until it has happened, although processes die meanwhile.
fn insist<T>(what: &str, act: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, act).unwrap_or_else(|error| panic!("{error:#}"))
}

/// Which process is killed.
#[derive(Clone, Copy, Debug)]
enum Victim {
    Chain,
    Cluster,
    Provider,
    ProviderAndStore,
}

fn strike(network: &mut Network, victim: Victim) {
    match victim {
        Victim::Chain => {
            network.chain = None;
            network.start_chain().unwrap();
        }
        Victim::Cluster => {
            network.cluster = None;
            network.start_cluster().unwrap();
        }
        Victim::Provider | Victim::ProviderAndStore => {
            network.provider = None;
            if matches!(victim, Victim::ProviderAndStore) {
                network.forget_store();
            }
            network.start_provider().unwrap();
        }
    }
}

/// Kills while a manifest is on its way: the cluster is held, so that whoever sends it waits for
/// the provider, and the provider for the cluster.
fn strike_inside_send(network: &mut Network, victim: Victim, dseq: &str, sdl: &str) {
    network.cluster.as_ref().unwrap().signal("STOP").unwrap();
    let socket = network.socket();
    let args = ["ctl", "--socket", socket.to_str().unwrap(), "send-manifest", dseq, sdl];
    let variables = network.variables().unwrap();
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let mut command = e2e::program::command(&args, &variables).unwrap();
    let silent = std::process::Stdio::null;
    let mut sending = command.stdout(silent()).stderr(silent()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(sending.try_wait().unwrap().is_none(), "the send is over before the kill");
    strike(network, victim);
    // A cluster that was killed is another process by now, which nothing holds.
    network.cluster.as_ref().unwrap().signal("CONT").unwrap();
    sending.wait().unwrap();
}

/// Numbers that no two runs share.
struct Chance(RandomState, u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.1 += 1;
        self.0.hash_one(self.1) % limit
    }
}

#[test]
fn two_hundred_leases_run_whoever_is_killed_and_every_coin_is_accounted_for() {
    let rounds = if std::env::var_os("AKASH_TEST_FULL").is_some() { 100 } else { 10 };
    let folder = tempfile::tempdir().unwrap();
    let mut network = Network::start(folder.path(), Settings::default()).unwrap();
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    let before = money(&network, &[&tenant, &operator]);
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());

    let hello = sdl("hello.yaml");
    let mut chance = Chance(RandomState::new(), 0);
    let mut all = BTreeSet::new();
    for round in 0..rounds {
        let victim = match chance.below(10) {
            0..=2 => Victim::Chain,
            3..=5 => Victim::Cluster,
            6..=8 => Victim::Provider,
            _ => Victim::ProviderAndStore,
        };
        // One in ten for sure, as chance may leave it out; so is a kill inside a send.
        let (victim, moment) = match round {
            4 => (Victim::ProviderAndStore, 3),
            5 => (Victim::Cluster, 3),
            _ => (victim, chance.below(4)),
        };
        eprintln!("round {round}: {victim:?} at {moment}");
        // The first twenty of each hundred rounds bring new deployments, the others only kills.
        let dseqs: Vec<u64> = match round {
            0..10 => (0..PER_ROUND).map(|n| 1_000 + round * PER_ROUND + n).collect(),
            _ => Vec::new(),
        };
        all.extend(&dseqs);
        let pause = Duration::from_millis(chance.below(700));
        let strike_at = |network: &mut Network, now: u64| {
            if now == moment {
                std::thread::sleep(pause);
                strike(network, victim);
            }
        };
        create(&network, &hello, &dseqs);
        strike_at(&mut network, 0);
        insist("bids", || {
            let listed = network.json(&[
                "query",
                "market",
                "bid",
                "list",
                "--provider",
                &operator,
                "--limit",
                "5000",
            ])?;
            let bids: BTreeSet<u64> = listed["bids"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|bid| bid["bid"]["id"]["dseq"].as_str()?.parse().ok())
                .collect();
            Ok(dseqs.iter().all(|dseq| bids.contains(dseq)).then_some(()))
        });
        strike_at(&mut network, 1);
        lease(&network, &tenant, &operator, &dseqs);
        strike_at(&mut network, 2);
        for dseq in &dseqs {
            if moment == 3 && *dseq % PER_ROUND == PER_ROUND / 2 {
                strike_inside_send(&mut network, victim, &dseq.to_string(), &hello);
            }
            insist("a manifest is taken", || {
                network.ctl(&["send-manifest", &dseq.to_string(), &hello]).map(Some)
            });
        }
        if dseqs.is_empty() && moment != 3 {
            strike_at(&mut network, moment);
        }
    }
    insist("everything runs", || Ok((network.running()? == all).then_some(())));
    let drift = network.ctl(&["drift"]).unwrap();
    assert_eq!(drift["drift"], json!([]), "views agree");
    // Nothing that was paid for was ever destroyed.
    let log = network.provider_log();
    assert!(!log.contains("torn down"), "{log}");

    let ids: Vec<u64> = all.iter().copied().collect();
    for ids in ids.chunks(50) {
        let close = |dseq: &u64| {
            network.message("tenant", &["deployment", "close", "--dseq", &dseq.to_string()])
        };
        let messages = ids.iter().map(close).collect::<Result<Vec<_>>>().unwrap();
        network.tx_of("tenant", &messages).unwrap();
    }
    insist("nothing is left", || Ok(network.leases()?.is_empty().then_some(())));
    let after = money(&network, &[&tenant, &operator]);
    assert_eq!(after, before, "deposits came back, and what one paid the other has");
}

/// What these have together, in the denomination that leases are paid in.
fn money(network: &Network, addresses: &[&str]) -> u128 {
    let balance = |address: &&str| {
        let coin = network.json(&["query", "bank", "balances", address, "--denom", "uact"]);
        coin.unwrap()["amount"].as_str().unwrap().parse::<u128>().unwrap()
    };
    addresses.iter().map(balance).sum()
}

/// Creates deployments, all in one transaction, until they are there.
fn create(network: &Network, sdl: &str, dseqs: &[u64]) {
    let Some(last) = dseqs.last() else { return };
    let tenant = network.address("tenant").unwrap();
    let deployment = |dseq: &u64| {
        let dseq = dseq.to_string();
        network
            .message("tenant", &["deployment", "create", sdl, "--dseq", &dseq, "--deposit", "5act"])
    };
    let messages = dseqs.iter().map(deployment).collect::<Result<Vec<_>>>().unwrap();
    insist("deployments are made", || {
        let number = last.to_string();
        let get = ["query", "deployment", "get", "--owner", &tenant, "--dseq", &number];
        if network.json(&get).is_err() {
            network.tx_of("tenant", &messages)?;
        }
        Ok(Some(()))
    });
}

/// Takes the provider's bids, all in one transaction, until that is done.
fn lease(network: &Network, tenant: &str, operator: &str, dseqs: &[u64]) {
    let Some(last) = dseqs.last() else { return };
    let accept = |dseq: &u64| {
        let dseq = dseq.to_string();
        let create = ["market", "lease", "create", "--owner", tenant, "--dseq", &dseq];
        network.message("tenant", &[&create[..], &["--provider", operator]].concat())
    };
    let messages = dseqs.iter().map(accept).collect::<Result<Vec<_>>>().unwrap();
    insist("leases are made", || {
        let number = last.to_string();
        let get = ["query", "market", "lease", "get", "--owner", tenant, "--dseq", &number];
        if network.json(&[&get[..], &["--provider", operator]].concat()).is_err() {
            network.tx_of("tenant", &messages)?;
        }
        Ok(Some(()))
    });
}
