//! Any faults in any order, from a seed: every block is seen exactly once.

use std::time::Duration;

use provider_testkit::proxy::{Direction, Mode, Proxy};
use tokio::task::JoinSet;

use crate::follow::support::{Consumer, Nodes};

/// Runs at the same time: they mostly wait.
const TOGETHER: usize = 10;

struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % end
    }
}

async fn run(seed: u64) {
    let mut chance = Chance(seed);
    let mut nodes = Nodes::start(2, 20).await;
    let mut proxies = Vec::new();
    for address in nodes.addresses() {
        proxies.push(Proxy::start(address).await.unwrap());
    }
    let addresses: Vec<_> = proxies.iter().map(Proxy::address).collect();
    let mut consumer = Consumer::start(&addresses, 0);
    consumer.reach(1).await;
    for _ in 0..8 {
        let which = usize::try_from(chance.below(2)).unwrap();
        let (proxy, faults) = (&proxies[which], nodes.devnets[which].faults());
        match chance.below(14) {
            0 => proxy.set(Mode::Blackhole(None)),
            1 => proxy.set_open(Mode::Blackhole(None)),
            2 => proxy.set_open(Mode::Blackhole(Some(Direction::ToServer))),
            3 => proxy.set_open(Mode::Blackhole(Some(Direction::ToClient))),
            4 => proxy.set_open(Mode::Reset),
            5 => proxy.set(Mode::Refuse),
            6 => proxy.set(Mode::Chop { seed: chance.below(1_000) }),
            7 => proxy.set(Mode::Delay(Duration::from_millis(chance.below(120)))),
            8 => faults.change(|plan| plan.lag = 50),
            9 => faults.change(|plan| plan.catching_up = true),
            10 => faults.fail("block_results", "database is locked", Some(9)),
            11 => faults.change(|plan| plan.drop_block_events = true),
            12 => faults.fail("status", "no", Some(3)),
            _ => {
                proxy.set(Mode::Pass);
                faults.clear();
            }
        }
        nodes.make_in_time(chance.below(4)).await;
        nodes.make(chance.below(30)).await;
    }
    for (proxy, devnet) in proxies.iter().zip(&nodes.devnets) {
        proxy.set(Mode::Pass);
        devnet.faults().clear();
    }
    nodes.make(3).await;
    consumer.reach(nodes.height).await;
    consumer.usable(0).await;
    consumer.usable(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_block_is_seen_exactly_once_whatever_goes_wrong() {
    let runs = if std::env::var_os("AKASH_TEST_FULL").is_some() { 300 } else { 20 };
    let mut running = JoinSet::new();
    for seed in 0..runs {
        if running.len() >= TOGETHER {
            running.join_next().await.unwrap().unwrap();
        }
        running.spawn(async move {
            let outcome = tokio::spawn(run(seed)).await;
            assert!(outcome.is_ok(), "seed {seed}");
        });
    }
    while let Some(outcome) = running.join_next().await {
        outcome.unwrap();
    }
}
