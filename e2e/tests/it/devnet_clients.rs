//! The clients that tenants use, from npm, on our chain: they must not be able to tell.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_devnet::node::Chain;
use akash_devnet::server::{Config, Devnet};
use akash_devnet::state::{Genesis, State};
use akash_types::Coin;
use serde_json::Value;
use tokio::process::Command;

/// What the script says it did; one line each.
const DONE: [&str; 9] = [
    "ok stargate: chain local",
    "ok stargate: sent 1234uakt",
    "ok stargate: found it by hash and by event",
    "ok stargate: a fee too low is refused as such",
    "ok chain-sdk: a provider registered and read back",
    "ok chain-sdk: a certificate published and listed",
    "ok chain-sdk: a deployment created from an SDL",
    "ok chain-sdk: order, bid, lease",
    "ok chain-sdk: withdrawn and closed",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stargate_and_the_chain_sdk_go_from_sdl_to_closed_lease() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let keys = std::fs::read_to_string(root.join("../fixtures/chain/throwaway-keys.json")).unwrap();
    let keys: Value = serde_json::from_str(&keys).unwrap();
    let text = |who: &str, what: &str| keys[who][what].as_str().unwrap().to_owned();
    let folder = tokio::task::spawn_blocking({
        let source = root.join("js");
        move || e2e::npm::install(&source)
    })
    .await
    .unwrap()
    .unwrap();

    let coins: Vec<Coin> =
        ["1000000000uact", "1000000000uakt"].map(|coin| coin.parse().unwrap()).to_vec();
    let accounts = ["tenant1", "provider"]
        .map(|who| (text(who, "address").parse().unwrap(), coins.clone()))
        .to_vec();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let genesis = Genesis::for_devnet("local", i64::try_from(now).unwrap(), accounts);
    let chain = Chain::new(&genesis.chain_id, genesis.initial_height, genesis.time_unix_nanos);
    let config = Config { block_time: Some(Duration::from_millis(500)), ..Config::new(chain) };
    let devnet =
        Devnet::start(config, State::from_genesis(&genesis).unwrap(), |_| {}).await.unwrap();

    let run = Command::new("node")
        .arg("devnet.mjs")
        .current_dir(folder)
        .env("RPC_URL", format!("http://{}", devnet.rpc_address()))
        .env("GRPC_URL", format!("http://{}", devnet.grpc_address()))
        .env("TENANT_MNEMONIC", text("tenant1", "mnemonic"))
        .env("PROVIDER_MNEMONIC", text("provider", "mnemonic"))
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(120), run)
        .await
        .expect("the script takes some 20 seconds")
        .expect("running node; install Node.js to run this test");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    let lines: Vec<&str> = stdout.lines().filter(|line| line.starts_with("ok ")).collect();
    assert_eq!(lines.len(), DONE.len(), "{stdout}\n{stderr}");
    for (line, expected) in lines.iter().zip(DONE) {
        assert!(line.starts_with(expected), "{line}");
    }
    devnet.shutdown().await.unwrap();
}
