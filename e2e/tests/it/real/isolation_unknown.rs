//! A provider that requires isolation on a cluster where nobody can find out about it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;

use anyhow::{Context, Result};
use e2e::network::{Network, Settings};
use kube_bed::Bed;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::real::installed::{add_machines, insist, install, send, take_leases};

const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/hello.yaml");
/// The name of a namespace of the probe's.
const TAKEN: &str = "akash-isolation-probe-a";

fn hold(network: &Network) -> Result<Value> {
    Ok(network.ctl(&["status"])?["isolation_hold"].clone())
}

fn unknown(network: &Network, because: &str) {
    insist(because, || {
        let hold = hold(network)?;
        let is_so = hold["reason"] == "unknown" && hold["detail"].to_string().contains(because);
        anyhow::ensure!(is_so, "{hold}");
        Ok(Some(()))
    });
}

fn order(network: &Network, dseq: &str) {
    let create = ["deployment", "create", HELLO, "--dseq", dseq, "--deposit", "5act"];
    network.tx("tenant", &create).unwrap();
}

fn bid(network: &Network, dseq: &str) {
    insist("a bid", || {
        let bids = network.ctl(&["bids"])?["bids"].to_string();
        Ok(bids.contains(&format!("/{dseq}/1/1")).then_some(()))
    });
}

fn page(metrics: &str) -> Result<String> {
    let mut stream = TcpStream::connect(metrics)?;
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")?;
    let mut page = String::new();
    stream.read_to_string(&mut page)?;
    Ok(page)
}

#[test]
fn what_no_probe_finds_out_stops_new_bids_and_nothing_else() {
    let runtime = Runtime::new().unwrap();
    let bed = runtime.block_on(Bed::control_plane()).unwrap();
    let kubeconfig = install(&runtime, &bed);
    let _machines = add_machines(&runtime, &bed);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let metrics = listener.local_addr().unwrap().to_string();
    drop(listener);
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { kubeconfig: Some(kubeconfig), ..Settings::default() };
    let mut network = Network::start(folder.path(), settings).unwrap();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    // A lease that runs, and a bid that waits for its tenant.
    take_leases(&network, &[("1".to_owned(), PathBuf::from(HELLO))]);
    insist("a manifest is taken", || network.ctl(&["send-manifest", "1", HELLO]).map(Some));
    insist("it runs", || Ok(network.running()?.contains(&1).then_some(())));
    order(&network, "2");
    bid(&network, "2");

    // Somebody else's namespace is in the way of the probe.
    let namespace = json!({"metadata": {"name": TAKEN}});
    send(&runtime, &bed, "POST", "/api/v1/namespaces", &namespace).unwrap();
    network.provider.as_mut().unwrap().kill();
    network.set_flags(&["--require-isolation", "--metrics-listener", &metrics]);
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    unknown(&network, "was not made by a probe");
    order(&network, "3");
    insist("the order gets no bid, and why", || {
        let why = network.ctl(&["why", "3"])?.to_string();
        Ok(why.contains("isolation of tenants is unknown").then_some(()))
    });
    let found = page(&metrics).unwrap();
    for line in [
        "provider_isolation_hold{reason=\"unknown\"} 1",
        "provider_isolation_hold{reason=\"findings\"} 0",
    ] {
        assert!(found.lines().any(|found| found == line), "{line}\n{found}");
    }
    let status = network.ctl(&["status"]).unwrap();
    let parts = status["parts"].as_array().unwrap();
    let probe = parts.iter().find(|part| part["name"] == "isolation probe").unwrap();
    assert!(probe["detail"].to_string().contains("was not made by a probe"), "{probe}");
    assert!(network.provider_log().contains("isolation probe: no new bids; leases go on"));

    // Leases and open bids go on.
    assert!(network.running().unwrap().contains(&1));
    let (tenant, operator) =
        (network.address("tenant").unwrap(), network.address("operator").unwrap());
    let accept = ["market", "lease", "create", "--owner", &tenant, "--dseq", "2", "--provider"];
    network.tx("tenant", &[&accept[..], &[&operator]].concat()).unwrap();
    insist("a manifest is taken", || network.ctl(&["send-manifest", "2", HELLO]).map(Some));
    insist("both run", || Ok((network.running()?.len() == 2).then_some(())));

    // The operator's own probe finds out as little: an error, no finding, and nothing changes.
    let said = network.ctl(&["probe", "isolation"]).unwrap_err().to_string();
    assert!(said.contains("isolation is unknown, the probe was not made"), "{said}");
    assert_eq!(hold(&network).unwrap()["reason"], "unknown");

    // Once nothing is in the way, pods of the probe run nowhere on machines that are none: unknown
    // still, for another reason.
    let path = format!("/api/v1/namespaces/{TAKEN}");
    send(&runtime, &bed, "DELETE", &path, &json!({})).unwrap();
    insist("the namespace is gone", || {
        let list = crate::real::installed::get(&runtime, &bed, "/api/v1/namespaces")?;
        let names = list["items"].as_array().context("no list")?;
        Ok(names.iter().all(|it| it["metadata"]["name"] != TAKEN).then_some(()))
    });
    network.provider.as_mut().unwrap().kill();
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    unknown(&network, "did not make its connections");
    assert!(network.ctl(&["bids"]).unwrap()["bids"].as_array().unwrap().is_empty());

    // Where isolation is not required, the order that waited gets its bid.
    network.provider.as_mut().unwrap().kill();
    network.set_flags(&[]);
    network.start_provider().unwrap();
    insist("the provider acts", || network.ready());
    bid(&network, "3");
}
