//! Bursts of orders in one block of one second: how many blocks later the last bid is in, in how
//! many transactions, and what a bid costs in CPU time of the process that signs.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_chain::query::BlockResults;
use akash_chain::tx::FeeRule;
use akash_chain::tx::lane::{IntentEnd, LaneBlock, LaneConfig, LaneHandle, LaneTask};
use akash_types::{OrderId, Outcome};
use figures::print;
use tokio::sync::mpsc;

use super::market::{
    Account, PROVIDER, TENANT, bid, closed, deployment, group, orders, registration,
};
use super::node::{CHAIN, Server, address, key};

/// How often the follower of this bench looks for the next block.
const LOOK: Duration = Duration::from_millis(5);
/// Gas of a deployment beside its groups, and of each group.
const DEPLOYMENT_GAS: u64 = 75_000;
const GROUP_GAS: u64 = 52_000;

struct Bench {
    server: Server,
    lane: LaneHandle,
    ended: mpsc::UnboundedReceiver<IntentEnd>,
    tenant: Account,
    height: u64,
    dseq: u64,
}

struct Burst {
    blocks: u64,
    txs: usize,
    executed: usize,
    cpu: Duration,
}

pub(crate) fn run() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut bench = Bench::start().await;
        let burst = bench.burst(100, 1, false).await;
        assert_eq!(burst.executed, 100);
        print("bids_100_blocks", burst.blocks, "blocks");
        print("bids_100_txs", burst.txs, "transactions");
        let burst = bench.burst(100, 1, true).await;
        assert_eq!(burst.executed, 90);
        print("bids_100_churn_blocks", burst.blocks, "blocks");
        let burst = bench.burst(50, 20, false).await;
        assert_eq!(burst.executed, 1_000);
        print("bids_1000_blocks", burst.blocks, "blocks");
        print("bids_1000_txs", burst.txs, "transactions");
        print("cpu_us_per_msg", burst.cpu.as_micros() / 1_000, "us");
    });
}

impl Bench {
    async fn start() -> Self {
        let server = Server::start();
        let mut provider = Account::new(PROVIDER);
        provider.send(&server.node, 500_000, &[registration()]).await;
        let config = LaneConfig::new(address(PROVIDER), FeeRule::parse("", "0.025uakt").unwrap());
        let (query, node) = (server.query.clone(), server.node.clone());
        let height = server.node.status().await.unwrap().latest_height;
        let mut bench = {
            let chain = CHAIN.to_owned();
            let (task, lane, ended) = LaneTask::new(config, key(PROVIDER), chain, query, node);
            tokio::spawn(task.run());
            Self { server, lane, ended, tenant: Account::new(TENANT), height, dseq: 1 }
        };
        // The registration is in, and the lane knows its account.
        bench.next_block().await;
        bench.next_block().await;
        bench
    }

    /// Waits for the next block and shows it to the lane.
    async fn next_block(&mut self) -> BlockResults {
        self.height += 1;
        let results = loop {
            match self.server.node.block_results(self.height).await {
                Ok(results) => break results,
                Err(_) => tokio::time::sleep(LOOK).await,
            }
        };
        self.lane.block(LaneBlock::of(&results, self.height, address(PROVIDER))).await.unwrap();
        results
    }

    /// So many deployments with so many groups each in one block, and a bid on each. With churn
    /// every tenth deployment is closed in the block of the bids, before them.
    async fn burst(&mut self, deployments: u64, groups: u32, churn: bool) -> Burst {
        self.next_block().await;
        let dseqs = self.dseq..self.dseq + deployments;
        self.dseq = dseqs.end;
        for first in dseqs.clone().step_by(25) {
            let some: Vec<_> =
                (first..dseqs.end.min(first + 25)).map(|dseq| deployment(dseq, groups)).collect();
            let each = DEPLOYMENT_GAS + GROUP_GAS * u64::from(groups);
            let gas = 60_000 + each * u64::try_from(some.len()).unwrap();
            self.tenant.send(&self.server.node, gas, &some).await;
        }
        let created = self.next_block().await;
        assert!(created.txs.iter().all(|tx| tx.is_ok()), "{:?}", created.txs.first());
        let ordered = self.height;
        let orders: Vec<OrderId> = orders(dseqs, groups);
        assert_eq!(created.txs.len(), usize::try_from(deployments.div_ceil(25)).unwrap());
        if churn {
            let gone: Vec<_> = orders.iter().step_by(10).map(closed).collect();
            self.tenant.send(&self.server.node, 5_000_000, &gone).await;
        }

        let group = group();
        let before = cpu();
        let intents = (0..).zip(&orders).map(|(id, order)| bid(id, *order, &group, ordered));
        self.lane.submit(intents.collect()).await.unwrap();
        let mut outcomes = BTreeMap::new();
        let mut txs = 0;
        while outcomes.len() < orders.len() {
            let results = self.next_block().await;
            let ours = LaneBlock::of(&results, 0, address(PROVIDER)).txs;
            txs += ours.len();
            // Outcomes follow the block at once; refused ones after one more question.
            tokio::time::sleep(Duration::from_millis(100)).await;
            while let Ok(IntentEnd { intent: id, outcome, .. }) = self.ended.try_recv() {
                outcomes.insert(id, outcome);
            }
        }
        let cpu = cpu().saturating_sub(before);
        let heights: Vec<u64> = outcomes
            .values()
            .filter_map(|outcome| match outcome {
                Outcome::Executed { height } => Some(*height),
                _ => None,
            })
            .collect();
        let last = heights.iter().max().copied().unwrap_or(ordered);
        Burst { blocks: last - ordered, txs, executed: heights.len(), cpu }
    }
}

/// CPU time of all threads of this process.
fn cpu() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let nanos = tasks.filter_map(|task| {
        let stat = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}
