//! What a running provider bids on, and what it says when it is asked whether it would.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use e2e::network::{Network, Settings, wait_until};

use crate::gateway_calls::{bid_screening, bid_screening_for, grpc_status, screened, validate};

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);
const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml");

/// Three ports that are opened on nodes.
const THREE_PORTS: &str = r#"
version: "2.0"
services:
  web:
    image: nginx
    expose:
      - {port: 22, to: [{global: true}]}
      - {port: 25, to: [{global: true}]}
      - {port: 53, proto: udp, to: [{global: true}]}
profiles:
  compute:
    web: {resources: {cpu: {units: 0.1}, memory: {size: 32Mi}, storage: {size: 64Mi}}}
  placement:
    anywhere: {pricing: {web: {denom: uact, amount: 1000}}}
deployment:
  web: {anywhere: {profile: web, count: 1}}
"#;

fn insist<T>(network: &Network, what: &str, look: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, look)
        .unwrap_or_else(|error| panic!("{error:#}\n{}", network.provider_log()))
}

fn started(folder: &Path, settings: Settings) -> Network {
    let mut network = Network::start(folder, settings).unwrap();
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    insist(&network, "tenants can connect", || network.gateway());
    network
}

fn order(network: &Network, sdl: &str, dseq: &str) {
    let create = ["deployment", "create", sdl, "--dseq", dseq, "--deposit", "5act"];
    network.tx("tenant", &create).unwrap();
}

fn why(network: &Network, dseq: &str, reason: &str) {
    insist(network, reason, || {
        let why = network.ctl(&["why", dseq])?.to_string();
        Ok(why.contains(reason).then_some(()))
    });
}

fn bids(network: &Network) -> usize {
    network.ctl(&["bids"]).unwrap()["bids"].as_array().map_or(0, Vec::len)
}

#[test]
fn a_scripts_price_is_screened_as_it_is_bid() {
    let folder = tempfile::tempdir().unwrap();
    let (script, price) = (folder.path().join("price"), folder.path().join("price.txt"));
    std::fs::write(&script, format!("#!/bin/sh\nexec cat {}\n", price.display())).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(&price, "7").unwrap();
    let script = script.to_str().unwrap();
    let run = ["--bid-price-strategy", "shellScript", "--bid-price-script-path", script];
    let run = [&run[..], &["--policy-price-floor", "5uact"]].concat();
    let run = run.into_iter().map(str::to_owned).collect();
    let network = started(folder.path(), Settings { run, ..Settings::default() });
    let (reasons, passed) = screened(&network, HELLO);
    assert_eq!((reasons.len(), passed.as_deref()), (0, Some("7.000000000000000000")));
    for (said, reason) in [
        ("4.5", "is below the floor of 5.000000000000000000"),
        ("1000000", "is above the"),
        ("much", "the price script printed \"much\""),
    ] {
        std::fs::write(&price, said).unwrap();
        let (reasons, price) = screened(&network, HELLO);
        assert!(reasons.len() == 1 && reasons[0].contains(reason), "{said}: {reasons:?}");
        assert_eq!(price, None);
    }
    // An order is judged by the same rules.
    std::fs::write(&price, "4.5").unwrap();
    order(&network, HELLO, "7");
    why(&network, "7", "is below the floor of 5.000000000000000000");
    assert_eq!(bids(&network), 0);
}

/// Stops others, and a script that waits for the file, also where a test fails.
struct StopAtEnd<'a>(&'a AtomicBool, &'a Path);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        let _ = std::fs::write(self.1, "");
    }
}

#[test]
fn strangers_who_screen_keep_neither_orders_nor_the_operator_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let [script, slow, end] = ["price", "slow", "end"].map(|name| folder.path().join(name));
    // A script that begins while `slow` is there does not end before the test does.
    let text = format!(
        "#!/bin/sh\n[ ! -e {} ] || until [ -e {} ]; do sleep 0.1; done\necho 7\n",
        slow.display(),
        end.display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(&slow, "").unwrap();
    let script = script.to_str().unwrap();
    let run = ["--bid-price-strategy", "shellScript", "--bid-price-script-path", script];
    let limits =
        ["--bid-price-script-process-limit", "1", "--bid-price-script-process-timeout", "10m"];
    let run = [&run[..], &limits].concat().into_iter().map(str::to_owned).collect();
    let network = started(folder.path(), Settings { run, ..Settings::default() });
    let (stop, busy) = (AtomicBool::new(false), AtomicUsize::new(0));
    let screen = || {
        while !stop.load(Ordering::Relaxed) {
            let is_busy = validate(&network, HELLO).0 == 503;
            busy.fetch_add(usize::from(is_busy), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let _stop = StopAtEnd(&stop, &end);
        for _ in 0..4 {
            scope.spawn(screen);
        }
        // The only process that there may be belongs to a screening, and never ends.
        insist(&network, "screening finds no place", || {
            Ok((busy.load(Ordering::Relaxed) > 8).then_some(()))
        });
        for change in ["on", "off"] {
            maintenance(&network, change);
        }
        std::fs::remove_file(&slow).unwrap();
        order(&network, HELLO, "7");
        insist(&network, "a bid", || Ok((bids(&network) == 1).then_some(())));
    });
}

#[test]
fn a_provider_that_knows_its_cluster_not_declines_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = started(folder.path(), Settings::default());
    assert_eq!(screened(&network, HELLO).0, [""; 0]);
    // Without its cluster it cannot say, whether it has just started or saw it before.
    network.cluster.take().unwrap().kill();
    insist(&network, "it sees that the cluster is gone", || {
        Ok((validate(&network, HELLO).0 == 503).then_some(()))
    });
    let not_ready = |network: &Network| {
        let (status, text) = validate(network, HELLO);
        assert_eq!(status, 503, "{text}");
        let refused = bid_screening(network, HELLO).unwrap_err();
        assert_eq!((refused.status, refused.code.as_str()), (14, "not-ready"), "{refused:?}");
    };
    not_ready(&network);
    // The status is published a moment after the readiness.
    insist(&network, "the status says so too", || {
        Ok((grpc_status(&network).unwrap().errors == ["the cluster does not answer"]).then_some(()))
    });
    network.provider.take().unwrap().kill();
    network.start_provider().unwrap();
    insist(&network, "tenants can connect again", || {
        let log = network.provider_log();
        Ok((log.matches("tenants can connect").count() == 2).then_some(()))
    });
    not_ready(&network);
    network.start_cluster().unwrap();
    insist(&network, "the provider acts", || network.ready());
    assert_eq!(screened(&network, HELLO).0, [""; 0]);
    insist(&network, "the status has no error any more", || {
        Ok(grpc_status(&network).unwrap().errors.is_empty().then_some(()))
    });
}

#[test]
fn no_more_ports_are_sold_than_the_nodes_have() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = ["--node-ports", "30000-30003"].map(str::to_owned).to_vec();
    let network = started(folder.path(), Settings { cluster, ..Settings::default() });
    let sdl = folder.path().join("ports.yaml");
    std::fs::write(&sdl, THREE_PORTS).unwrap();
    let sdl = sdl.to_str().unwrap();
    order(&network, sdl, "7");
    insist(&network, "a bid", || Ok((bids(&network) == 1).then_some(())));
    // What a bid promises is not there for the next one.
    order(&network, sdl, "8");
    why(&network, "8", "3 ports on nodes are asked for, 1 are left");
    let (reasons, _) = screened(&network, sdl);
    assert_eq!(reasons, ["3 ports on nodes are asked for, 1 are left"]);
    network.tx("tenant", &["deployment", "close", "--dseq", "7"]).unwrap();
    insist(&network, "the other gets the bid", || {
        let bids = network.ctl(&["bids"])?["bids"].to_string();
        Ok(bids.contains("/8/1/1").then_some(()))
    });
}

/// The newest decision about the only order of a deployment.
fn decided(network: &Network, dseq: &str) -> Result<String> {
    let why = network.ctl(&["why", dseq])?;
    let newest = why["subjects"][0]["decisions"].as_array().and_then(|decisions| decisions.last());
    Ok(newest.and_then(|it| it["decision"].as_str()).unwrap_or_default().to_owned())
}

fn maintenance(network: &Network, switch: &str) {
    // The status is published a moment later.
    network.ctl(&["maintenance", switch]).unwrap();
    insist(network, "the status says so", || {
        Ok((network.ctl(&["status"])?["maintenance"] == (switch == "on")).then_some(()))
    });
}

#[test]
fn an_order_that_is_full_on_chain_gets_no_bid() {
    let folder = tempfile::tempdir().unwrap();
    let mut network = started(folder.path(), Settings::default());
    let params = network.json(&["query", "market", "params"]).unwrap();
    let limit = params["params"]["order_max_bids"].as_u64().unwrap();
    let tenant = network.address("tenant").unwrap();
    // The chain takes one bid more than its limit; the last of the others comes too late.
    let others: Vec<String> = (0..=limit + 1).map(|number| format!("other-{number}")).collect();
    let pay = |name: &String| {
        network.run(&["keys", "add", name]).unwrap();
        let to = network.address(name).unwrap();
        network.message("tenant", &["bank", "send", &to, "5akt"]).unwrap()
    };
    let payments: Vec<_> = others.iter().map(pay).collect();
    network.tx_of("tenant", &payments).unwrap();

    // The others bid while the provider does not.
    maintenance(&network, "on");
    for dseq in ["7", "8"] {
        order(&network, HELLO, dseq);
        why(&network, dseq, "the provider is in maintenance");
    }
    let bid = |dseq: &'static str| {
        let create = ["market", "bid", "create", "--owner", &tenant, "--dseq", dseq];
        [&create[..], &["--price", "1uact", "--deposit", "500000uakt"]].concat()
    };
    let file = folder.path().join("provider.yaml");
    let register = ["provider", "create", file.to_str().unwrap()];
    let (late, others) = others.split_last().unwrap();
    for (number, name) in others.iter().enumerate() {
        // The second order has a place left.
        let has_both = number + 1 < others.len();
        let bids = [Some(bid("7")), has_both.then(|| bid("8"))];
        let messages =
            std::iter::once(&register[..]).chain(bids.iter().flatten().map(Vec::as_slice));
        let messages: Vec<_> = messages.map(|args| network.message(name, args).unwrap()).collect();
        network.tx_of(name, &messages).unwrap();
    }
    network.tx(late, &register).unwrap();
    let refused = network.tx(late, &bid("7")).unwrap_err().to_string();
    assert!(refused.contains("too many existing bids"), "{refused}");

    let full = format!("the order has {} bids, more than the limit of {limit}", limit + 1);
    let is_full = |network: &Network| {
        insist(network, &full, || Ok(decided(network, "7")?.ends_with(&full).then_some(())));
    };
    maintenance(&network, "off");
    is_full(&network);
    insist(&network, "a bid on the order with a place", || {
        let bids = network.ctl(&["bids"])?["bids"].to_string();
        Ok(bids.contains("/8/1/1").then_some(()))
    });

    // A bid that is closed keeps its place on chain.
    let close = ["market", "bid", "close", "--owner", &tenant, "--dseq", "7"];
    network.tx(&others[0], &close).unwrap();
    let refused = network.tx(late, &bid("7")).unwrap_err().to_string();
    assert!(refused.contains("too many existing bids"), "{refused}");
    maintenance(&network, "on");
    insist(&network, "it is judged anew", || {
        Ok(decided(&network, "7")?.contains("maintenance").then_some(()))
    });
    maintenance(&network, "off");
    is_full(&network);
    assert_eq!(bids(&network), 1);

    // A provider that starts has not seen the others bid: the chain tells it.
    network.provider.as_mut().unwrap().kill();
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    insist(&network, "the chain refuses", || {
        let why = decided(&network, "7")?;
        let refused = ["the chain refuses the bid", "too many existing bids"];
        Ok(refused.iter().all(|words| why.contains(words)).then_some(()))
    });
    assert_eq!(bids(&network), 1);
}

#[test]
fn an_order_in_a_denomination_without_prices_is_declined() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["--policy-price-denoms", "uakt"].map(str::to_owned).to_vec();
    let network = started(folder.path(), Settings { run, ..Settings::default() });
    order(&network, HELLO, "7");
    let reason = "the order pays in uact, prices are made in uakt";
    why(&network, "7", reason);
    assert_eq!(screened(&network, HELLO).0, [reason]);
    assert_eq!(bids(&network), 0);
}

#[test]
fn a_hostname_that_is_reserved_or_taken_is_screened_out() {
    let folder = tempfile::tempdir().unwrap();
    let network = started(folder.path(), Settings::default());
    network.open_gateway().unwrap();
    let said = |name: &str| {
        let answer = bid_screening_for(&network, HELLO, &[name]).unwrap();
        assert_eq!(answer.passed, answer.reasons.is_empty(), "{answer:?}");
        answer.reasons
    };
    let reserved = "hostname not allowed: \"sim.localhost\" is reserved by this provider";
    assert_eq!(said("sim.localhost"), [reserved]);
    assert_eq!(said("example.com"), [""; 0]);
    let sdl = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hostnames.yaml");
    let deploy = ["deploy", sdl, "--dseq", "7", "--pick", "cheapest", "--bid-wait", "0"];
    network.run(&[&deploy[..], &["--from", "tenant"]].concat()).unwrap();
    assert_eq!(said("example.com"), ["hostname not allowed: host \"example.com\" in use"]);
    assert_eq!(said("other.example.com"), [""; 0]);
}

#[test]
fn the_status_counts_volumes_by_node() {
    let folder = tempfile::tempdir().unwrap();
    let machines = "node:cpu=64,memory=256Gi,disk=2Ti,storage=beta3:1Ti".to_owned();
    let run = ["--bid-price-storage-scale", "0,beta3=0.00001,ram=0"].map(str::to_owned).to_vec();
    let network = started(folder.path(), Settings { machines, run, ..Settings::default() });
    network.open_gateway().unwrap();
    let file = folder.path().join("provider.yaml");
    let class = "capabilities/storage/2";
    let more = [("class", "beta3"), ("persistent", "\"true\"")];
    let more = more.map(|(key, value)| format!("  - key: {class}/{key}\n    value: {value}\n"));
    let text = std::fs::read_to_string(&file).unwrap() + &more.concat();
    std::fs::write(&file, text).unwrap();
    network.tx("operator", &["provider", "update", file.to_str().unwrap()]).unwrap();
    let counts = || {
        let status = grpc_status(&network).map_err(|refused| anyhow::anyhow!("{refused:?}"))?;
        let inventory = status.cluster.and_then(|it| it.inventory?.cluster).unwrap();
        let node = inventory.nodes[0].resources.clone().unwrap();
        anyhow::Ok(
            [node.volumes_attached, node.volumes_mounted]
                .map(|pair| pair.and_then(|pair| pair.allocated?.string).unwrap_or_default()),
        )
    };
    assert_eq!(counts().unwrap(), ["0", "0"]);
    let sdl = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/persistent-storage.yaml");
    let deploy = ["deploy", sdl, "--dseq", "7", "--pick", "cheapest", "--bid-wait", "0"];
    network.run(&[&deploy[..], &["--from", "tenant"]].concat()).unwrap();
    insist(&network, "its volume is counted", || Ok((counts()? == ["1", "1"]).then_some(())));
    network.tx("tenant", &["deployment", "close", "--dseq", "7"]).unwrap();
    insist(&network, "it is gone", || Ok((counts()? == ["0", "0"]).then_some(())));
}
