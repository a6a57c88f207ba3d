//! Who follows and bids, as a process of its own: this very program, told to be one.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use akash_chain::follow::{FollowConfig, PlanConfig};
use akash_chain::transport::{Endpoint, Limits};
use akash_chain::tx::FeeRule;
use akash_chain::tx::lane::LaneConfig;
use akash_types::Backoff;
use provider_testkit::bidder::{self, Journal, Settings};

use crate::kill::BEGIN;
use crate::kill::devnet_process::{CHAIN, DevnetProcess};
use crate::kill::tenant::{PROVIDER, address, key};

const JOURNAL: &str = "BIDDER_JOURNAL";
const RPC: &str = "BIDDER_RPC";
const GRPC: &str = "BIDDER_GRPC";

pub(crate) struct BidderProcess(Child);

impl BidderProcess {
    pub(crate) fn start(devnet: &DevnetProcess, journal: &Path) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::bidder_process::follows_and_bids", "--ignored", "--nocapture"])
            .env(JOURNAL, journal)
            .env(RPC, &devnet.rpc)
            .env(GRPC, &devnet.grpc)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.check();
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// It never ends by itself.
    pub(crate) fn check(&mut self) {
        assert_eq!(self.0.try_wait().unwrap(), None, "the bidder ended by itself");
    }
}

impl Drop for BidderProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
#[ignore = "no test: the process that the test beside starts"]
async fn follows_and_bids() {
    let variable = |name: &str| std::env::var(name).expect("set by whoever starts this process");
    let journal = variable(JOURNAL);
    let journal = Journal::open_file(Path::new(&journal), BEGIN).unwrap();
    let limits = Limits { request: Duration::from_secs(5), ..Limits::default() };
    let block_time = Duration::from_millis(100);
    let rpc = Endpoint::rpc(&variable(RPC)).unwrap();
    let plan = PlanConfig {
        block_time_floor: block_time,
        block_time_ceiling: block_time,
        backoff: Backoff { first: Duration::from_millis(50), most: Duration::from_millis(400) },
        ..PlanConfig::new(CHAIN)
    };
    let fee = FeeRule::parse("", "0.025uakt").unwrap();
    let settings = Settings {
        follow: FollowConfig { plan, limits, ..FollowConfig::new(CHAIN, vec![rpc.clone()]) },
        rpc,
        grpc: Some(Endpoint::grpc(&variable(GRPC)).unwrap()),
        limits,
        key: key(PROVIDER),
        // Blocks are quick here, and whoever bids may have to share the machine.
        lane: LaneConfig { timeout_blocks: 50, ..LaneConfig::new(address(PROVIDER), fee) },
    };
    let stopped = bidder::run(settings, Arc::new(Mutex::new(journal))).await;
    panic!("the bidder stopped: {stopped:?}");
}
