//! Catching up over the loopback with a devnet in the same process: both sides share its cores.

use std::time::{Duration, Instant};

use akash_chain::follow::{FollowConfig, Followed, Follower};
use akash_chain::transport::Endpoint;
use akash_devnet::node::Chain;
use akash_devnet::server::{Config, Devnet};
use figures::print;

use super::orders::Orders;

const CHAIN: &str = "bench";
const BLOCKS: u64 = 10_000;
const EVENTS: u32 = 10;
/// From here on memory should not grow.
const SETTLED: u64 = 1_000;
const START: i64 = 1_700_000_000_000_000_000;

pub(crate) fn run() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut config = Config::new(Chain::new(CHAIN, 1, START));
        config.block_time = None;
        let devnet = Devnet::start(config, Orders::new(EVENTS), |_| {}).await.unwrap();
        for height in 2..=BLOCKS {
            let time = START + i64::try_from(height).unwrap() * 6_000_000_000;
            devnet.produce_block(Some(time)).await.unwrap();
        }
        let endpoint = Endpoint::rpc(&devnet.rpc_address().to_string()).unwrap();

        let start = Instant::now();
        let mut follower =
            Follower::start(FollowConfig::new(CHAIN, vec![endpoint]), Some(0)).unwrap();
        let (mut events, mut settled) = (0, 0);
        for height in 1..=BLOCKS {
            let Some(Followed::Block(block)) = follower.next().await else { panic!("no block") };
            assert_eq!(block.height, height);
            events += block.effects.events.len();
            if height == SETTLED {
                settled = resident();
            }
        }
        let time = start.elapsed();
        assert_eq!(events, usize::try_from(BLOCKS).unwrap() * EVENTS as usize);
        print("follow_blocks_per_s", per_second(BLOCKS, time), "blocks/s");
        let grown = resident().saturating_sub(settled);
        let (whole, tenths) = (grown / 1_000_000, grown / 100_000 % 10);
        print("follow_growth_mb", format!("{whole}.{tenths}"), "MB");
    });
}

fn per_second(count: u64, time: Duration) -> u128 {
    u128::from(count) * 1_000_000 / time.as_micros().max(1)
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}
