//! The node: this program again, as a process of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, SystemTime};

use akash_chain::query::{Connection, Node, Query};
use akash_chain::transport::{Endpoint, Limits, RpcClient};
use akash_devnet::node::Chain;
use akash_devnet::server::{Config, Devnet};
use akash_devnet::state::{Genesis, State};
use akash_keys::SecretKey;
use akash_types::{Address, Coin};

/// What the program is started with to be a node.
pub(crate) const WORD: &str = "serve-devnet";
pub(crate) const CHAIN: &str = "bench";

pub(crate) fn key(seed: u8) -> SecretKey {
    SecretKey::from_bytes(&[seed; 32]).unwrap()
}

pub(crate) fn address(seed: u8) -> Address {
    key(seed).public_key().address()
}

/// Makes a block every second until its input ends.
pub(crate) fn serve() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let start = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let start = i64::try_from(start.as_nanos()).unwrap();
        let rich: Vec<Coin> = ["1000000000000000uact", "1000000000000000uakt"]
            .map(|coin| coin.parse().unwrap())
            .to_vec();
        let accounts = [1, 2].map(|seed| (address(seed), rich.clone()));
        let genesis = Genesis::for_devnet(CHAIN, start, accounts.to_vec());
        let mut config = Config::new(Chain::new(CHAIN, 1, start));
        config.block_time = Some(Duration::from_secs(1));
        let state = State::from_genesis(&genesis).unwrap();
        let devnet = Devnet::start(config, state, |_| {}).await.unwrap();
        println!("{} {}", devnet.rpc_address(), devnet.grpc_address());
        std::io::stdout().flush().unwrap();
        let wait = tokio::task::spawn_blocking(|| {
            let _ = std::io::stdin().read(&mut [0]);
        });
        wait.await.unwrap();
    });
}

/// A node that ends with this value.
pub(crate) struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    pub(crate) node: Node,
    pub(crate) query: Query<Connection>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(WORD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (rpc, grpc) = line.trim().split_once(' ').unwrap();
        let limits = Limits::default();
        let rpc = Endpoint::rpc(&format!("http://{rpc}")).unwrap();
        let rpc = RpcClient::new(rpc, limits).unwrap();
        let grpc = Endpoint::grpc(&format!("http://{grpc}")).unwrap();
        let query = Query::new(Connection::new(&rpc, Some(&grpc), limits).unwrap());
        Self { stdin: child.stdin.take(), child, node: Node::new(rpc), query }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
