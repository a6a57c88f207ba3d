//! What a running provider tells on the bus, read by another program: `redis-cli`.

use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use e2e::metrics::{free_address, metric};
use e2e::network::{Network, Settings, wait_until};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(180);

/// A redis-server on a port of its own. Dies with its value.
struct Redis {
    /// How `redis-cli` reaches it.
    client: Vec<String>,
    port: String,
    process: Child,
    folder: tempfile::TempDir,
}

/// Certificates for `localhost`, and the authority that vouches for them.
const CERTIFICATES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/provider-bus/tests/certificates");

/// A `redis-cli` that writes down what is published on a topic, also what is soon replaced.
struct Listener {
    process: Child,
    log: PathBuf,
}

impl Listener {
    fn facts(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(&self.log).unwrap();
        let messages = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        messages.filter_map(|message| message.get("fact").cloned()).collect()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Redis {
    fn start() -> Self {
        Self::start_with(|port| (vec!["--port".to_owned(), port.to_owned()], Vec::new()))
    }

    /// Over TLS alone.
    fn start_tls() -> Self {
        let file = |name: &str| format!("{CERTIFICATES}/{name}");
        let ca = file("ca.pem");
        Self::start_with(|port| {
            let server = ["--port", "0", "--tls-port", port, "--tls-auth-clients", "no"];
            let (cert, key) = (file("server.pem"), file("server.key"));
            let files = ["--tls-ca-cert-file", &ca, "--tls-cert-file", &cert];
            let server = [&server[..], &files, &["--tls-key-file", &key]].concat();
            let client = ["--tls", "--cacert", &ca];
            let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
            (texts(&server), texts(&client))
        })
    }

    /// With arguments for `redis-server` and `redis-cli`, made of its port.
    fn start_with(arguments: impl FnOnce(&str) -> (Vec<String>, Vec<String>)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        drop(listener);
        let (server, client) = arguments(&port);
        let process = Command::new("redis-server")
            .args(server)
            .args(["--bind", "127.0.0.1", "--save", "", "--dir"])
            .arg(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server starts: apt-get install redis-server");
        let redis = Self { client, port, process, folder };
        wait_until("Redis answers", LONG, || {
            Ok((redis.say(&["PING"])?.trim() == "PONG").then_some(()))
        })
        .unwrap();
        redis
    }

    fn cli(&self) -> Command {
        let mut command = Command::new("redis-cli");
        command.args(["-p", self.port.as_str()]).args(&self.client);
        command
    }

    /// What `redis-cli` prints for a command.
    fn say(&self, command: &[&str]) -> Result<String> {
        let done = self.cli().args(command).output()?;
        Ok(String::from_utf8(done.stdout)?)
    }

    /// The fact that a topic has now.
    fn fact(&self, topic: &str) -> Result<Value> {
        let message: Value = serde_json::from_str(&self.say(&["GET", topic])?)?;
        message.get("fact").cloned().context("a message without a fact")
    }

    /// Listens to a topic from now on.
    fn listen(&self, topic: &str) -> Listener {
        let log = self.folder.path().join(topic);
        let process = self
            .cli()
            .args(["SUBSCRIBE", topic])
            .stdout(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let listener = Listener { process, log };
        insist("it listens", || {
            Ok(std::fs::read_to_string(&listener.log)?.contains("subscribe").then_some(()))
        });
        listener
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
    let metrics = free_address().unwrap();
    let listener = metrics.to_string();
    let flags = ["--redis-url", &url, "--lease-funds-monitor-interval", "1m"];
    let flags = [&flags[..], &["--metrics-listener", &listener, "--policy-pause"]].concat();
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
    let (_, flags) = flags.split_last().unwrap();
    network.set_flags(&[flags, &dear, &fees].concat());
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    told(&redis, bids, |fact| {
        fact["paused"].as_str().is_some_and(|why| why.contains("daily budget of 1"))
    });
    network.provider.as_mut().unwrap().kill();
    network.set_flags(&[flags, &dear].concat());
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    told(&redis, bids, |fact| fact.get("paused").is_none());

    // A lease from its order to its end, which comes when its account is dry: 5 ACT pay 100 blocks.
    let sdl = paying(folder.path(), "100000");
    let lease = "akash.provider.lease";
    let changes = redis.listen(lease);
    run_lease(&network, &sdl, "7");
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
    assert!(fact.get("dry_at").is_none(), "{fact}");
    let changes = changes.facts();
    let dry = changes.iter().find(|fact| fact["dry_at"].is_u64());
    let dry = dry.unwrap_or_else(|| panic!("it was never dry: {changes:?}"));
    assert_eq!((&dry["state"], &dry["dry_at"]), (&json!("active"), &funds["dry_at"]), "{dry}");
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

    // What an inventory operator says has the cluster read again, and not the chain.
    let whole = || network.provider_log().matches("the cluster was read whole").count();
    let resyncs = metric(metrics, "provider_chain_resyncs").unwrap();
    let none = json!({"cpu_milli": 1, "memory": 1});
    let cluster = json!({
        "nodes": 1, "storage_classes": [], "allocatable": none, "allocated": none
    });
    let topics = [
        ("inventory.cluster", cluster),
        ("inventory.nodes", json!({"nodes": []})),
        ("inventory.storage", json!({"classes": []})),
    ];
    for (topic, fact) in topics {
        let before = whole();
        let said = json!({"version": 1, "stamp": 5, "publisher": "test", "fact": fact});
        redis.say(&["PUBLISH", topic, &said.to_string()]).unwrap();
        insist(topic, || Ok((whole() > before).then_some(())));
    }
    assert_eq!(metric(metrics, "provider_chain_resyncs").unwrap(), resyncs);
}

#[test]
fn the_bus_runs_over_tls_with_the_authority_that_the_environment_names() {
    let redis = Redis::start_tls();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("rediss://localhost:{}", redis.port);
    let run = vec!["--redis-url".to_owned(), url];
    let mut network =
        Network::start(folder.path(), Settings { run, ..Settings::default() }).unwrap();
    network.start_provider().unwrap();
    insist("nobody vouches for Redis", || {
        let log = network.provider_log();
        let why = network.ctl(&["status"])?["parts"].to_string();
        Ok((log.contains("UnknownIssuer") || why.contains("UnknownIssuer")).then_some(()))
    });
    assert_eq!(redis.say(&["DBSIZE"]).unwrap().trim(), "0");
    network.provider.as_mut().unwrap().kill();
    network.set_variables(&[("SSL_CERT_FILE", &format!("{CERTIFICATES}/ca.pem"))]);
    network.start_provider().unwrap();
    told(&redis, "akash.provider.balance.status", |fact| fact["height"] != 0);
}

/// What keeps bids back besides what is tried above, and events of what goes wrong.
#[test]
fn what_goes_wrong_is_told_over_redis() {
    let redis = Redis::start();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("redis://127.0.0.1:{}", redis.port);
    let flags = ["--redis-url", &url, "--lease-funds-monitor-interval", "1m"];
    // About 50,000 a block: each withdrawal is worth its fee.
    let dear = ["--bid-price-memory-scale", "390"];
    let run = flags.iter().chain(&dear).map(|flag| (*flag).to_owned()).collect();
    let mut network =
        Network::start(folder.path(), Settings { run, ..Settings::default() }).unwrap();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    let bids = "akash.provider.bidengine.status";
    let event = |dseq: u64, name: &str| {
        insist(name, || {
            let events = redis.of_deployment(dseq)?;
            Ok(events.into_iter().find(|event| event["event"] == name))
        })
    };

    // An order that cannot be had, and a lease that earns and is found again after a restart.
    let gpu = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/gpu.yaml");
    network.tx("tenant", &["deployment", "create", gpu, "--dseq", "6"]).unwrap();
    let declined = event(6, "OrderDeclined");
    assert!(declined["reason"].as_str().unwrap().contains("GPU"), "{declined}");
    let sdl = paying(folder.path(), "100000");
    run_lease(&network, &sdl, "7");
    let earned = event(7, "LeaseEarned");
    assert!(earned["amount"].as_str().unwrap().ends_with("uact"), "{earned}");
    network.provider.as_mut().unwrap().kill();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    let adopted = event(7, "DeploymentAdopted");
    assert_eq!(adopted["manifest"].as_str().map(str::len), Some(64), "{adopted}");

    // The cluster is gone.
    let paused = |why: &str| {
        told(&redis, bids, |fact| fact["paused"].as_str().is_some_and(|it| it.contains(why)));
    };
    network.cluster.as_mut().unwrap().kill();
    paused("the cluster does not answer");
    network.start_cluster().unwrap();
    told(&redis, bids, |fact| fact.get("paused").is_none());

    // The money is spent.
    let (operator, tenant) =
        (network.address("operator").unwrap(), network.address("tenant").unwrap());
    let held = network.json(&["query", "bank", "balances", &operator]).unwrap();
    let coins = held["balances"].as_array().unwrap();
    let coin = coins.iter().find(|coin| coin["denom"] == "uakt").unwrap();
    let held: u128 = coin["amount"].as_str().unwrap().parse().unwrap();
    let most = format!("{}uakt", held - 12_000);
    network.tx("operator", &["bank", "send", &tenant, &most]).unwrap();
    paused("a bid needs");
    network.tx("tenant", &["bank", "send", &operator, "5000000uakt"]).unwrap();
    told(&redis, bids, |fact| fact.get("paused").is_none());

    // Fees are asked of an account that has not agreed: transactions are held.
    network.provider.as_mut().unwrap().kill();
    network.set_flags(&[&flags[..], &dear, &["--fee-granter", &tenant]].concat());
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    network.tx("tenant", &["deployment", "create", &sdl, "--dseq", "8"]).unwrap();
    paused("the fee granter does not pay");
    network.tx("tenant", &["feegrant", "grant", &operator]).unwrap();
    told(&redis, bids, |fact| fact.get("paused").is_none());
}
