//! Nodes of one chain, and a consumer that checks what it gets.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use akash_chain::follow::{
    FollowConfig, FollowStatus, Followed, FollowedBlock, Follower, Health, PlanConfig, Resync,
    Unusable,
};
use akash_chain::transport::Endpoint;
use akash_devnet::node;
use akash_devnet::server::{Config, Devnet};
use akash_types::{Backoff, ChainEvent};
use tokio::time::timeout;

use crate::follow::orders::Orders;

pub(crate) const CHAIN: &str = "local";
/// What the chain's clock says from block to block, and what the follower believes.
pub(crate) const BLOCK_TIME: Duration = Duration::from_millis(100);
/// Longer than anything here may take, however busy the machine is.
const LONG: Duration = Duration::from_secs(180);
const START: i64 = 1_700_000_000_000_000_000;

pub(crate) struct Nodes {
    pub(crate) devnets: Vec<Devnet>,
    pub(crate) height: u64,
    /// Distance of the blocks in chain time: another one makes another branch.
    step: i64,
}

pub(crate) async fn devnet(chain_id: &str, home: Option<&Path>) -> Devnet {
    let mut config = Config::new(node::Chain::new(chain_id, 1, START));
    config.block_time = None;
    config.home = home.map(Path::to_owned);
    Devnet::start(config, Orders::new(1), |_| {}).await.unwrap()
}

impl Nodes {
    /// So many nodes with so many blocks.
    pub(crate) async fn start(count: usize, blocks: u64) -> Self {
        Self::start_on_branch(count, blocks, 100_000_000).await
    }

    pub(crate) async fn start_on_branch(count: usize, blocks: u64, step: i64) -> Self {
        let mut devnets = Vec::new();
        for _ in 0..count {
            devnets.push(devnet(CHAIN, None).await);
        }
        let mut nodes = Self { devnets, height: 1, step };
        nodes.make(blocks - 1).await;
        nodes
    }

    /// Makes blocks on all nodes.
    pub(crate) async fn make(&mut self, blocks: u64) {
        for _ in 0..blocks {
            self.height += 1;
            let time = START + i64::try_from(self.height).unwrap() * self.step;
            for devnet in &self.devnets {
                let block = devnet.produce_block(Some(time)).await.unwrap();
                assert_eq!(block.height(), self.height);
            }
        }
    }

    /// Makes blocks as they come in life.
    pub(crate) async fn make_in_time(&mut self, blocks: u64) {
        for _ in 0..blocks {
            tokio::time::sleep(BLOCK_TIME).await;
            self.make(1).await;
        }
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.devnets.iter().map(Devnet::rpc_address).collect()
    }
}

pub(crate) fn config(addresses: &[SocketAddr]) -> FollowConfig {
    let nodes = addresses.iter().map(|at| Endpoint::rpc(&format!("http://{at}")).unwrap());
    let plan = PlanConfig {
        block_time_floor: BLOCK_TIME,
        block_time_ceiling: BLOCK_TIME,
        backoff: Backoff { first: Duration::from_millis(50), most: Duration::from_millis(400) },
        patience: Duration::from_secs(5),
        max_gap: 1_000,
        ..PlanConfig::new(CHAIN)
    };
    FollowConfig { plan, ..FollowConfig::new(CHAIN, nodes.collect()) }
}

/// A consumer: every height once, each with its order.
pub(crate) struct Consumer {
    pub(crate) follower: Follower,
    pub(crate) cursor: u64,
}

impl Consumer {
    pub(crate) fn start(addresses: &[SocketAddr], from: u64) -> Self {
        Self::start_with(config(addresses), from)
    }

    pub(crate) fn start_with(config: FollowConfig, from: u64) -> Self {
        Self { follower: Follower::start(config, Some(from)).unwrap(), cursor: from }
    }

    pub(crate) async fn item(&mut self) -> Followed {
        let status = self.follower.status();
        let item = timeout(LONG, self.follower.next()).await;
        item.unwrap_or_else(|_| panic!("nothing after {}: {:?}", self.cursor, status.borrow()))
            .unwrap()
    }

    pub(crate) async fn block(&mut self) -> FollowedBlock {
        let Followed::Block(block) = self.item().await else { panic!("resync") };
        self.cursor += 1;
        assert_eq!(block.height, self.cursor);
        let orders: Vec<u64> = block
            .effects
            .events
            .iter()
            .map(|event| match &event.event {
                ChainEvent::OrderCreated { id } => id.dseq(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(orders, [self.cursor]);
        block
    }

    pub(crate) async fn resync(&mut self) -> Resync {
        let Followed::Resync(resync) = self.item().await else { panic!("block") };
        assert_eq!(resync.from, self.cursor + 1);
        self.cursor = resync.to;
        resync
    }

    pub(crate) async fn reach(&mut self, height: u64) {
        while self.cursor < height {
            self.block().await;
        }
    }

    /// Waits until things are as wanted.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&FollowStatus) -> bool) -> FollowStatus {
        let mut status = self.follower.status();
        let found = timeout(LONG, status.wait_for(|status| wanted(status))).await;
        let found = found.map(|found| found.unwrap().clone());
        found.unwrap_or_else(|_| panic!("{:?}", self.follower.status().borrow()))
    }

    /// Waits for the reason why a node is not used.
    pub(crate) async fn unusable(&mut self, node: usize) -> Unusable {
        let is_out = |status: &FollowStatus| {
            matches!(status.nodes.get(node).map(|node| &node.health), Some(Health::Unusable(_)))
        };
        let status = self.until(is_out).await;
        match &status.nodes[node].health {
            Health::Unusable(fault) => fault.clone(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn usable(&mut self, node: usize) {
        self.until(|status| status.nodes[node].health == Health::Usable).await;
    }
}
