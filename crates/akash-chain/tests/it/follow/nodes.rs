//! Nodes that are behind, ahead of themselves, elsewhere, or forgetful.

use akash_chain::follow::{ResyncReason, Unusable};
use provider_testkit::proxy::{Mode, Proxy};

use crate::follow::support::{Consumer, Nodes, devnet};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_fifty_blocks_behind_is_not_used_until_it_is_back() {
    let mut nodes = Nodes::start(2, 100).await;
    nodes.devnets[0].faults().change(|plan| plan.lag = 50);
    let mut consumer = Consumer::start(&nodes.addresses(), 0);
    consumer.reach(100).await;
    let fault = consumer.unusable(0).await;
    assert!(matches!(fault, Unusable::Lagging { height: 50, best: 100 }), "{fault:?}");
    nodes.make(10).await;
    consumer.reach(110).await;
    nodes.devnets[0].faults().clear();
    consumer.usable(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_jump_back_delivers_nothing_twice() {
    let mut nodes = Nodes::start(1, 100).await;
    let mut consumer = Consumer::start(&nodes.addresses(), 0);
    consumer.reach(100).await;
    nodes.devnets[0].faults().change(|plan| plan.lag = 50);
    let fault = consumer.unusable(0).await;
    assert_eq!(fault, Unusable::WentBack { from: 100, to: 50 });
    nodes.make(20).await;
    consumer.until(|status| status.stalled).await;
    nodes.devnets[0].faults().clear();
    consumer.reach(120).await;
    consumer.usable(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_and_late_results_are_tried_again() {
    let mut nodes = Nodes::start(1, 30).await;
    let faults = nodes.devnets[0].faults().clone();
    faults.fail("block_results", "database is locked", Some(25));
    let mut consumer = Consumer::start(&nodes.addresses(), 0);
    consumer.reach(30).await;
    // Polling alone, and the newest block has no results yet whenever it is asked for.
    faults.clear();
    faults.change(|plan| (plan.drop_block_events, plan.late_results) = (true, true));
    for _ in 0..5 {
        nodes.make_in_time(2).await;
        consumer.reach(nodes.height - 1).await;
    }
    faults.clear();
    consumer.reach(nodes.height).await;
    for (method, text) in [("blockchain", "no"), ("status", "no"), ("subscribe", "full")] {
        faults.fail(method, text, Some(6));
        nodes.make_in_time(3).await;
        consumer.reach(nodes.height).await;
        faults.clear();
    }
    consumer.until(|status| status.subscribed).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_pruned_is_reported_and_the_rest_is_delivered() {
    let mut nodes = Nodes::start(1, 200).await;
    nodes.devnets[0].prune_below(150).await.unwrap();
    let mut consumer = Consumer::start(&nodes.addresses(), 1);
    let resync = consumer.resync().await;
    assert_eq!((resync.from, resync.to), (2, 200));
    assert_eq!(resync.reason, ResyncReason::Pruned { lowest: 150 });
    consumer.until(|status| status.resync == Some(resync)).await;
    nodes.make(5).await;
    consumer.reach(205).await;
    consumer.until(|status| status.resync.is_none()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gap_too_large_is_reported_and_what_comes_after_is_delivered() {
    let mut nodes = Nodes::start(1, 1_100).await;
    let mut consumer = Consumer::start(&nodes.addresses(), 0);
    let resync = consumer.resync().await;
    assert_eq!((resync.from, resync.to), (1, 1_100));
    assert_eq!(resync.reason, ResyncReason::GapTooLarge { blocks: 1_100 });
    nodes.make(2).await;
    consumer.reach(1_102).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_node_takes_over_from_the_other() {
    let mut nodes = Nodes::start(2, 100).await;
    let [first, second] = [0, 1].map(|index| nodes.addresses()[index]);
    let proxies = [Proxy::start(first).await.unwrap(), Proxy::start(second).await.unwrap()];
    let mut consumer = Consumer::start(&[proxies[0].address(), proxies[1].address()], 0);
    consumer.reach(100).await;
    for round in 0..4 {
        let (down, up) = (round % 2, 1 - round % 2);
        proxies[down].set(if round < 2 { Mode::Reset } else { Mode::Blackhole(None) });
        proxies[up].set(Mode::Pass);
        nodes.make_in_time(4).await;
        consumer.reach(nodes.height).await;
        let fault = consumer.unusable(down).await;
        assert!(matches!(fault, Unusable::Unreachable { .. } | Unusable::Failing { .. }));
        proxies[down].set(Mode::Pass);
        consumer.usable(down).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_of_another_chain_or_branch_or_catching_up_is_not_used() {
    let mut nodes = Nodes::start(2, 50).await;
    let other = devnet("other", None).await;
    let branch = Nodes::start_on_branch(1, 80, 90_000_000).await;
    nodes.devnets[1].faults().change(|plan| plan.catching_up = true);
    let late = Proxy::start(branch.addresses()[0]).await.unwrap();
    late.set(Mode::Refuse);
    let mut addresses = nodes.addresses();
    addresses.extend([other.rpc_address(), late.address()]);
    let mut consumer = Consumer::start(&addresses, 1);
    consumer.reach(50).await;
    late.set(Mode::Pass);
    assert_eq!(consumer.unusable(1).await, Unusable::CatchingUp { height: 50 });
    assert_eq!(consumer.unusable(2).await, Unusable::WrongChain { found: "other".to_owned() });
    let forked = |status: &akash_chain::follow::FollowStatus| {
        let health = &status.nodes[3].health;
        matches!(health, akash_chain::follow::Health::Unusable(Unusable::Forked { .. }))
    };
    consumer.until(forked).await;
    nodes.devnets[1].faults().clear();
    consumer.usable(1).await;
    nodes.make(5).await;
    consumer.reach(55).await;
    let status = consumer.until(|status| status.cursor == Some(55)).await;
    assert_eq!(status.nodes[0].name.as_ref(), format!("http://{}", addresses[0]));
    assert_eq!(status.head, Some(55));
}
