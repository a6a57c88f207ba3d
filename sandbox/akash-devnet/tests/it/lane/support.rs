//! A devnet with a tenant and a provider, and a lane that follows it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use akash_chain::query::{Connection, Node, Query};
use akash_chain::transport::{Endpoint, Limits, RpcClient};
use akash_chain::tx::lane::{IntentEnd, LaneBlock, LaneConfig, LaneHandle, LaneStatus, LaneTask};
use akash_chain::tx::message::deployment::{CreateDeployment, close_deployment, create_deployment};
use akash_chain::tx::message::market::create_lease;
use akash_chain::tx::message::provider::create_provider;
use akash_chain::tx::{
    Broadcast, BroadcastMode, Fee, FeeRule, Message, SignedTx, TxPlan, Unsigned, Wait, broadcast,
};
use akash_devnet::node::Chain;
use akash_devnet::server::{Config, Devnet};
use akash_devnet::state::{Genesis, State};
use akash_keys::SecretKey;
use akash_sdl::Sdl;
use akash_types::{
    Action, Address, BidId, BidOffer, Coin, DeploymentId, Deposit, GroupId, GroupSpec, Intent,
    IntentId, OrderId, Outcome, Provider,
};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const CHAIN: &str = "lane";
const START: i64 = 1_794_768_756_000_000_000;
const PATIENCE: Duration = Duration::from_secs(180);

pub(crate) fn key(seed: u8) -> SecretKey {
    SecretKey::from_bytes(&[seed; 32]).unwrap()
}

pub(crate) fn address(seed: u8) -> Address {
    key(seed).public_key().address()
}

/// Who they are, by the seed of their key.
pub(crate) const TENANT: u8 = 1;
pub(crate) const PROVIDER: u8 = 2;
pub(crate) const HOT: u8 = 3;
pub(crate) const PATRON: u8 = 4;

pub(crate) struct Bed {
    pub(crate) devnet: Devnet,
    pub(crate) node: Node,
    pub(crate) query: Query<Connection>,
    sequences: BTreeMap<u8, u64>,
    next_deployment: u64,
    pub(crate) height: u64,
}

pub(crate) struct Running {
    pub(crate) handle: LaneHandle,
    pub(crate) ended: mpsc::UnboundedReceiver<IntentEnd>,
    pub(crate) task: JoinHandle<()>,
    account: Address,
    /// The newest block it was shown.
    pub(crate) shown: Cell<u64>,
}

pub(crate) fn config(seed: u8) -> LaneConfig {
    LaneConfig::new(address(seed), FeeRule::parse("", "0.025uakt").unwrap())
}

async fn devnet(home: Option<&Path>, ports: Option<(SocketAddr, SocketAddr)>) -> Devnet {
    let rich: Vec<Coin> =
        ["1000000000000uact", "1000000000000uakt"].map(|coin| coin.parse().unwrap()).to_vec();
    let accounts = [TENANT, PROVIDER, HOT, PATRON].map(|seed| (address(seed), rich.clone()));
    let genesis = Genesis::for_devnet(CHAIN, START, accounts.to_vec());
    let mut config = Config::new(Chain::new(CHAIN, 1, START));
    config.block_time = None;
    config.home = home.map(Path::to_owned);
    if let Some((rpc, grpc)) = ports {
        (config.rpc, config.grpc) = (rpc, grpc);
    }
    Devnet::start(config, State::from_genesis(&genesis).unwrap(), |_| {}).await.unwrap()
}

impl Bed {
    pub(crate) async fn start(home: Option<&Path>) -> Self {
        let devnet = devnet(home, None).await;
        let endpoint = Endpoint::rpc(&format!("http://{}", devnet.rpc_address())).unwrap();
        let grpc = Endpoint::grpc(&format!("http://{}", devnet.grpc_address())).unwrap();
        let limits = Limits::default();
        let rpc = RpcClient::new(endpoint, limits).unwrap();
        let query = Query::new(Connection::new(&rpc, Some(&grpc), limits).unwrap());
        let node = Node::new(rpc);
        let (sequences, next_deployment) = (BTreeMap::new(), 1);
        let mut bed = Self { devnet, node, query, sequences, next_deployment, height: 1 };
        let record = create_provider(Provider {
            owner: address(PROVIDER),
            host_uri: "https://provider.example.com:8443".into(),
            attributes: Vec::new(),
            email: String::new(),
            website: String::new(),
        });
        bed.send(PROVIDER, &[record.unwrap()]).await;
        bed.silent_block().await;
        bed
    }

    /// The node ends and starts again on the same ports; its mempool is gone.
    pub(crate) async fn restart_node(mut self, home: &Path) -> Self {
        let ports = (self.devnet.rpc_address(), self.devnet.grpc_address());
        self.devnet.shutdown().await.unwrap();
        self.devnet = devnet(Some(home), Some(ports)).await;
        self
    }

    fn account_number(seed: u8) -> u64 {
        u64::from(seed) - 1
    }

    pub(crate) fn sign(&mut self, seed: u8, messages: &[Message]) -> SignedTx {
        let fee = Fee {
            amount: vec!["300000uakt".parse().unwrap()],
            gas_limit: 12_000_000,
            granter: None,
        };
        let sequence = self.sequences.entry(seed).or_default();
        let plan = TxPlan {
            chain_id: CHAIN,
            account_number: Self::account_number(seed),
            sequence: *sequence,
            messages,
            fee: &fee,
            memo: "",
            timeout_height: 0,
        };
        *sequence += 1;
        Unsigned::new(&plan, &key(seed)).unwrap().sign()
    }

    /// Gives a transaction of somebody to the node.
    pub(crate) async fn send(&mut self, seed: u8, messages: &[Message]) {
        let tx = self.sign(seed, messages);
        let sent = broadcast(&self.node, &tx, BroadcastMode::Sync, Wait::default()).await.unwrap();
        assert_eq!(sent, Broadcast::Pending);
    }

    /// The lane sends for this account too; what follows comes after that.
    pub(crate) async fn read_sequence(&mut self, seed: u8) {
        let account = self.query.account(address(seed)).await.unwrap().value.unwrap();
        self.sequences.insert(seed, account.sequence);
    }

    /// A block that no lane hears of.
    pub(crate) async fn silent_block(&mut self) {
        let block = self.devnet.produce_block(None).await.unwrap();
        for result in &block.results {
            assert_eq!(result.code, 0, "{}", result.log);
        }
        self.height = block.height();
    }

    /// A block that the lane hears of; how many transactions are in it.
    pub(crate) async fn block(&mut self, lane: &Running) -> usize {
        let block = self.devnet.produce_block(None).await.unwrap();
        self.height = block.height();
        let unix_time = u64::try_from(block.header.time_unix_nanos / 1_000_000_000).unwrap();
        for height in lane.shown.replace(self.height) + 1..=self.height {
            let results = self.node.block_results(height).await.unwrap();
            lane.handle.block(LaneBlock::of(&results, unix_time, lane.account)).await.unwrap();
        }
        block.txs.len()
    }

    /// Creates deployments with so many groups each, in a block.
    pub(crate) async fn orders(&mut self, count: u64, groups: u32) -> Vec<OrderId> {
        let first = self.next_deployment;
        self.next_deployment += count;
        let mut orders = Vec::new();
        let ids: Vec<DeploymentId> = (first..first + count)
            .map(|dseq| DeploymentId::new(address(TENANT), dseq).unwrap())
            .collect();
        for ids in ids.chunks(50) {
            let messages: Vec<Message> = ids.iter().map(|id| deployment(*id, groups)).collect();
            self.send(TENANT, &messages).await;
            for (id, gseq) in ids.iter().flat_map(|id| (1..=groups).map(move |gseq| (id, gseq))) {
                orders.push(OrderId::new(GroupId::new(*id, gseq).unwrap(), 1).unwrap());
            }
        }
        self.silent_block().await;
        orders
    }

    pub(crate) async fn close_orders(&mut self, orders: impl Iterator<Item = &OrderId>) {
        let messages: Vec<Message> =
            orders.map(|order| close_deployment(order.deployment_id())).collect();
        self.send(TENANT, &messages).await;
    }

    pub(crate) async fn lease(&mut self, bids: &[BidId]) {
        let messages: Vec<Message> = bids.iter().map(|bid| create_lease(*bid).unwrap()).collect();
        self.send(TENANT, &messages).await;
    }

    pub(crate) fn lane(&self, config: LaneConfig, seed: u8) -> Running {
        let account = config.account;
        let (query, node) = (self.query.clone(), self.node.clone());
        let (task, handle, ended) = LaneTask::new(config, key(seed), CHAIN.to_owned(), query, node);
        let shown = Cell::new(self.height);
        Running { handle, ended, task: tokio::spawn(task.run()), account, shown }
    }
}

impl Running {
    pub(crate) async fn wait(&self, what: &str, is_so: impl Fn(&LaneStatus) -> bool) -> LaneStatus {
        let mut watch = self.handle.watch();
        let waited = timeout(PATIENCE, watch.wait_for(|status| is_so(status))).await;
        match waited {
            Ok(status) => status.unwrap().clone(),
            Err(_) => panic!("not so: {what}: {:#?}", self.handle.status()),
        }
    }

    pub(crate) async fn in_flight(&self, messages: usize) -> LaneStatus {
        self.wait("messages in flight", |status| {
            status.messages_in_flight == messages && status.txs_unanswered == 0
        })
        .await
    }

    pub(crate) async fn outcome(&mut self) -> (IntentId, Outcome) {
        let end = timeout(PATIENCE, self.ended.recv()).await.expect("an intent ends").unwrap();
        (end.intent, end.outcome)
    }

    pub(crate) async fn outcomes(&mut self, count: usize) -> BTreeMap<u64, Outcome> {
        let mut outcomes = BTreeMap::new();
        for _ in 0..count {
            let (id, outcome) = self.outcome().await;
            assert_eq!(outcomes.insert(id.0, outcome), None, "{id} ended twice");
        }
        outcomes
    }
}

pub(crate) fn groups(count: u32) -> Vec<GroupSpec> {
    let sdl = Sdl::read(include_str!("../../../../../examples/hello.yaml")).unwrap();
    let group = sdl.groups()[0].clone();
    (1..=count).map(|number| GroupSpec { name: format!("g{number}"), ..group.clone() }).collect()
}

fn deployment(id: DeploymentId, count: u32) -> Message {
    create_deployment(CreateDeployment {
        id,
        groups: groups(count),
        hash: [7; 32],
        deposit: Deposit::from_balance("5000000uact".parse().unwrap()),
        reclamation_min_window: None,
    })
    .unwrap()
}

pub(crate) fn bid_intent(id: u64, order: OrderId, height: u64) -> Intent {
    let offer = BidOffer {
        id: order.bid_id(address(PROVIDER)),
        price: "500uact".parse().unwrap(),
        deposit: Deposit::from_balance("500000uakt".parse().unwrap()),
        resources_offer: Vec::new(),
        reclamation_window: None,
    };
    Intent::new(IntentId(id), Action::CreateBid(Box::new(offer)), height)
}

pub(crate) fn bid_intents(orders: &[OrderId], height: u64) -> Vec<Intent> {
    (0..).zip(orders).map(|(id, order)| bid_intent(id, *order, height)).collect()
}
