//! Our side: started, killed without warning, started again from its journal.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use akash_chain::follow::{FollowConfig, PlanConfig};
use akash_chain::transport::{Endpoint, Limits};
use akash_chain::tx::FeeRule;
use akash_chain::tx::lane::LaneConfig;
use akash_types::{Backoff, BidId};
use provider_testkit::bidder::{self, Entry, Journal, Settings, Stopped, Want};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::chaos::world::{CHAIN, PROVIDER, World, address, key, rpc};

/// What the follower takes for the time between blocks.
const BLOCK_TIME: Duration = Duration::from_millis(50);
/// How long an answer is waited for: on a busy machine a good one takes its time too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// Longer than anything takes by itself, however busy the machine is.
pub(crate) const LONG: Duration = Duration::from_secs(300);

pub(crate) struct Ours {
    pub(crate) journal: Arc<Mutex<Journal>>,
    two_endpoints: bool,
    with_grpc: bool,
    pub(crate) lives: usize,
    task: JoinHandle<Result<(), Stopped>>,
}

fn settings(world: &World, two_endpoints: bool, with_grpc: bool) -> Settings {
    let limits = Limits { dial: PATIENCE, request: PATIENCE, ..Limits::default() };
    let used = if two_endpoints { &world.rpc[..] } else { &world.rpc[..1] };
    let nodes = used.iter().map(|proxy| rpc(proxy.address())).collect();
    let plan = PlanConfig {
        block_time_floor: BLOCK_TIME,
        block_time_ceiling: BLOCK_TIME,
        backoff: Backoff { first: Duration::from_millis(25), most: Duration::from_millis(200) },
        patience: PATIENCE,
        ..PlanConfig::new(CHAIN)
    };
    let fee = FeeRule::parse("", "0.025uakt").unwrap();
    let grpc = Endpoint::grpc(&format!("http://{}", world.grpc.address())).unwrap();
    Settings {
        follow: FollowConfig { plan, limits, ..FollowConfig::new(CHAIN, nodes) },
        rpc: rpc(world.rpc[0].address()),
        grpc: with_grpc.then_some(grpc),
        limits,
        key: key(PROVIDER),
        lane: LaneConfig::new(address(PROVIDER), fee),
    }
}

impl Ours {
    pub(crate) fn start(world: &World, cursor: u64, two_endpoints: bool, with_grpc: bool) -> Self {
        let journal = Arc::new(Mutex::new(Journal::after(cursor)));
        let settings = settings(world, two_endpoints, with_grpc);
        let task = tokio::spawn(bidder::run(settings, Arc::clone(&journal)));
        Self { journal, two_endpoints, with_grpc, lives: 1, task }
    }

    /// Ends it in the middle of whatever it does, and begins a new life.
    pub(crate) async fn kill(&mut self, world: &World) {
        self.check().await;
        self.task.abort();
        let _ = (&mut self.task).await;
        self.lives += 1;
        let settings = settings(world, self.two_endpoints, self.with_grpc);
        self.task = tokio::spawn(bidder::run(settings, Arc::clone(&self.journal)));
    }

    /// It never ends by itself.
    pub(crate) async fn check(&mut self) {
        if self.task.is_finished() {
            panic!("our side stopped: {:?}", (&mut self.task).await);
        }
    }

    /// Waits until it has written a block down.
    pub(crate) async fn follow(&mut self, height: u64) {
        let (mut cursor, mut since) = (0, Instant::now());
        while cursor < height {
            self.check().await;
            assert!(since.elapsed() < LONG, "stays at {cursor} on the way to {height}");
            sleep(Duration::from_millis(2)).await;
            let now = self.progress().0;
            if now > cursor {
                (cursor, since) = (now, Instant::now());
            }
        }
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        bidder::with(&self.journal, |journal| journal.entries().to_vec())
    }

    pub(crate) fn bids(&self) -> Vec<BidId> {
        let bid = |entry: Entry| match entry.want {
            Want::Bid(order) if entry.holds() => Some(order.bid_id(address(PROVIDER))),
            _ => None,
        };
        self.entries().into_iter().filter_map(bid).collect()
    }

    /// The last block it has written down, and how many intents have not ended.
    pub(crate) fn progress(&self) -> (u64, usize) {
        bidder::with(&self.journal, |journal| (journal.cursor(), journal.open_count()))
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.task.abort();
    }
}
