//! `devnet` and everything on it: a whole lease, through the program alone.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::cli::support::{Ran, command, repository, run_with, text};

/// A devnet that runs until it is dropped.
pub(crate) struct Devnet {
    child: Child,
    state: TempDir,
    rpc: String,
    grpc: String,
    rest: String,
}

impl Devnet {
    pub(crate) fn start() -> Self {
        Self::start_in(tempfile::tempdir().unwrap())
    }

    fn start_in(state: TempDir) -> Self {
        let (mut child, [rpc, grpc, rest]) = spawn(state.path());
        if rpc.is_empty() || grpc.is_empty() || rest.is_empty() {
            let _ = child.kill();
            panic!("the devnet does not say where it listens");
        }
        Self { child, state, rpc, grpc, rest }
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let variables = [
            ("AKASH_HOME", text(self.state.path())),
            ("AKASH_NODE", self.rpc.as_str()),
            ("AKASH_CHAIN_ID", "local"),
            ("AKASH_KEYRING_BACKEND", "test"),
        ];
        run_with(args, &variables, b"")
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let printed = self.run(&[args, &["-o", "json"]].concat()).quietly();
        serde_json::from_str(&printed).unwrap()
    }

    /// Sends a transaction that succeeds.
    #[track_caller]
    fn tx(&self, from: &str, args: &[&str]) -> Value {
        let result = self.json(&[&["tx"], args, &["--from", from, "-y"]].concat());
        assert_eq!(result["code"], 0, "{result}");
        assert_ne!(result["height"], "0", "{result}");
        result
    }

    fn address(&self, key: &str) -> String {
        self.run(&["keys", "show", key, "-a"]).quietly().trim().to_owned()
    }

    fn balance(&self, address: &str, denom: &str) -> u128 {
        let coin = self.json(&["query", "bank", "balances", address, "--denom", denom]);
        coin["amount"].as_str().unwrap().parse().unwrap()
    }

    /// Asks the REST API: status, headers and document.
    fn rest(&self, method: &str, target: &str, body: &str) -> (u16, String, Value) {
        let host = self.rest.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "{method} {target} HTTP/1.1\r\nhost: {host}\r\norigin: https://console.example\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), serde_json::from_str(body).unwrap_or_default())
    }

    /// What the REST API answers to a query.
    #[track_caller]
    fn get(&self, target: &str) -> Value {
        let (status, head, answer) = self.rest("GET", target, "");
        assert_eq!(status, 200, "{target}: {answer}");
        assert!(head.contains("content-type: application/json"), "{head}");
        assert!(head.contains("access-control-allow-origin: *"), "{head}");
        answer
    }

    /// Stops it as a person would, and gives its state back.
    fn stop(mut self) -> TempDir {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0));
        std::mem::replace(&mut self.state, tempfile::tempdir().unwrap())
    }

    /// Kills it without a word (SIGKILL), and gives its state back.
    fn kill(mut self) -> TempDir {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.state, tempfile::tempdir().unwrap())
    }

    /// Waits until a block higher than this one is there.
    fn wait_for(&self, height: u64) {
        let deadline = Instant::now() + Duration::from_secs(180);
        loop {
            let block = self.json(&["query", "block"]);
            let reached = block["block"]["header"]["height"].as_str().unwrap().parse::<u64>();
            if reached.unwrap() > height {
                return;
            }
            assert!(Instant::now() < deadline, "no block after {height}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Devnet {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The process and where it listens.
fn spawn(state: &Path) -> (Child, [String; 3]) {
    let args = [
        "devnet",
        "--state",
        text(state),
        "--block-time",
        "100ms",
        "--rpc-addr",
        "127.0.0.1:0",
        "--grpc-addr",
        "127.0.0.1:0",
        "--api-addr",
        "127.0.0.1:0",
    ];
    let mut child = command(&args, &[]).stdout(Stdio::piped()).spawn().unwrap();
    let (mut rpc, mut grpc, mut rest) = (String::new(), String::new(), String::new());
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["rpc", url] => rpc = (*url).to_owned(),
            ["grpc", url] => grpc = (*url).to_owned(),
            ["rest", url] => rest = (*url).to_owned(),
            ["Ctrl-C", ..] => break,
            _ => {}
        }
    }
    (child, [rpc, grpc, rest])
}

fn provider_file(folder: &Path) -> std::path::PathBuf {
    let file = folder.join("provider.yaml");
    std::fs::write(
        &file,
        "host: https://localhost:8443\nattributes:\n- {key: region, value: eu}\n",
    )
    .unwrap();
    file
}

fn height(result: &Value) -> u64 {
    result["height"].as_str().unwrap().parse().unwrap()
}

#[test]
fn a_lease_lives_and_everybody_is_paid() {
    let devnet = Devnet::start();
    let (operator, tenant) = (devnet.address("operator"), devnet.address("tenant"));
    let start = devnet.balance(&operator, "uact");
    assert_eq!(devnet.balance(&tenant, "uact"), start);

    let file = provider_file(devnet.state.path());
    devnet.tx("operator", &["provider", "create", text(&file)]);
    let provider = devnet.json(&["query", "provider", "get", &operator]);
    assert_eq!(provider["host_uri"], "https://localhost:8443");
    let yaml = devnet.run(&["query", "provider", "get", &operator]).quietly();
    assert!(yaml.contains("host_uri: https://localhost:8443\n"), "{yaml}");

    let sdl = repository("examples/hello.yaml");
    let created = devnet.tx("tenant", &["deployment", "create", text(&sdl)]);
    let orders = devnet.json(&["query", "market", "order", "list", "--state", "open"]);
    let id = &orders["orders"][0]["id"];
    assert_eq!(id["owner"], tenant.as_str());
    let dseq = id["dseq"].as_str().unwrap().to_owned();
    assert!(dseq.parse::<u64>().unwrap() < height(&created));

    let of_tenant = ["--owner", &tenant, "--dseq", &dseq];
    let bid = ["market", "bid", "create", "--price", "50uact"];
    devnet.tx("operator", &[&bid[..], &of_tenant].concat());
    // The same over gRPC, and as a table.
    let table = ["query", "market", "bid", "list", "-o", "table", "--grpc-addr", &devnet.grpc];
    let table = devnet.run(&table).quietly();
    assert!(table.contains("50uact") && table.contains(&operator), "{table}");

    let of_operator = ["--dseq", &dseq, "--provider", &operator];
    let leased = devnet.tx("tenant", &[&["market", "lease", "create"], &of_operator[..]].concat());
    devnet.wait_for(height(&leased));
    let withdrawn =
        devnet.tx("operator", &[&["market", "lease", "withdraw"], &of_tenant[..]].concat());
    let earned = u128::from(height(&withdrawn) - height(&leased)) * 50;
    assert_eq!(devnet.balance(&operator, "uact"), start + earned);
    let remaining = [&["query", "escrow", "blocks-remaining"], &of_tenant[..]].concat();
    assert!(devnet.json(&remaining)["blocks_remaining"].as_u64().unwrap() > 0);

    let deposit = ["escrow", "deposit", "deployment", "1act", "--dseq", &dseq];
    devnet.tx("tenant", &deposit);
    let closed = devnet.tx("tenant", &["deployment", "close", "--dseq", &dseq]);
    let earned = u128::from(height(&closed) - height(&leased)) * 50;
    assert_eq!(devnet.balance(&operator, "uact"), start + earned);
    assert_eq!(devnet.balance(&tenant, "uact"), start - earned);
    let both = ["--owner", &tenant, "--dseq", &dseq, "--provider", &operator];
    let lease = devnet.json(&[&["query", "market", "lease", "get"], &both[..]].concat());
    assert_eq!(lease["lease"]["state"], "closed");
    assert_eq!(lease["escrow_payment"]["state"]["withdrawn"]["amount"], earned.to_string());
}

#[test]
fn refusals_are_errors_and_the_result_is_printed_all_the_same() {
    let devnet = Devnet::start();
    let tenant = devnet.address("tenant");
    let close = [
        "tx", "market", "bid", "close", "--owner", &tenant, "--dseq", "9", "--from", "operator",
        "-y",
    ];
    // A simulation finds it before anything is paid.
    let error = devnet.run(&close).refused();
    assert!(error.contains("nothing was sent") && error.contains("unknown bid"), "{error}");
    let ran = devnet.run(&[&close[..], &["--gas", "200000"]].concat());
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &result["codespace"], &result["code"]), (1, &"market".into(), &6.into()));
    assert!(ran.stderr.starts_with("Error: transaction "), "{}", ran.stderr);
    let hash = result["txhash"].as_str().unwrap();
    let found = devnet.json(&["query", "tx", hash]);
    assert_eq!(found["code"], 6);
    assert_eq!(found["tx"]["body"]["messages"][0]["@type"], "/akash.market.v1beta5.MsgCloseBid");
    let cheap = devnet.run(&[&close[..], &["--gas", "200000", "--fees", "1uakt"]].concat());
    let result: Value = serde_json::from_str(&cheap.stdout).unwrap();
    assert_eq!((cheap.code, &result["height"], &result["code"]), (1, &"0".into(), &13.into()));
    let other_chain = devnet.run(&[&close[..], &["--gas", "200000", "--chain-id", "x"]].concat());
    assert!(other_chain.stderr.contains("signature verification failed"), "{}", other_chain.stderr);
}

#[test]
fn what_is_not_sent_is_priced_by_a_simulation() {
    let devnet = Devnet::start();
    let (operator, tenant) = (devnet.address("operator"), devnet.address("tenant"));
    let send = ["tx", "bank", "send", &operator, "1akt", "--from", &tenant];
    let dry = devnet.run(&[&send[..], &["--dry-run"]].concat());
    assert_eq!((dry.code, dry.stdout.as_str()), (0, ""), "{}", dry.stderr);
    let estimate = dry.stderr.strip_prefix("gas estimate: ").unwrap().trim().to_owned();
    // An address is enough where nothing is signed, once the chain knows its key.
    devnet.tx("tenant", &["bank", "send", &operator, "1akt"]);
    let generated = devnet.json(&[&send[..], &["--generate-only"]].concat());
    let limit: u64 = generated["auth_info"]["fee"]["gas_limit"].as_str().unwrap().parse().unwrap();
    assert!(limit.abs_diff(estimate.parse().unwrap()) < 10_000, "{limit} {estimate}");
    let unknown = "akash1s3x2yhc4qf59gf53hwsnhkh7gqa3eryxutp665";
    let send = ["tx", "bank", "send", &operator, "1akt", "--from", unknown, "--generate-only"];
    assert!(devnet.run(&send).refused().contains("--gas"));
}

#[test]
fn certificates_are_published_and_revoked() {
    let devnet = Devnet::start();
    let operator = devnet.address("operator");
    let made = devnet.run(&["tx", "cert", "generate", "client", "--from", "operator"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    devnet.tx("operator", &["cert", "publish", "client"]);
    let list = ["query", "cert", "list", "--owner", &operator, "--state", "valid"];
    let serial = devnet.json(&list)["certificates"][0]["serial"].as_str().unwrap().to_owned();
    assert!(made.stderr.contains(&serial));
    devnet.tx("operator", &["cert", "revoke", "client"]);
    assert_eq!(devnet.json(&list)["certificates"], serde_json::json!([]));
    let twice =
        devnet.run(&["tx", "cert", "revoke", "client", "--from", "operator", "-y"]).refused();
    assert!(twice.contains("is not valid on chain"), "{twice}");
}

#[test]
fn several_transactions_in_one_block_take_consecutive_sequences() {
    let devnet = Devnet::start();
    let operator = devnet.address("operator");
    let before = devnet.balance(&operator, "uakt");
    for _ in 0..3 {
        let send = ["tx", "bank", "send", "faucet", &operator, "1akt", "-y", "-b", "sync"];
        let result = devnet.json(&send);
        assert_eq!((&result["code"], &result["height"]), (&0.into(), &"0".into()), "{result}");
    }
    let block = devnet.json(&["query", "block"]);
    let height = block["block"]["header"]["height"].as_str().unwrap().parse::<u64>().unwrap();
    devnet.wait_for(height + 2);
    assert_eq!(devnet.balance(&operator, "uakt"), before + 3_000_000);
    let query = format!("transfer.recipient='{operator}'");
    let found = devnet.json(&["query", "txs", "--query", &query]);
    assert_eq!(found["total_count"], "3", "{found}");
}

#[test]
fn a_killed_chain_keeps_what_it_has_answered() {
    let mut devnet = Devnet::start();
    let operator = devnet.address("operator");
    let before = devnet.balance(&operator, "uakt");
    for round in 1..=3 {
        devnet.tx("faucet", &["bank", "send", &operator, "7uakt"]);
        devnet = Devnet::start_in(devnet.kill());
        assert_eq!(devnet.balance(&operator, "uakt"), before + 7 * round);
    }
}

#[test]
fn the_rest_api_answers_what_the_program_queries_with_filters_and_pages() {
    let devnet = Devnet::start();
    let (operator, tenant) = (devnet.address("operator"), devnet.address("tenant"));
    let file = provider_file(devnet.state.path());
    devnet.tx("operator", &["provider", "create", text(&file)]);
    let made = devnet.run(&["tx", "cert", "generate", "client", "--from", "tenant"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    devnet.tx("tenant", &["cert", "publish", "client"]);
    let sdl = repository("examples/hello.yaml");
    devnet.tx("tenant", &["deployment", "create", text(&sdl)]);
    devnet.tx("tenant", &["deployment", "create", text(&sdl)]);
    let orders = devnet.json(&["query", "market", "order", "list", "--state", "open"]);
    let dseqs: Vec<_> = orders["orders"].as_array().unwrap().iter().collect();
    let [first, second] = [0, 1].map(|at| dseqs[at]["id"]["dseq"].as_str().unwrap());
    let of_tenant = ["--owner", &tenant, "--dseq", first];
    let bid = ["market", "bid", "create", "--price", "50uact"];
    devnet.tx("operator", &[&bid[..], &of_tenant].concat());
    let of_operator = ["--dseq", first, "--provider", &operator];
    devnet.tx("tenant", &[&["market", "lease", "create"], &of_operator[..]].concat());

    // The same documents as from the program, which recordings show to be a node's.
    let market = "/akash/market/v1beta5";
    for (url, query) in [
        (
            format!("{market}/orders/list?filters.state=open"),
            vec!["market", "order", "list", "--state", "open"],
        ),
        (
            format!("{market}/bids/list?filters.provider={operator}"),
            vec!["market", "bid", "list", "--provider", &operator],
        ),
        (
            format!("/akash/cert/v1/certificates/list?filter.owner={tenant}&filter.state=valid"),
            vec!["cert", "list", "--owner", &tenant, "--state", "valid"],
        ),
        ("/akash/provider/v1beta4/providers".to_owned(), vec!["provider", "list"]),
        (format!("/cosmos/bank/v1beta1/balances/{operator}"), vec!["bank", "balances", &operator]),
    ] {
        let answer = devnet.get(&url);
        let key = answer.as_object().unwrap().keys().find(|key| *key != "pagination").unwrap();
        assert_eq!(answer[key], devnet.json(&[&["query"], &query[..]].concat())[key], "{url}");
        assert_ne!(answer[key], serde_json::json!([]), "{url}");
    }
    let leases =
        devnet.get(&format!("{market}/leases/list?filters.owner={tenant}&filters.dseq={first}"));
    let lease = &leases["leases"][0]["lease"];
    assert_eq!((&lease["id"]["dseq"], &lease["state"]), (&first.into(), &"active".into()));
    assert_eq!(lease["price"]["amount"], "50.000000000000000000");
    assert_eq!(leases["leases"].as_array().unwrap().len(), 1);
    let none =
        devnet.get(&format!("{market}/leases/list?filters.owner={tenant}&filters.dseq={second}"));
    assert_eq!(none["leases"], serde_json::json!([]));

    // Pages: one after the other by key, from the end, and counted.
    let deployments = "/akash/deployment/v1beta4/deployments/list";
    let page = |more: &str| {
        devnet.get(&format!("{deployments}?filters.owner={tenant}&pagination.limit=1{more}"))
    };
    let dseq = |page: &Value| page["deployments"][0]["deployment"]["id"]["dseq"].clone();
    let (one, last) = (page(""), page("&pagination.reverse=true"));
    let key = one["pagination"]["next_key"].as_str().unwrap().replace('+', "%2B");
    let two = page(&format!("&pagination.key={key}"));
    assert_eq!([dseq(&one), dseq(&two), dseq(&last)], [first, second, second]);
    assert_eq!(two["pagination"]["next_key"], Value::Null);
    assert_eq!(
        dseq(&page("&filters.state=active&pagination.offset=1&pagination.count_total=true")),
        second
    );

    let node = devnet.get("/cosmos/base/tendermint/v1beta1/node_info");
    assert_eq!(node["default_node_info"]["network"], "local");
    let latest = devnet.get("/cosmos/base/tendermint/v1beta1/blocks/latest");
    let height = latest["block"]["header"]["height"].as_str().unwrap();
    let same = devnet.get(&format!("/cosmos/base/tendermint/v1beta1/blocks/{height}"));
    assert_eq!(same["block_id"], latest["block_id"]);

    // Errors, and pages of a web browser.
    let refused = |target: &str| {
        let (status, _, answer) = devnet.rest("GET", target, "");
        assert_eq!(answer["details"], serde_json::json!([]));
        (status, answer["code"].as_i64().unwrap())
    };
    assert_eq!(refused(&format!("/akash/provider/v1beta4/providers/{tenant}")), (404, 5));
    assert_eq!(refused(&format!("{market}/orders/list?filters.state=bogus")), (400, 3));
    assert_eq!(refused(&format!("{market}/orders/list?pagination.limit=many")), (400, 3));
    assert_eq!(refused(&format!("/akash/audit/v1/audit/attributes/{operator}/list")), (404, 5));
    assert_eq!(refused("/akash/nothing"), (501, 12));
    let (status, head, _) = devnet.rest("OPTIONS", deployments, "");
    assert_eq!(status, 200);
    assert!(head.contains("access-control-allow-origin: *"), "{head}");
    let (status, _, answer) =
        devnet.rest("POST", "/cosmos/tx/v1beta1/simulate", "{\"tx_bytes\":\"AA==\"}");
    assert_eq!((status, answer["code"].as_i64()), (500, Some(2)), "{answer}");
}

#[test]
fn a_chain_goes_on_where_it_was() {
    let devnet = Devnet::start();
    let operator = devnet.address("operator");
    devnet.tx("faucet", &["bank", "send", &operator, "5akt"]);
    let balance = devnet.balance(&operator, "uakt");
    let devnet = Devnet::start_in(devnet.stop());
    assert_eq!(devnet.address("operator"), operator);
    assert_eq!(devnet.balance(&operator, "uakt"), balance);
    let state = text(devnet.state.path()).to_owned();
    let other = [
        "devnet",
        "--state",
        &state,
        "--chain-id",
        "other",
        "--rpc-addr",
        "127.0.0.1:0",
        "--grpc-addr",
        "127.0.0.1:0",
        "--api-addr",
        "127.0.0.1:0",
    ];
    let error = run_with(&other, &[], b"").refused();
    assert!(error.contains("--chain-id") && error.contains("--state"), "{error}");
}

#[test]
fn a_grantee_closes_the_deployment_of_its_granter() {
    let devnet = Devnet::start();
    let (operator, tenant) = (devnet.address("operator"), devnet.address("tenant"));
    let sdl = repository("examples/hello.yaml");
    devnet.tx("tenant", &["deployment", "create", text(&sdl)]);
    let orders = devnet.json(&["query", "market", "order", "list", "--owner", &tenant]);
    let dseq = orders["orders"][0]["id"]["dseq"].as_str().unwrap().to_owned();

    // What the tenant would send, if it were here.
    let close = ["tx", "deployment", "close", "--dseq", &dseq, "--from", &tenant];
    let close = devnet.json(&[&close[..], &["--generate-only", "--gas", "1"]].concat());
    let file = devnet.state.path().join("close.json");
    std::fs::write(&file, close.to_string()).unwrap();
    let exec = ["authz", "exec", text(&file)];
    let early = [&["tx"], &exec[..], &["--from", "operator", "-y"]].concat();
    let error = devnet.run(&early).refused();
    assert!(error.contains("authorization not found"), "{error}");

    let kind = "/akash.deployment.v1beta4.MsgCloseDeployment";
    devnet.tx("tenant", &["authz", "grant", &operator, "generic", "--msg-type", kind]);
    devnet.tx("operator", &exec);
    let get = ["query", "deployment", "get", "--owner", &tenant, "--dseq", &dseq];
    assert_eq!(devnet.json(&get)["deployment"]["state"], "closed");
}

#[test]
fn a_transaction_is_made_signed_and_sent_by_three() {
    let devnet = Devnet::start();
    let (operator, tenant) = (devnet.address("operator"), devnet.address("tenant"));
    let before = devnet.balance(&operator, "uakt");
    let send = ["tx", "bank", "send", &operator, "7uakt", "--from", &tenant];
    let unsigned = devnet.json(&[&send[..], &["--generate-only", "--gas", "200000"]].concat());
    let file = devnet.state.path().join("tx.json");
    std::fs::write(&file, unsigned.to_string()).unwrap();
    let signed = devnet.json(&["tx", "sign", text(&file), "--from", "tenant"]);
    std::fs::write(&file, signed.to_string()).unwrap();
    let sent = devnet.json(&["tx", "broadcast", text(&file)]);
    assert_eq!(sent["code"], 0, "{sent}");
    assert_eq!(devnet.balance(&operator, "uakt"), before + 7);
    // Its sequence is used up.
    let again = devnet.run(&["tx", "broadcast", text(&file)]);
    assert_eq!(again.code, 1, "{}", again.stderr);
    assert!(again.stderr.contains("failed"), "{}", again.stderr);
}
