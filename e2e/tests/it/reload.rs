//! Every setting that can change while the provider runs is changed by SIGHUP, in the file that the
//! provider was started with, and its effect is observed on chain, in the cluster or at the provider.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use akash_types::{BidId, LeaseId, LeaseState};
use anyhow::Result;
use e2e::metrics::{free_address, metric};
use e2e::network::{Network, Settings, wait_until};
use provider_daemon::config::{Change, table};
use provider_engine::cluster::command::Operation;
use provider_engine::cluster::port::Execute;
use provider_engine::reconcile::Evidence;
use provider_sim::remote::RemoteDriver;
use serde_json::Value;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(120);

/// What holds before and after each case. Nothing times out by itself.
const BASE: &[(&str, &str)] = &[
    ("bid-price-strategy", "scale"),
    ("bid-price-cpu-scale", "5"),
    ("bid-deposit", "500000uact"),
    ("bid-timeout", "1h"),
    ("manifest-timeout", "1h"),
    ("minimum-balance", "1"),
    ("lease-funds-monitor-interval", "24h"),
    ("monitor-max-retries", "100000"),
    ("monitor-retry-period", "4s"),
    ("monitor-retry-period-jitter", "0s"),
    ("cached-result-max-age", "1h"),
];

/// Not a setting of the table, and as live as they are.
const ATTRIBUTES: &str = "attributes";

type Case = (&'static str, fn(&mut Bench, &'static str));

/// Each setting, and how its change is seen to take effect.
const CASES: &[Case] = &[
    // First: a provider that has just started counts slow blocks, so a minute is over sooner.
    ("lease-funds-monitor-interval", funds_interval),
    ("bid-price-strategy", strategy),
    ("bid-price-cpu-scale", |bench, name| bench.price_changes(name, "6", "hello.yaml")),
    ("bid-price-memory-scale", |bench, name| bench.price_changes(name, "1", "hello.yaml")),
    ("bid-price-storage-scale", |bench, name| bench.price_changes(name, "1", "hello.yaml")),
    ("bid-price-endpoint-scale", |bench, name| bench.price_changes(name, "50", "hello.yaml")),
    ("bid-price-ip-scale", |bench, name| bench.price_changes(name, "50", "ip-endpoint.yaml")),
    ("bid-price-script-path", script_path),
    ("bid-price-script-process-limit", script_limit),
    ("bid-price-script-process-timeout", script_timeout),
    ("bid-deposit", deposit),
    ("bid-timeout", bid_timeout),
    ("manifest-timeout", manifest_timeout),
    ("lost-manifest-patience", lost_manifest),
    ("reclamation-window", reclamation),
    ("policy-price-floor", |bench, name| bench.declined_by(name, "900uact")),
    ("policy-price-denoms", |bench, name| bench.declined_by(name, "uakt")),
    ("policy-allow-owners", |bench, name| {
        let other = bench.network.address("operator").unwrap();
        bench.declined_by(name, &other);
    }),
    ("policy-deny-owners", |bench, name| {
        let tenant = bench.network.address("tenant").unwrap();
        bench.declined_by(name, &tenant);
    }),
    ("policy-open-bids-per-owner", |bench, name| {
        let dseq = bench.order("hello.yaml");
        bench.bid(&dseq);
        bench.declined_by(name, "1");
    }),
    ("policy-daily-fees", |bench, name| bench.declined_by(name, "1uakt")),
    ("policy-pause", |bench, name| bench.declined_by(name, "true")),
    ("deployment-blocked-hostnames", blocked),
    ("monitor-max-retries", |bench, name| bench.crashing_is_closed(&[], name, "0")),
    ("monitor-retry-period", |bench, name| {
        let slow = [("monitor-max-retries", "0"), (name, "1h")];
        bench.crashing_is_closed(&slow, name, "4s");
    }),
    ("monitor-retry-period-jitter", |bench, name| {
        let slow = [("monitor-max-retries", "0"), (name, "240h")];
        bench.crashing_is_closed(&slow, name, "0s");
    }),
    ("cached-result-max-age", cached),
    ("withdrawal-period", withdrawal),
    ("minimum-balance", minimum_balance),
    (ATTRIBUTES, attributes),
    ("log_level", log_level),
];

#[test]
fn every_live_setting_takes_effect_in_a_running_provider() {
    let live = table::settings().filter(|setting| setting.change == Change::Reload);
    let mut live: Vec<&str> = live.map(|setting| setting.name).chain([ATTRIBUTES]).collect();
    let mut tried: Vec<&str> = CASES.iter().map(|(name, _)| *name).collect();
    live.sort_unstable();
    tried.sort_unstable();
    assert_eq!(live, tried, "each live setting has its case");

    let mut bench = Bench::start();
    for (name, case) in CASES {
        println!("{name}");
        case(&mut bench, name);
        bench.set(&[]);
    }
}

/// A network whose provider reads its settings from a file.
struct Bench {
    network: Network,
    metrics: SocketAddr,
    next: u64,
    /// Dropped last: the network shows its logs when a test fails.
    folder: tempfile::TempDir,
}

fn config(changes: &[(&str, &str)]) -> String {
    let mut settings: BTreeMap<&str, &str> = BASE.iter().copied().collect();
    settings.extend(changes.iter().copied());
    let line = |(name, value): (&&str, &&str)| match *name {
        ATTRIBUTES => format!("{name}: {value}\n"),
        _ => format!("{}: \"{value}\"\n", name.replace('-', "")),
    };
    settings.iter().map(line).collect()
}

fn example(name: &str) -> String {
    format!("{}/../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn insist<T>(what: &str, look: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, look).unwrap_or_else(|error| panic!("{error:#}"))
}

impl Bench {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let metrics = free_address().unwrap();
        let run = vec!["--metrics-listener".to_owned(), metrics.to_string()];
        let settings = Settings { config: Some(config(&[])), run, ..Settings::default() };
        let mut network = Network::start(folder.path(), settings).unwrap();
        network.start_provider().unwrap();
        insist("the provider acts", || network.ready());
        network.open_gateway().unwrap();
        Self { folder, network, metrics, next: 0 }
    }

    /// Reloads with the base and these changes, and waits until the provider has read them.
    fn set(&mut self, changes: &[(&str, &str)]) {
        let reloads = |network: &Network| network.provider_log().matches("reloaded").count();
        let before = reloads(&self.network);
        self.network.reload(config(changes)).unwrap();
        insist("the file is read", || {
            let log = self.network.provider_log();
            let wrong = log.lines().find(|line| line.contains("the old ones stay"));
            assert_eq!(wrong, None, "the settings are wrong");
            Ok((reloads(&self.network) > before).then_some(()))
        });
    }

    fn order(&mut self, sdl: &str) -> String {
        self.order_file(&example(sdl))
    }

    /// Puts an order on chain; the number of its deployment.
    fn order_file(&mut self, sdl: &str) -> String {
        self.next += 1;
        let dseq = self.next.to_string();
        let create = ["deployment", "create", sdl, "--dseq", &dseq, "--deposit", "5act"];
        self.network.tx("tenant", &create).unwrap();
        dseq
    }

    fn query(&self, what: &str, dseq: &str) -> Result<Value> {
        let (tenant, operator) =
            (self.network.address("tenant")?, self.network.address("operator")?);
        let get = ["query", "market", what, "get", "--owner", &tenant, "--dseq", dseq];
        self.network.json(&[&get[..], &["--provider", &operator]].concat())
    }

    /// The provider's bid on an order, once it is there.
    fn bid(&self, dseq: &str) -> Value {
        insist("a bid", || self.query("bid", dseq).map(Some))
    }

    fn price(&self, dseq: &str) -> String {
        let bid = self.bid(dseq);
        bid["bid"]["price"]["amount"].as_str().expect("a price").to_owned()
    }

    fn is(&self, what: &str, dseq: &str, state: &str) {
        insist(state, || {
            let found = self.query(what, dseq)?;
            Ok((found[what]["state"] == state).then_some(()))
        });
    }

    fn why(&self, dseq: &str) -> String {
        self.network.ctl(&["why", dseq]).map(|why| why.to_string()).unwrap_or_default()
    }

    fn lease_file(&mut self, sdl: &str) -> String {
        let dseq = self.order_file(sdl);
        self.bid(&dseq);
        let (tenant, operator) =
            (self.network.address("tenant").unwrap(), self.network.address("operator").unwrap());
        let lease = ["market", "lease", "create", "--owner", &tenant, "--dseq", &dseq];
        self.network.tx("tenant", &[&lease[..], &["--provider", &operator]].concat()).unwrap();
        dseq
    }

    fn send(&self, dseq: &str, sdl: &str) -> Result<Value> {
        self.network.ctl(&["send-manifest", dseq, sdl])
    }

    fn deploy(&mut self, sdl: &str) -> String {
        let dseq = self.lease_file(sdl);
        insist("the manifest is taken", || self.send(&dseq, sdl).map(Some));
        dseq
    }

    /// A deployment that runs.
    fn running(&mut self) -> String {
        let dseq = self.deploy(&example("hello.yaml"));
        let number = dseq.parse().unwrap();
        insist("it runs", || Ok(self.network.running()?.contains(&number).then_some(())));
        dseq
    }

    /// A program that answers with a price, after the commands `first`.
    fn script(&self, name: &str, first: &str, price: u32) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{first}\necho {price}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn price_changes(&mut self, name: &str, value: &str, sdl: &str) {
        let before = self.order(sdl);
        let before = self.price(&before);
        self.set(&[(name, value)]);
        let after = self.order(sdl);
        assert_ne!(self.price(&after), before, "{name}");
    }

    /// With the setting an order is declined, and without it the same order is bid on.
    fn declined_by(&mut self, name: &str, value: &str) {
        self.set(&[(name, value)]);
        let dseq = self.order("hello.yaml");
        insist("it is declined", || {
            let why = self.why(&dseq);
            Ok((why.contains("no bid") || why.contains("declin")).then_some(()))
        });
        assert!(self.query("bid", &dseq).is_err(), "{name}");
        self.set(&[]);
        self.bid(&dseq);
    }

    /// A lease whose container crashes is kept with `before`, and closed with the change.
    fn crashing_is_closed(&mut self, before: &[(&str, &str)], name: &str, value: &str) {
        self.set(before);
        let text = std::fs::read_to_string(example("hello.yaml")).unwrap();
        let sdl = self.folder.path().join("crash.yaml");
        std::fs::write(&sdl, text.replace("nginx:1.29-alpine", "example/crash")).unwrap();
        let dseq = self.deploy(sdl.to_str().unwrap());
        let number: u64 = dseq.parse().unwrap();
        insist("it is degraded", || {
            let leases = self.network.leases()?;
            Ok(leases.contains(&(number, "degraded".to_owned())).then_some(()))
        });
        // Longer than the shortest period: with the values of the base it would be closed.
        self.pass_blocks(40);
        self.is("lease", &dseq, "active");
        let mut changes: BTreeMap<&str, &str> = before.iter().copied().collect();
        changes.insert(name, value);
        self.set(&changes.into_iter().collect::<Vec<_>>());
        self.is("lease", &dseq, "closed");
    }

    fn height(&self) -> u64 {
        let status = insist("a status", || self.network.ctl(&["status"]).map(Some));
        status["height"].as_u64().unwrap()
    }

    fn pass_blocks(&self, count: u64) {
        let first = self.height();
        insist("blocks pass", || Ok((self.height() >= first + count).then_some(())));
    }
}

fn strategy(bench: &mut Bench, name: &'static str) {
    let script = bench.script("seven.sh", "", 7);
    let order = bench.order("hello.yaml");
    assert!(!bench.price(&order).starts_with("7."), "by scale");
    bench.set(&[(name, "shellScript"), ("bid-price-script-path", &script)]);
    let order = bench.order("hello.yaml");
    assert!(bench.price(&order).starts_with("7."), "{}", bench.price(&order));
    bench.set(&[(name, "scale"), ("bid-price-script-path", &script)]);
    let order = bench.order("hello.yaml");
    assert!(!bench.price(&order).starts_with("7."), "by scale again");
}

fn script_path(bench: &mut Bench, name: &'static str) {
    let scripts = [bench.script("eight.sh", "", 8), bench.script("nine.sh", "", 9)];
    for (script, price) in scripts.iter().zip(["8.", "9."]) {
        bench.set(&[("bid-price-strategy", "shellScript"), (name, script)]);
        let order = bench.order("hello.yaml");
        assert!(bench.price(&order).starts_with(price), "{price}");
    }
}

fn script_limit(bench: &mut Bench, name: &'static str) {
    let marks = bench.folder.path().join("marks");
    let first = format!("echo begin >> {0}; sleep 3; echo end >> {0}", marks.display());
    let script = bench.script("slow.sh", &first, 8);
    let at_once = |bench: &mut Bench, limit: &str| {
        bench.set(&[
            ("bid-price-strategy", "shellScript"),
            ("bid-price-script-path", &script),
            (name, limit),
        ]);
        let _ = std::fs::remove_file(&marks);
        let (sdl, dseqs) = (example("hello.yaml"), [bench.next + 1, bench.next + 2]);
        bench.next += 2;
        let dseqs = dseqs.map(|dseq| dseq.to_string());
        let messages = dseqs.each_ref().map(|dseq| {
            let create = ["deployment", "create", &sdl, "--dseq", dseq, "--deposit", "5act"];
            bench.network.message("tenant", &create).unwrap()
        });
        bench.network.tx_of("tenant", &messages).unwrap();
        dseqs.iter().for_each(|dseq| drop(bench.bid(dseq)));
        std::fs::read_to_string(&marks).unwrap().contains("begin\nbegin\n")
    };
    assert!(!at_once(bench, "1"), "one at a time");
    assert!(at_once(bench, "4"), "both at once");
}

fn script_timeout(bench: &mut Bench, name: &'static str) {
    let script = bench.script("late.sh", "sleep 2", 8);
    let base = [("bid-price-strategy", "shellScript"), ("bid-price-script-path", script.as_str())];
    bench.set(&[&base[..], &[(name, "100ms")]].concat());
    let dseq = bench.order("hello.yaml");
    insist("it is declined", || {
        Ok((bench.why(&dseq).to_lowercase().contains("script")).then_some(()))
    });
    bench.pass_blocks(4);
    assert!(bench.query("bid", &dseq).is_err());
    bench.set(&[&base[..], &[(name, "60s")]].concat());
    let dseq = bench.order("hello.yaml");
    assert!(bench.price(&dseq).starts_with("8."));
}

fn deposit(bench: &mut Bench, name: &'static str) {
    bench.set(&[(name, "654321uact")]);
    let dseq = bench.order("hello.yaml");
    let bid = bench.bid(&dseq).to_string();
    assert!(bid.contains("654321"), "{bid}");
}

fn bid_timeout(bench: &mut Bench, name: &'static str) {
    let dseq = bench.order("hello.yaml");
    bench.is("bid", &dseq, "open");
    bench.set(&[(name, "1s")]);
    bench.is("bid", &dseq, "closed");
}

fn manifest_timeout(bench: &mut Bench, name: &'static str) {
    let dseq = bench.lease_file(&example("hello.yaml"));
    bench.is("lease", &dseq, "active");
    bench.set(&[(name, "1s")]);
    bench.is("lease", &dseq, "closed");
}

/// A lease lost its workload while the provider was down; an older one, which is there, shows that
/// the cluster is the right one.
fn lost_manifest(bench: &mut Bench, name: &'static str) {
    let witness = bench.running();
    let dseq = bench.running();
    let (tenant, operator) =
        (bench.network.address("tenant").unwrap(), bench.network.address("operator").unwrap());
    bench.set(&[("manifest-timeout", "1s")]);
    bench.network.provider.as_mut().unwrap().kill();
    let bid: BidId = format!("{tenant}/{dseq}/1/1/{operator}").parse().unwrap();
    let evidence = Evidence::new(LeaseState::Closed, None, 1, 2).unwrap();
    let operation = Operation::Teardown { lease: LeaseId::from(bid), evidence };
    let cluster = RemoteDriver::new(bench.network.sim().parse().unwrap());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(cluster.execute(operation)).unwrap();
    bench.network.start_provider().unwrap();
    insist("the provider acts", || bench.network.ready());
    let number: u64 = dseq.parse().unwrap();
    insist("it is lost", || {
        let leases = bench.network.leases()?;
        Ok(leases.contains(&(number, "awaiting manifest".to_owned())).then_some(()))
    });
    bench.is("lease", &dseq, "active");
    bench.set(&[("manifest-timeout", "1s"), (name, "1s")]);
    bench.is("lease", &dseq, "closed");
    bench.is("lease", &witness, "active");
}

fn reclamation(bench: &mut Bench, name: &'static str) {
    let operator = bench.network.address("operator").unwrap();
    let status = |bench: &Bench| {
        let printed = bench.network.run(&["status", &operator])?;
        Ok::<Value, anyhow::Error>(serde_json::from_str(&printed)?)
    };
    let before = insist("a status", || status(bench).map(Some));
    assert!(before["reclamation_window"].as_u64().is_none_or(|window| window == 0), "{before}");
    bench.set(&[(name, "2h")]);
    insist("the status has it", || {
        let window = status(bench)?["reclamation_window"].as_u64();
        Ok((window == Some(7_200_000_000_000)).then_some(()))
    });
    let dseq = bench.order("hello.yaml");
    let bid = bench.bid(&dseq).to_string();
    assert!(bid.contains("7200"), "{bid}");
}

fn blocked(bench: &mut Bench, name: &'static str) {
    let sdl = example("hostnames.yaml");
    bench.set(&[(name, "example.com")]);
    let dseq = bench.lease_file(&sdl);
    insist("it is refused", || match bench.send(&dseq, &sdl) {
        Err(error) if error.to_string().contains("block") => Ok(Some(())),
        other => anyhow::bail!("{other:?}"),
    });
    bench.set(&[(name, "other.example")]);
    insist("it is taken", || bench.send(&dseq, &sdl).map(Some));
}

/// With a long age the manifest before an update is still accepted on what was read before.
fn cached(bench: &mut Bench, name: &'static str) {
    let old = example("hello.yaml");
    let text = std::fs::read_to_string(&old).unwrap();
    let new = bench.folder.path().join("new.yaml");
    std::fs::write(&new, text.replace("1.29", "1.30")).unwrap();
    let dseq = bench.deploy(&old);
    let update = ["deployment", "update", new.to_str().unwrap(), "--dseq", &dseq];
    bench.network.tx("tenant", &update).unwrap();
    bench.send(&dseq, &old).expect("accepted on what is remembered");
    bench.set(&[(name, "1ms")]);
    insist("it is refused", || match bench.send(&dseq, &old) {
        Err(error) if error.to_string().contains("version") => Ok(Some(())),
        other => anyhow::bail!("{other:?}"),
    });
}

/// The shortest period is that of readings, a minute; a lease that has run for longer is due at once.
fn withdrawal(bench: &mut Bench, name: &'static str) {
    let oldest = bench.network.running().unwrap().first().map(u64::to_string);
    let dseq = oldest.unwrap_or_else(|| bench.running());
    let often = ("lease-funds-monitor-interval", "1m");
    bench.set(&[often]);
    bench.pass_blocks(8);
    assert!(!bench.why(&dseq).contains("was not paid out"), "{}", bench.why(&dseq));
    bench.set(&[often, (name, "1m")]);
    insist("it is withdrawn", || Ok(bench.why(&dseq).contains("was not paid out").then_some(())));
}

/// The accounts of leases are read once after a reload, and from then on in this interval.
fn funds_interval(bench: &mut Bench, name: &'static str) {
    bench.running();
    let read_at = |bench: &Bench| {
        let leases = bench.network.ctl(&["leases"])?;
        anyhow::Ok(leases["leases"][0]["funds"]["read_at"].as_u64())
    };
    insist("its account is read", || read_at(bench));
    bench.set(&[(name, "1m")]);
    let mut last = bench.height();
    for _ in 0..3 {
        last = insist("it is read again", || Ok(read_at(bench)?.filter(|at| *at > last + 1)));
    }
}

/// Without them in provider.yaml an order is bid on, whatever it asks for.
fn attributes(bench: &mut Bench, name: &'static str) {
    bench.declined_by(name, r#"[{key: tier, value: "1"}]"#);
}

fn minimum_balance(bench: &mut Bench, name: &'static str) {
    let low = |bench: &Bench| anyhow::Ok(bench.network.ctl(&["status"])?["low_balance"].clone());
    let is_low = |bench: &Bench| metric(bench.metrics, "provider_low_balance").unwrap();
    insist("the balance is not low", || Ok(low(bench)?.is_null().then_some(())));
    assert_eq!(is_low(bench), "0");
    bench.set(&[(name, "999999999999999999")]);
    insist("the balance is low", || {
        let low: Value = low(bench)?;
        Ok(low.to_string().contains("999999999999999999").then_some(()))
    });
    assert_eq!(is_low(bench), "1");
    let log = bench.network.provider_log();
    let warning = log.lines().rfind(|line| line.contains("balance below minimum"));
    let warning = warning.unwrap_or_else(|| panic!("no warning:\n{log}"));
    assert!(warning.contains("WARN") && warning.contains("999999999999999999"), "{warning}");
}

fn log_level(bench: &mut Bench, name: &'static str) {
    // The decision to bid is logged before the bid is on chain.
    let is_logged = |bench: &mut Bench| {
        let dseq = bench.order("hello.yaml");
        bench.bid(&dseq);
        bench.network.provider_log().contains(&format!("/{dseq}/1/1"))
    };
    assert!(is_logged(bench));
    bench.network.reload(config(&[(name, "warn")])).unwrap();
    insist("decisions are not logged any more", || Ok((!is_logged(bench)).then_some(())));
    bench.network.reload(config(&[])).unwrap();
    insist("decisions are logged again", || Ok(is_logged(bench).then_some(())));
}
