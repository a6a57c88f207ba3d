//! What a running provider tells on the bus, read by another program: `redis-cli`.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use e2e::network::{Network, Settings, wait_until};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(180);

/// A redis-server on a port of its own. Dies with its value.
struct Redis {
    port: String,
    process: Child,
    _folder: tempfile::TempDir,
}

impl Redis {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        drop(listener);
        let process = Command::new("redis-server")
            .args(["--port", &port, "--bind", "127.0.0.1", "--save", "", "--dir"])
            .arg(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server starts: apt-get install redis-server");
        let redis = Self { port, process, _folder: folder };
        wait_until("Redis answers", LONG, || {
            Ok((redis.say(&["PING"])?.trim() == "PONG").then_some(()))
        })
        .unwrap();
        redis
    }

    /// What `redis-cli` prints for a command.
    fn say(&self, command: &[&str]) -> Result<String> {
        let port = ["-p", self.port.as_str()];
        let done = Command::new("redis-cli").args(port).args(command).output()?;
        Ok(String::from_utf8(done.stdout)?)
    }

    /// The fact that a topic has now.
    fn fact(&self, topic: &str) -> Result<Value> {
        let message: Value = serde_json::from_str(&self.say(&["GET", topic])?)?;
        message.get("fact").cloned().context("a message without a fact")
    }

    /// Every event so far, oldest first.
    fn events(&self) -> Result<Vec<Value>> {
        let told = self.say(&["XRANGE", "akash.provider.events", "-", "+"])?;
        let data = told.lines().filter(|line| line.starts_with(r#"{"event""#));
        data.map(|line| Ok(serde_json::from_str(line)?)).collect()
    }

    /// Names of the events of a deployment, and the newest of that name.
    fn of_deployment(&self, dseq: u64) -> Result<Vec<Value>> {
        let events = self.events()?.into_iter();
        Ok(events.filter(|event| event["dseq"] == dseq).collect())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn insist<T>(what: &str, look: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, look).unwrap_or_else(|error| panic!("{error:#}"))
}

/// Waits until a topic's fact is as wanted.
fn told(redis: &Redis, topic: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    let found = wait_until(topic, LONG, || {
        last = redis.fact(topic)?;
        Ok(wanted(&last).then(|| last.clone()))
    });
    found.unwrap_or_else(|error| panic!("{error:#}; it says {last}"))
}

/// An SDL that pays up to so much per block.
fn paying(folder: &Path, amount: &str) -> String {
    let hello = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/hello.yaml");
    let text = std::fs::read_to_string(hello).unwrap();
    assert!(text.contains("amount: 1000\n"), "{text}");
    let path = folder.join("paying.yaml");
    std::fs::write(&path, text.replace("amount: 1000\n", &format!("amount: {amount}\n"))).unwrap();
    path.to_str().unwrap().to_owned()
}

/// From a deployment to a lease that runs.
fn run_lease(network: &Network, sdl: &str, dseq: &str) {
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    network
        .tx("tenant", &["deployment", "create", sdl, "--dseq", dseq, "--deposit", "5act"])
        .unwrap();
    let create = ["market", "lease", "create", "--owner", &tenant, "--dseq", dseq, "--provider"];
    let create = [&create[..], &[&operator]].concat();
    insist("a bid that can be taken", || network.tx("tenant", &create).map(Some));
    insist("the manifest is taken", || network.ctl(&["send-manifest", dseq, sdl]).map(Some));
    let number = dseq.parse().unwrap();
    insist("it runs", || Ok(network.running()?.contains(&number).then_some(())));
}

#[test]
fn another_program_follows_the_provider_over_redis() {
    let redis = Redis::start();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("redis://127.0.0.1:{}", redis.port);
    let flags = ["--redis-url", &url, "--lease-funds-monitor-interval", "1m", "--policy-pause"];
    // About 50,000 a block.
    let dear = ["--bid-price-memory-scale", "390"];
    let run = flags.iter().chain(&dear).map(|flag| (*flag).to_owned()).collect();
    let mut network =
        Network::start(folder.path(), Settings { run, ..Settings::default() }).unwrap();
    let operator = network.address("operator").unwrap();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());

    // Money.
    let balance = told(&redis, "akash.provider.balance.status", |fact| fact["height"] != 0);
    assert_eq!(balance["address"], operator.as_str());
    let coins = balance["coins"].as_array().unwrap();
    assert!(coins.iter().any(|coin| coin["denom"] == "uakt" && coin["amount"] != "0"), "{balance}");

    // Why there are no bids: every cause at once.
    let bids = "akash.provider.bidengine.status";
    told(&redis, bids, |fact| fact["paused"] == "bidding is paused");
    network.ctl(&["maintenance", "on"]).unwrap();
    told(&redis, bids, |fact| {
        fact["paused"] == "bidding is paused; the provider is in maintenance"
    });
    network.ctl(&["maintenance", "off"]).unwrap();
    network.provider.as_mut().unwrap().kill();
    let fees = ["--policy-daily-fees", "1uakt"];
    network.set_flags(&[&flags[..4], &dear, &fees].concat());
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    told(&redis, bids, |fact| {
        fact["paused"].as_str().is_some_and(|why| why.contains("daily budget of 1"))
    });
    network.provider.as_mut().unwrap().kill();
    network.set_flags(&[&flags[..4], &dear].concat());
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    told(&redis, bids, |fact| fact.get("paused").is_none());

    // A lease from its order to its end, which comes when its account is dry: 5 ACT pay 100 blocks.
    let sdl = paying(folder.path(), "100000");
    run_lease(&network, &sdl, "7");
    let lease = "akash.provider.lease";
    let fact = told(&redis, lease, |fact| fact["dseq"] == 7 && fact["state"] == "active");
    assert!(fact.get("reason").is_none(), "{fact}");
    let funds = insist("how long it is funded", || {
        let leases = network.ctl(&["leases"])?;
        let funds = leases["leases"][0]["funds"].clone();
        Ok(funds["blocks_left"].is_u64().then_some(funds))
    });
    assert!(funds["dry_at"].as_u64().is_some_and(|height| height > 0), "{funds}");
    assert!(funds["blocks_left"].as_u64().is_some_and(|blocks| blocks <= 100), "{funds}");
    let fact =
        told(&redis, lease, |fact| fact["dseq"] == 7 && fact["state"] == "insufficient_funds");
    assert_eq!(fact["reason"], "closed by the chain: insufficient funds");
    insist("nothing is left", || Ok(network.leases()?.is_empty().then_some(())));
    let events = insist("the last event", || {
        let events = redis.of_deployment(7)?;
        Ok(events.iter().any(|event| event["event"] == "LeaseGone").then_some(events))
    });
    let names: Vec<&str> = events.iter().filter_map(|event| event["event"].as_str()).collect();
    let mut rest = names.iter();
    for wanted in [
        "OrderNoticed",
        "BidSubmitted",
        "BidOpened",
        "LeaseCreated",
        "ManifestReceived",
        "DeploymentStarted",
        "DeploymentHealthy",
        "LeaseDry",
        "LeaseClosed",
        "DeploymentTeardown",
        "LeaseGone",
    ] {
        assert!(rest.any(|name| *name == wanted), "{wanted} is not in its place: {names:?}");
    }
    let one = |name: &str| events.iter().find(|event| event["event"] == name).unwrap();
    assert_eq!(one("LeaseClosed")["state"], "insufficient_funds");
    assert!(one("LeaseDry")["dry_at"].is_u64(), "{}", one("LeaseDry"));
    assert_eq!(one("ManifestReceived")["manifest"].as_str().map(str::len), Some(64));
    assert_eq!(one("LeaseCreated")["provider"], operator.as_str());

    // Closed on chain, and still in a cluster that does not move.
    run_lease(&network, &sdl, "8");
    network.cluster.as_ref().unwrap().signal("STOP").unwrap();
    network.tx("tenant", &["deployment", "close", "--dseq", "8"]).unwrap();
    let cluster = "akash.provider.cluster.status";
    told(&redis, cluster, |fact| fact["closing"] == 1 && fact["active"] == 0);
    let fact = told(&redis, lease, |fact| fact["dseq"] == 8 && fact["state"] == "closed");
    assert_eq!(fact["reason"], "closed by its owner");
    network.cluster.as_ref().unwrap().signal("CONT").unwrap();
    told(&redis, cluster, |fact| fact["closing"] == 0);
    insist("its deployment was closed", || {
        let events = redis.of_deployment(8)?;
        Ok(events.iter().any(|event| event["event"] == "DeploymentClosed").then_some(()))
    });

    // What an inventory operator says has the cluster read again.
    let whole = || network.provider_log().matches("the cluster was read whole").count();
    let before = whole();
    let said = json!({
        "version": 1, "stamp": 5, "publisher": "test",
        "fact": {
            "nodes": 1, "storage_classes": [],
            "allocatable": {"cpu_milli": 1, "memory": 1}, "allocated": {"cpu_milli": 0, "memory": 0}
        }
    });
    redis.say(&["PUBLISH", "inventory.cluster", &said.to_string()]).unwrap();
    insist("the cluster is read again", || Ok((whole() > before).then_some(())));
}
