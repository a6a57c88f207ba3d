//! A disk that fills while the provider runs.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use e2e::network::{Network, Settings, wait_until};
use provider_testkit::disk::SmallDisk;

/// Longer than anything takes, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);
const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml");
const ORDERS: u64 = 20;

fn insist<T>(network: &Network, what: &str, look: impl FnMut() -> Result<Option<T>>) -> T {
    wait_until(what, LONG, look)
        .unwrap_or_else(|error| panic!("{error:#}\n{}", network.provider_log()))
}

/// An order that asks for attributes which no provider has: each decision about it is long.
fn long_order() -> String {
    let hello = std::fs::read_to_string(HELLO).unwrap();
    let attribute = |number| format!("        attribute-{number}: {}\n", "x".repeat(60));
    let attributes: String = (0..30).map(attribute).collect();
    let with = format!("    anywhere:\n      attributes:\n{attributes}      pricing:\n");
    let sdl = hello.replace("    anywhere:\n      pricing:\n", &with);
    assert_ne!(sdl, hello);
    sdl
}

/// What `ctl status` says is wrong with the store.
fn problem(network: &Network) -> Result<Option<String>> {
    let status = network.ctl(&["status"])?;
    let parts = status["parts"].as_array().context("no parts")?;
    let store = parts.iter().find(|part| part["name"] == "store").context("no store")?;
    let detail = store["detail"].as_str().unwrap_or_default();
    Ok(Some(detail.to_owned()).filter(|detail| !detail.is_empty()))
}

fn is_healthy(metrics: &str) -> Result<bool> {
    let mut stream = TcpStream::connect(metrics)?;
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")?;
    let mut page = String::new();
    stream.read_to_string(&mut page)?;
    let value = page.lines().find_map(|line| line.strip_prefix("provider_store_healthy "));
    Ok(value.context("no such metric")? == "1")
}

#[test]
fn a_disk_that_fills_costs_neither_bids_nor_history() {
    let Some(disk) = SmallDisk::mount().unwrap() else { return };
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = listener.local_addr().unwrap().to_string();
    drop(listener);
    let settings = Settings {
        store: Some(disk.path().join("store.redb")),
        run: ["--metrics-listener", &metrics].map(str::to_owned).to_vec(),
        ..Settings::default()
    };
    let mut network = Network::start(folder.path(), settings).unwrap();
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    let sdl = folder.path().join("long.yaml");
    std::fs::write(&sdl, long_order()).unwrap();
    let create = |dseq: u64| {
        let create = ["deployment", "create", sdl.to_str().unwrap(), "--dseq", &dseq.to_string()];
        network.message("tenant", &[&create[..], &["--deposit", "5act"]].concat()).unwrap()
    };
    network.tx_of("tenant", &(1..=ORDERS).map(create).collect::<Vec<_>>()).unwrap();
    insist(&network, "the last is declined", || {
        let why = network.ctl(&["why", &ORDERS.to_string()])?.to_string();
        Ok(why.contains("attribute-29").then_some(()))
    });
    assert_eq!(problem(&network).unwrap(), None);
    assert!(is_healthy(&metrics).unwrap());

    let ballast = disk.fill().unwrap();
    // Each switch has every order evaluated again, and the journal grows.
    let mut switches = ["on", "off"].into_iter().cycle();
    let told = insist(&network, "the store has a problem", || {
        network.ctl(&["maintenance", switches.next().unwrap()])?;
        problem(&network)
    });
    assert!(told.contains("kept in memory") && told.contains("No space left"), "{told}");
    assert!(!is_healthy(&metrics).unwrap());
    let log = network.provider_log();
    let line = log.lines().find(|line| line.contains("disk full: journal and history"));
    assert!(line.is_some_and(|line| line.contains("ERROR")), "{line:?}");

    // It goes on: an order becomes a lease that runs.
    network.ctl(&["maintenance", "off"]).unwrap();
    let create = ["deployment", "create", HELLO, "--dseq", "101", "--deposit", "5act"];
    network.tx("tenant", &create).unwrap();
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    let accept = ["market", "lease", "create", "--owner", &tenant, "--dseq", "101", "--provider"];
    let accept = [&accept[..], &[&operator]].concat();
    insist(&network, "a bid that can be taken", || network.tx("tenant", &accept).map(Some));
    let send = ["send-manifest", "101", HELLO];
    insist(&network, "the manifest is taken", || network.ctl(&send).map(Some));
    insist(&network, "it runs", || Ok(network.running()?.contains(&101).then_some(())));
    assert!(problem(&network).unwrap().is_some(), "the disk is still full");

    // What was decided meanwhile is written once there is room, and outlives the process.
    std::fs::remove_file(ballast).unwrap();
    insist(&network, "the store is written again", || {
        // A turn that decides something writes.
        network.ctl(&["maintenance", switches.next().unwrap()])?;
        Ok((problem(&network)?.is_none() && is_healthy(&metrics)?).then_some(()))
    });
    network.provider.as_mut().unwrap().kill();
    network.start_provider().unwrap();
    insist(&network, "the provider acts", || network.ready());
    let why = network.ctl(&["why", "101"]).unwrap().to_string();
    for decided in ["the order was noticed", "it fits, on", "we have the lease", "everything runs"]
    {
        assert!(why.contains(decided), "{decided}: {why}");
    }
}
