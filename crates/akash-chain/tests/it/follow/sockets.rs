//! Connections that end, hang, or crawl.

use std::time::{Duration, Instant};

use provider_testkit::proxy::{Direction, Mode, Proxy};

use crate::follow::support::{BLOCK_TIME, Consumer, Nodes, config, devnet};

/// A busy machine may be this late. Less than the time after which any silence is noticed; that it
/// is three block times to the moment is shown where there is no clock.
const SLACK: Duration = Duration::from_secs(4);

async fn through_proxy(blocks: u64) -> (Nodes, Proxy, Consumer) {
    let nodes = Nodes::start(1, blocks).await;
    let proxy = Proxy::start(nodes.addresses()[0]).await.unwrap();
    let consumer = Consumer::start(&[proxy.address()], 0);
    (nodes, proxy, consumer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocks_are_caught_up_with_and_followed_with_their_times() {
    let (mut nodes, _proxy, mut consumer) = through_proxy(300).await;
    consumer.reach(300).await;
    consumer.until(|status| status.subscribed).await;
    nodes.make_in_time(5).await;
    let before = consumer.block().await;
    let after = consumer.block().await;
    assert_eq!(after.time.duration_since(before.time).unwrap(), BLOCK_TIME);
    consumer.reach(305).await;
    let status = consumer.until(|status| status.cursor == Some(305)).await;
    assert_eq!((status.head, status.lag, status.resync), (Some(305), 0, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_cursor_the_newest_block_is_the_first() {
    let mut nodes = Nodes::start(1, 40).await;
    let follower = akash_chain::follow::Follower::start(config(&nodes.addresses()), None).unwrap();
    let mut consumer = Consumer { follower, cursor: 39 };
    consumer.reach(40).await;
    nodes.make(3).await;
    consumer.reach(43).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_that_ends_is_made_again() {
    let (mut nodes, proxy, mut consumer) = through_proxy(10).await;
    consumer.reach(10).await;
    for _ in 0..3 {
        consumer.until(|status| status.subscribed).await;
        // The node closes the connection in an orderly way.
        nodes.devnets[0].faults().cut_open_connections();
        nodes.make_in_time(3).await;
        consumer.reach(nodes.height).await;
        nodes.devnets[0].faults().clear();
        consumer.until(|status| status.subscribed).await;
        // The network resets it.
        proxy.set_open(Mode::Reset);
        nodes.make_in_time(3).await;
        consumer.reach(nodes.height).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_half_open_connection_is_noticed_within_three_block_times() {
    for held in [None, Some(Direction::ToClient), Some(Direction::ToServer)] {
        let (mut nodes, proxy, mut consumer) = through_proxy(10).await;
        consumer.reach(10).await;
        consumer.until(|status| status.subscribed).await;
        nodes.make_in_time(3).await;
        consumer.reach(13).await;
        proxy.set_open(Mode::Blackhole(held));
        if held != Some(Direction::ToServer) {
            let start = Instant::now();
            consumer.until(|status| !status.subscribed).await;
            assert!(start.elapsed() < BLOCK_TIME * 3 + SLACK, "{held:?}: {:?}", start.elapsed());
        }
        nodes.make_in_time(10).await;
        consumer.reach(23).await;
        consumer.until(|status| status.subscribed).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_that_is_gone_for_a_while_costs_nothing_but_time() {
    let (mut nodes, proxy, mut consumer) = through_proxy(10).await;
    consumer.reach(10).await;
    proxy.set(Mode::Blackhole(None));
    nodes.make(20).await;
    let status = consumer.until(|status| status.stalled).await;
    assert!(!status.subscribed);
    proxy.set(Mode::Refuse);
    proxy.set_open(Mode::Reset);
    nodes.make(20).await;
    proxy.set(Mode::Pass);
    nodes.make(20).await;
    consumer.reach(70).await;
    consumer.until(|status| !status.stalled).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_come_in_pieces_are_put_together() {
    let (mut nodes, proxy, mut consumer) = through_proxy(50).await;
    for seed in 0..3 {
        proxy.set(Mode::Chop { seed });
        nodes.make_in_time(3).await;
        consumer.reach(nodes.height).await;
    }
    proxy.set(Mode::Delay(Duration::from_millis(60)));
    nodes.make_in_time(3).await;
    consumer.reach(nodes.height).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_restarts_is_followed_on() {
    let home = tempfile::tempdir().unwrap();
    let first = devnet(crate::follow::support::CHAIN, Some(home.path())).await;
    let proxy = Proxy::start(first.rpc_address()).await.unwrap();
    let mut consumer = Consumer::start(&[proxy.address()], 0);
    for _ in 0..19 {
        first.produce_block(None).await.unwrap();
    }
    consumer.reach(20).await;
    first.shutdown().await.unwrap();
    consumer.unusable(0).await;
    let second = devnet(crate::follow::support::CHAIN, Some(home.path())).await;
    proxy.retarget(second.rpc_address());
    for _ in 0..20 {
        second.produce_block(None).await.unwrap();
    }
    consumer.reach(40).await;
    consumer.usable(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_consumer_gets_everything_and_a_dropped_one_stops_it_all() {
    let (mut nodes, proxy, mut consumer) = through_proxy(500).await;
    consumer.reach(3).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let asked = proxy.accepted();
    // Nothing more is fetched than the window and the queue hold.
    let status = consumer.follower.status().borrow().clone();
    assert!(status.cursor.unwrap() <= 3 + 17, "{status:?}");
    nodes.make(10).await;
    consumer.reach(510).await;
    drop(consumer);
    // What was under way comes to its end first.
    let mut last = 0;
    while last != proxy.accepted() {
        last = proxy.accepted();
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    nodes.make_in_time(5).await;
    assert_eq!(proxy.accepted(), last);
    assert!(asked > 0);
}
