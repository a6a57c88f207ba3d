//! `kill -9` of the chain and of whoever follows it and bids, at any moment.

mod bidder_process;
mod devnet_process;
mod tenant;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

use akash_chain::query::OrderFilter;
use akash_types::BidState;
use provider_testkit::bidder::{Journal, Want};

use bidder_process::BidderProcess;
use devnet_process::DevnetProcess;
use tenant::{PROVIDER, Tenant, address};

const KILLS: u64 = 6;
/// Longer than anything takes by itself, however busy the machine is.
const LONG: Duration = Duration::from_secs(300);
/// The bidder begins after this block: nothing happens before.
const BEGIN: u64 = 1;

fn journal(path: &Path) -> Journal {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    Journal::of_text(&text, BEGIN).unwrap().0
}

/// Waits until the journal is as wanted.
async fn wait(path: &Path, what: &str, is_so: impl Fn(&Journal) -> bool) {
    let (mut ended, mut since) = (0, Instant::now());
    while !is_so(&journal(path)) {
        let now = journal(path);
        let count = now.entries().len() - now.open_count();
        if count > ended {
            (ended, since) = (count, Instant::now());
        }
        assert!(since.elapsed() < LONG, "not so: {what}: {now:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_repeated_when_either_side_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal");
    let mut devnet = DevnetProcess::start(&folder.path().join("chain"));
    let mut tenant = Tenant::new(&devnet.rpc);
    tenant.register_provider().await;
    let mut bidder = BidderProcess::start(&devnet, &file);

    for kill in 0..KILLS {
        tenant.create(4).await;
        let seen = journal(&file).cursor();
        wait(&file, "some blocks went by", |journal| journal.cursor() > seen + 2).await;
        tenant.create(4).await;
        // Any moment will do, and no two runs have the same ones.
        let moment = Duration::from_millis(RandomState::new().hash_one(kill) % 250);
        eprintln!("kill {kill} after {moment:?}");
        tokio::time::sleep(moment).await;
        if kill % 2 == 0 {
            bidder.kill();
        }
        if kill % 3 != 0 {
            devnet = devnet.kill_and_start();
        }
        if kill % 2 == 0 {
            bidder = BidderProcess::start(&devnet, &file);
        }
        bidder.check();
    }

    tenant.create(1).await;
    let last = tenant.height().await + 3;
    wait(&file, "everything ended", |journal| journal.cursor() > last && journal.open_count() == 0)
        .await;
    bidder.kill();
    judge(&tenant, &journal(&file)).await;
}

/// By the chain's own account.
async fn judge(tenant: &Tenant, journal: &Journal) {
    let query = &tenant.query;
    let orders = query.orders(OrderFilter::default()).await.unwrap().value.items;
    let bids = query.bids_of(address(PROVIDER), None).await.unwrap().value.items;
    let bids: BTreeMap<_, _> = bids.iter().map(|info| (info.bid.id, info.bid.state)).collect();
    assert!(orders.len() > 12, "{} orders", orders.len());
    assert_eq!(bids.len(), orders.len(), "one bid on each order");
    let (mut seen, mut closes) = (0, 0);
    for entry in journal.entries() {
        assert!(entry.holds(), "{entry:?}");
        match entry.want {
            Want::Bid(order) => {
                seen += 1;
                assert!(bids.contains_key(&order.bid_id(address(PROVIDER))), "{order}");
            }
            Want::Close(bid) => {
                closes += 1;
                assert_eq!(bids.get(&bid), Some(&BidState::Closed), "{bid}");
            }
            Want::Withdraw(_) | Want::Lease(_) => panic!("nobody took a bid: {entry:?}"),
        }
    }
    assert_eq!(seen, orders.len(), "each order was seen once");
    let closed = bids.values().filter(|state| **state == BidState::Closed).count();
    assert_eq!(closes, closed, "no other bid was closed");
    assert!(closes > 0);
}
