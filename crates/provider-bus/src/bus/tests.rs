use std::time::Duration;

use tokio::time::timeout;

use super::*;
use crate::event::{EventKind, Followed};
use crate::fact::{Block, ManifestStatus};

fn block(height: u64) -> Block {
    Block { height, ..Block::default() }
}

async fn quiet<F: Fact>(subscription: &mut Subscription<F>) -> bool {
    timeout(Duration::from_millis(20), subscription.next()).await.is_err()
}

fn message(time: u64, height: u64) -> String {
    format!(
        r#"{{"version":1,"stamp":{time},"publisher":"z","fact":{{"height":{height},"time_ms":0}}}}"#
    )
}

#[tokio::test]
async fn a_new_subscriber_hears_the_newest_and_then_what_follows() {
    let bus = Bus::in_process();
    bus.publish(&block(1));
    bus.publish(&block(2));
    let mut blocks = bus.subscribe::<Block>();
    assert_eq!(blocks.next().await.unwrap().height, 2);
    assert!(quiet(&mut blocks).await);
    bus.publish(&block(3));
    assert_eq!(blocks.next().await.unwrap().height, 3);
    assert_eq!(bus.latest::<Block>().unwrap().height, 3);
}

#[tokio::test]
async fn a_slow_subscriber_misses_what_lies_between_and_never_the_newest() {
    let bus = Bus::in_process();
    let mut blocks = bus.subscribe::<Block>();
    for height in 0..10_000 {
        bus.publish(&block(height));
    }
    assert_eq!(blocks.next().await.unwrap().height, 9_999);
    assert!(quiet(&mut blocks).await);
}

#[tokio::test]
async fn topics_do_not_mix() {
    let bus = Bus::in_process();
    let mut manifests = bus.subscribe::<ManifestStatus>();
    bus.publish(&block(1));
    assert!(quiet(&mut manifests).await);
    assert_eq!(bus.latest::<ManifestStatus>(), None);
}

#[tokio::test]
async fn the_end_of_the_bus_is_told_after_its_last_fact() {
    let bus = Bus::in_process();
    let mut blocks = bus.subscribe::<Block>();
    bus.publish(&block(1));
    drop(bus);
    assert_eq!(blocks.next().await.unwrap().height, 1);
    assert_eq!(blocks.next().await, Err(Closed));
}

#[tokio::test]
async fn what_is_too_long_to_publish_is_counted_and_the_last_value_stays() {
    let bus = Bus::in_process();
    bus.publish(&block(1));
    bus.publish(&Block { chain_id: "x".repeat(crate::PAYLOAD_LIMIT), ..block(2) });
    assert_eq!(bus.latest::<Block>().unwrap().height, 1);
    assert_eq!(bus.status().borrow().undecodable, 1);
}

#[test]
fn what_is_heard_is_held_when_newer_dropped_when_senseless_and_answered_when_outdated() {
    let target = "redis://127.0.0.1:1".parse().unwrap();
    let (bus, _link) = Bus::over_redis(target, "test").unwrap();
    let shared = &bus.shared;
    let outbox = shared.outbox.as_ref().unwrap();
    let hear = |payload: &str| shared.hear(Topic::ChainBlock, Some(payload.as_bytes()));
    let height = || bus.latest::<Block>().map(|block| block.height);

    hear(&message(10, 1));
    assert_eq!(height(), Some(1));
    hear(&message(9, 2));
    assert_eq!(height(), Some(1), "older ones are not news");
    hear("{");
    shared.hear(Topic::ChainBlock, Some(&[0xff]));
    hear(r#"{"version":1,"stamp":11,"publisher":"z","fact":{}}"#);
    assert_eq!((height(), bus.status().borrow().undecodable), (Some(1), 3));
    shared.hear(Topic::ChainBlock, None);
    assert!(outbox.take().is_empty(), "what others published is theirs to repeat");

    bus.publish(&block(3));
    assert_eq!(outbox.take(), [Topic::ChainBlock]);
    hear(&message(11, 4));
    shared.hear(Topic::ChainBlock, None);
    assert_eq!(outbox.take(), [Topic::ChainBlock], "Redis lost ours");
    assert_eq!(height(), Some(3));
}

#[test]
fn what_waits_for_redis_is_one_value_per_topic() {
    let target = "redis://127.0.0.1:1".parse().unwrap();
    let (bus, _link) = Bus::over_redis(target, "test").unwrap();
    for height in 0..1_000 {
        bus.publish(&block(height));
        bus.publish(&ManifestStatus::default());
    }
    assert_eq!(bus.status().borrow().superseded, 1_998);
    assert_eq!(
        bus.shared.outbox.as_ref().unwrap().take(),
        [Topic::ManifestStatus, Topic::ChainBlock]
    );
}

#[tokio::test]
async fn a_subscriber_gets_each_event_and_is_told_how_many_it_missed() {
    let bus = Bus::in_process();
    let lease = |dseq| Event { event: EventKind::LeaseGone, dseq, ..Event::default() };
    bus.record(lease(0));
    let mut events = bus.events();
    let last = u64::try_from(EVENTS_KEPT).unwrap() + 3;
    (1..=last).for_each(|dseq| bus.record(lease(dseq)));
    assert_eq!(events.next().await, Ok(Followed::Missed(3)));
    for dseq in 4..=last {
        assert_eq!(events.next().await, Ok(Followed::Event(Arc::new(lease(dseq)))));
    }
    drop(bus);
    assert_eq!(events.next().await, Err(Closed));
}
