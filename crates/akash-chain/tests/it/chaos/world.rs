//! A devnet that keeps its blocks, and the proxies in front of it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use akash_chain::query::{Connection, Node, Query, QueryError};
use akash_chain::transport::{Endpoint, Limits, RpcClient};
use akash_chain::tx::{Broadcast, BroadcastMode, Fee, Message, TxPlan, Unsigned, Wait, broadcast};
use akash_devnet::node::{Block, Chain};
use akash_devnet::server::{Config, Devnet};
use akash_devnet::state::{Genesis, State};
use akash_keys::SecretKey;
use akash_types::{Address, Coin};
use provider_testkit::proxy::Proxy;
use tempfile::TempDir;

pub(crate) const CHAIN: &str = "chaos";
const START: i64 = 1_700_000_000_000_000_000;

/// Who they are, by the seed of their key; their account numbers are one less.
pub(crate) const TENANT: u8 = 1;
pub(crate) const PROVIDER: u8 = 2;

pub(crate) fn key(seed: u8) -> SecretKey {
    SecretKey::from_bytes(&[seed; 32]).unwrap()
}

pub(crate) fn address(seed: u8) -> Address {
    key(seed).public_key().address()
}

/// A node, its files, and two ways to its RPC and one to its gRPC that can be broken.
pub(crate) struct World {
    home: TempDir,
    pub(crate) devnet: Devnet,
    pub(crate) rpc: [Proxy; 2],
    pub(crate) grpc: Proxy,
    pub(crate) node: Node,
    pub(crate) query: Query<Connection>,
    /// What each account's next transaction is signed with, as far as is known.
    sequences: BTreeMap<u8, u64>,
}

async fn start(home: &TempDir) -> Devnet {
    let rich: Vec<Coin> =
        ["1000000000000uact", "1000000000000uakt"].map(|coin| coin.parse().unwrap()).to_vec();
    let accounts = [TENANT, PROVIDER].map(|seed| (address(seed), rich.clone()));
    let genesis = Genesis::for_devnet(CHAIN, START, accounts.to_vec());
    let mut config = Config::new(Chain::new(CHAIN, 1, START));
    config.block_time = None;
    config.home = Some(home.path().to_owned());
    Devnet::start(config, State::from_genesis(&genesis).unwrap(), |_| {}).await.unwrap()
}

fn clients(devnet: &Devnet) -> (Node, Query<Connection>) {
    let limits = Limits::default();
    let rpc = RpcClient::new(rpc(devnet.rpc_address()), limits).unwrap();
    let query = Query::new(Connection::new(&rpc, None, limits).unwrap());
    (Node::new(rpc), query)
}

pub(crate) fn rpc(address: SocketAddr) -> Endpoint {
    Endpoint::rpc(&format!("http://{address}")).unwrap()
}

/// Asks until there is an answer: that a connection was cut while there was trouble is found out
/// only when it is used again.
pub(crate) async fn insist<T, F>(ask: impl Fn() -> F) -> T
where
    F: Future<Output = Result<T, QueryError>>,
{
    let mut tries = 0;
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) if error.is_transient() && tries < 10 => tries += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
}

impl World {
    pub(crate) async fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let devnet = start(&home).await;
        let rpc = [
            Proxy::start(devnet.rpc_address()).await.unwrap(),
            Proxy::start(devnet.rpc_address()).await.unwrap(),
        ];
        let grpc = Proxy::start(devnet.grpc_address()).await.unwrap();
        let (node, query) = clients(&devnet);
        Self { home, devnet, rpc, grpc, node, query, sequences: BTreeMap::new() }
    }

    pub(crate) fn proxies(&self) -> [&Proxy; 3] {
        [&self.rpc[0], &self.rpc[1], &self.grpc]
    }

    /// The node dies, while it makes a block or not, and starts again from its files. What waited
    /// for a block is gone.
    pub(crate) async fn kill_node(mut self, while_making_a_block: Option<Duration>) -> Self {
        if let Some(after) = while_making_a_block {
            let _ = tokio::time::timeout(after, self.devnet.produce_block(None)).await;
        }
        drop(self.devnet);
        self.devnet = start(&self.home).await;
        self.reconnect();
        self
    }

    pub(crate) async fn restart_node(mut self) -> Self {
        self.devnet.shutdown().await.unwrap();
        self.devnet = start(&self.home).await;
        self.reconnect();
        self
    }

    fn reconnect(&mut self) {
        self.rpc.iter().for_each(|proxy| proxy.retarget(self.devnet.rpc_address()));
        self.grpc.retarget(self.devnet.grpc_address());
        (self.node, self.query) = clients(&self.devnet);
    }

    pub(crate) async fn block(&self) -> Arc<Block> {
        self.devnet.produce_block(None).await.unwrap()
    }

    /// Gives a transaction of somebody to the node; whether it took it. A node in trouble may not.
    pub(crate) async fn send(&mut self, seed: u8, messages: &[Message]) -> bool {
        for _ in 0..2 {
            let sequence = self.sequences.get(&seed).copied().unwrap_or_default();
            let fee = Fee {
                amount: vec!["300000uakt".parse().unwrap()],
                gas_limit: 2_000_000,
                granter: None,
            };
            let plan = TxPlan {
                chain_id: CHAIN,
                account_number: u64::from(seed) - 1,
                sequence,
                messages,
                fee: &fee,
                memo: "",
                timeout_height: 0,
            };
            let tx = Unsigned::new(&plan, &key(seed)).unwrap().sign();
            let sent = broadcast(&self.node, &tx, BroadcastMode::Sync, Wait::default()).await;
            let due = match sent {
                Ok(Broadcast::Pending) => {
                    self.sequences.insert(seed, sequence + 1);
                    return true;
                }
                Ok(answer) => answer.refusal().and_then(|refusal| refusal.sequence_mismatch()),
                Err(_) => None,
            };
            let Some(due) = due else { return false };
            self.sequences.insert(seed, due.expected);
        }
        false
    }
}
