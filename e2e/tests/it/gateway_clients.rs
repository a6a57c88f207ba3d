//! The clients that tenants use, against a running provider: from npm.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use e2e::network::{Network, Settings, wait_until};

pub(crate) const LONG: Duration = Duration::from_secs(120);

/// What the script says it did; one line each.
const DONE: [&str; 14] = [
    "ok chain-sdk: a certificate published",
    "ok chain-sdk: tokens signed",
    "ok chain-sdk: deployment, bid, lease",
    "ok rest: what is public is, what is not is not",
    "ok rest: manifest by token",
    "ok rest: lease status by a scoped token",
    "ok rest: service status by certificate",
    "ok stream: logs by token",
    "ok stream: events by certificate",
    "ok stream: a shell by token",
    "ok grpc: status",
    "ok grpc: service status by certificate",
    "ok akashjs: an update by its manifest and its certificate",
    "ok stream: ended with the lease",
];

pub(crate) fn started(folder: &Path) -> Network {
    let run = ["--bid-price-storage-scale", "0.0001,ram=0.0001"].map(str::to_owned).to_vec();
    let settings = Settings { run, ..Settings::default() };
    let mut network = Network::start(folder, settings).unwrap();
    network.start_provider().unwrap();
    wait_until("the provider acts", LONG, || network.ready()).unwrap();
    network
}

#[test]
fn a_tenant_with_packages_of_npm_alone_goes_from_sdl_to_closed_lease() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("js");
    let scripts = e2e::npm::install(&scripts).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let network = started(folder.path());
    let (rest, grpc) = wait_until("tenants can connect", LONG, || network.gateway()).unwrap();
    let (chain_rpc, chain_grpc) = (network.rpc(), network.grpc());

    let output = Command::new("node")
        .arg("gateway.mjs")
        .current_dir(scripts)
        .env("RPC_URL", format!("http://{chain_rpc}"))
        .env("GRPC_URL", format!("http://{chain_grpc}"))
        .env("GATEWAY_URL", format!("https://{rest}"))
        .env("GATEWAY_GRPC_URL", format!("https://{grpc}"))
        .env("TENANT_KEY", network.private_key("tenant").unwrap())
        .env("PROVIDER", network.address("operator").unwrap())
        .stdin(Stdio::null())
        .output()
        .expect("running node; install Node.js to run this test");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    let lines: Vec<&str> = stdout.lines().filter(|line| line.starts_with("ok ")).collect();
    assert_eq!(lines.len(), DONE.len(), "{stdout}\n{stderr}");
    for (line, expected) in lines.iter().zip(DONE) {
        assert!(line.starts_with(expected), "{line}");
    }
}
