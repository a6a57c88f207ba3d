//! The bus over a real redis-server that is killed, frozen, emptied and fed nonsense.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use provider_bus::fact::{Block, InventoryCluster, ManifestStatus};

use crate::support::{LONG, Running, Server, hear};

fn block(height: u64) -> Block {
    Block { height, ..Block::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_reach_other_processes_and_those_who_come_later() {
    let redis = Server::redis(&[]);
    let operator = Running::start(&redis.url());
    let daemon = Running::start(&redis.url());
    let mut inventory = daemon.bus.subscribe::<InventoryCluster>();
    daemon.connected().await;
    operator.connected().await;
    operator.bus.publish(&InventoryCluster { nodes: 3, ..InventoryCluster::default() });
    hear(&mut inventory, |cluster| cluster.nodes == 3).await;

    drop(operator);
    let late = Running::start(&redis.url());
    hear(&mut late.bus.subscribe::<InventoryCluster>(), |cluster| cluster.nodes == 3).await;
    assert!(redis.say("GET inventory.cluster").contains(r#""version":1"#));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_published_before_redis_was_there_gets_there_in_its_newest_form() {
    let mut redis = Server::redis(&[]);
    redis.kill();
    let publisher = Running::start(&redis.url());
    for height in 1..=100 {
        publisher.bus.publish(&block(height));
    }
    assert!(publisher.cut_off().await.contains("does not accept connections"));
    assert_eq!(publisher.bus.status().borrow().superseded, 99);
    redis.revive();
    let subscriber = Running::start(&redis.url());
    hear(&mut subscriber.bus.subscribe::<Block>(), |block| block.height == 100).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_while_publishing_delay_nobody_and_the_newest_arrives() {
    let mut redis = Server::redis(&[]);
    let publisher = Running::start(&redis.url());
    let subscriber = Running::start(&redis.url());
    let mut blocks = subscriber.bus.subscribe::<Block>();
    publisher.connected().await;
    subscriber.connected().await;

    let bus = publisher.bus.clone();
    let (published, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, stopped) = (Arc::clone(&published), Arc::clone(&stop));
    let publishing = std::thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            bus.publish(&block(counted.fetch_add(1, Ordering::Relaxed) + 1));
            std::thread::sleep(Duration::from_micros(200));
        }
    });
    let goes_on = async || {
        let (before, deadline) = (published.load(Ordering::Relaxed), Instant::now() + LONG);
        while published.load(Ordering::Relaxed) < before + 200 {
            assert!(Instant::now() < deadline, "publishing waits for Redis");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // Redis keeps nothing on disk: after each kill it has forgotten everything.
    for _ in 0..3 {
        goes_on().await;
        redis.kill();
        goes_on().await;
        publisher.cut_off().await;
        subscriber.cut_off().await;
        goes_on().await;
        redis.revive();
        publisher.connected().await;
        subscriber.connected().await;
    }
    stop.store(true, Ordering::Relaxed);
    publishing.join().unwrap();
    let height = published.load(Ordering::Relaxed);
    hear(&mut blocks, |block| block.height == height).await;
    assert!(publisher.bus.status().borrow().lost_connections >= 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_server_is_noticed_and_blocks_no_publisher() {
    let redis = Server::redis(&[]);
    let publisher = Running::start(&redis.url());
    let subscriber = Running::start(&redis.url());
    let mut blocks = subscriber.bus.subscribe::<Block>();
    publisher.connected().await;
    subscriber.connected().await;

    redis.freeze();
    // Whoever waited for an answer each time would be here for more than an hour.
    let before = Instant::now();
    for height in 1..=10_000 {
        publisher.bus.publish(&block(height));
    }
    assert!(before.elapsed() < LONG, "{:?}", before.elapsed());
    assert_eq!(publisher.bus.latest::<Block>().unwrap().height, 10_000);
    let reason = publisher.cut_off().await;
    assert!(reason.contains("in time") || reason.contains("within"), "{reason}");
    subscriber.cut_off().await;
    redis.thaw();
    hear(&mut blocks, |block| block.height == 10_000).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_redis_forgets_is_brought_back_by_its_publisher() {
    let redis = Server::redis(&[]);
    let publisher = Running::start(&redis.url());
    publisher.connected().await;
    publisher.bus.publish(&block(5));
    let subscriber = Running::start(&redis.url());
    hear(&mut subscriber.bus.subscribe::<Block>(), |block| block.height == 5).await;
    redis.say("FLUSHALL");
    let deadline = Instant::now() + LONG;
    while redis.say("GET akash.provider.chain.block").starts_with("$-1") {
        assert!(Instant::now() < deadline, "it stays forgotten");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_counted_and_hurts_nobody() {
    let redis = Server::redis(&[]);
    redis.say("SET akash.provider.manifest.status nonsense");
    redis.say("SADD inventory.nodes not-even-a-text");
    let bus = Running::start(&redis.url());
    let mut manifests = bus.bus.subscribe::<ManifestStatus>();
    bus.connected().await;
    redis.say("PUBLISH akash.provider.manifest.status {");
    redis.say(
        r#"PUBLISH akash.provider.manifest.status '{"version":7,"new":1,"stamp":5,"publisher":"p","fact":{"deployments":8,"more":1}}'"#,
    );
    hear(&mut manifests, |manifests| manifests.deployments == 8).await;
    assert!(bus.bus.status().borrow().undecodable >= 2);
    assert!(bus.bus.status().borrow().is_well());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_lets_in_and_a_wrong_one_is_told() {
    let redis = Server::redis(&["requirepass open/sesame@home"]);
    let wrong = Running::start(&format!("redis://:wrong@127.0.0.1:{}", redis.port));
    assert!(wrong.cut_off().await.contains("refused the login"));
    let right = Running::start(&format!("redis://:open%2Fsesame@home@127.0.0.1:{}", redis.port));
    right.connected().await;
    let user = ["user provider on >pass ~akash.provider.* ~inventory.* &* +@all"];
    let redis = Server::redis(&user);
    let named = Running::start(&format!("redis://provider:pass@127.0.0.1:{}/2", redis.port));
    named.connected().await;
}
