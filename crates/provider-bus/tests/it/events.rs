//! The stream of events in a real redis-server.

use std::time::{Duration, Instant};

use provider_bus::fact::Block;
use provider_bus::{EVENTS_KEPT, Event, EventKind, STREAM, STREAM_LENGTH};

use crate::support::{LONG, Running, Server};

pub(crate) fn event(dseq: u64) -> Event {
    Event {
        event: EventKind::ManifestReceived,
        owner: "akash1o".to_owned(),
        dseq,
        ..Event::default()
    }
}

/// The answer to a command, once it holds all of `wanted`.
pub(crate) async fn until(redis: &Server, command: &str, wanted: &[&str]) -> String {
    let deadline = Instant::now() + LONG;
    loop {
        let answer = redis.say(command);
        if wanted.iter().all(|text| answer.contains(text)) {
            return answer;
        }
        assert!(Instant::now() < deadline, "{command} stays {answer}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn length(redis: &Server) -> usize {
    redis.say(&format!("XLEN {STREAM}")).trim().trim_start_matches(':').parse().unwrap()
}

async fn reaches(redis: &Server, least: usize) {
    let deadline = Instant::now() + LONG;
    while length(redis) < least {
        assert!(Instant::now() < deadline, "{} of {least} events arrived", length(redis));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_program_reads_events_in_order_with_the_documented_fields() {
    let redis = Server::redis(&[]);
    let publisher = Running::start(&redis.url());
    publisher.bus.record(event(7));
    publisher.bus.record(Event { event: EventKind::LeaseGone, ..event(8) });
    let all = until(&redis, &format!("XRANGE {STREAM} - +"), &["LeaseGone"]).await;
    let position = |text: &str| all.find(text).unwrap_or_else(|| panic!("no {text} in {all}"));
    let fields =
        ["version", "\r\n1\r\n", "publisher", "test-", "seq", "event", "ManifestReceived", "data"];
    assert!(fields.windows(2).all(|pair| position(pair[0]) < position(pair[1])), "{all}");
    assert!(position(r#""dseq":7"#) < position(r#""dseq":8"#), "{all}");
    assert!(all.contains(r#"{"event":"LeaseGone","height":0,"owner":"akash1o","dseq":8"#), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_redis_is_away_the_newest_are_kept_and_what_was_dropped_is_counted() {
    let mut redis = Server::redis(&[]);
    redis.kill();
    let publisher = Running::start(&redis.url());
    let count = u64::try_from(EVENTS_KEPT).unwrap() + 10;
    let before = Instant::now();
    (1..=count).for_each(|dseq| publisher.bus.record(event(dseq)));
    assert!(before.elapsed() < LONG, "recording waits for Redis");
    assert_eq!(publisher.bus.status().borrow().events_dropped, 10);
    redis.revive();
    reaches(&redis, EVENTS_KEPT).await;
    let first = redis.say(&format!("XRANGE {STREAM} - + COUNT 1"));
    assert!(first.contains(r#""dseq":11"#) && first.contains("\r\n11\r\n"), "{first}");
    assert_eq!(length(&redis), EVENTS_KEPT, "none twice, none missing");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_does_not_grow_without_end() {
    let redis = Server::redis(&[]);
    let publisher = Running::start(&redis.url());
    publisher.connected().await;
    let last = u64::try_from(STREAM_LENGTH).unwrap() * 2;
    for dseq in 1..=last {
        publisher.bus.record(event(dseq));
        // Never so many that some would have to be dropped.
        if dseq % 1_000 == 0 {
            let newest = format!("\"dseq\":{dseq}");
            until(&redis, &format!("XREVRANGE {STREAM} + - COUNT 1"), &[&newest]).await;
        }
    }
    assert!(length(&redis) <= STREAM_LENGTH + 1_000, "{}", length(&redis));
    assert_eq!(publisher.bus.status().borrow().events_dropped, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_may_not_add_events_still_carries_facts_and_says_why() {
    let user = "user provider on >pass ~akash.provider.* ~inventory.* &* +@all -xadd";
    let redis = Server::redis(&[user]);
    let publisher = Running::start(&format!("redis://provider:pass@127.0.0.1:{}", redis.port));
    publisher.bus.record(event(1));
    let mut status = publisher.bus.status();
    let refused = status.wait_for(|status| status.events_refused.is_some());
    let refused = tokio::time::timeout(LONG, refused).await.unwrap().unwrap();
    assert!(refused.events_refused.as_ref().is_some_and(|why| why.contains(STREAM)));
    drop(refused);
    publisher.bus.publish(&Block { height: 5, ..Block::default() });
    until(&redis, "GET akash.provider.chain.block", &[r#""height":5"#]).await;
    assert_eq!(publisher.bus.status().borrow().lost_connections, 0, "the connection stays");
    redis.say("ACL SETUSER provider +xadd");
    reaches(&redis, 1).await;
    let accepted = status.wait_for(|status| status.events_refused.is_none());
    tokio::time::timeout(LONG, accepted).await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_another_type_under_the_name_of_the_stream_hurts_no_fact() {
    let redis = Server::redis(&[]);
    redis.say(&format!("SET {STREAM} nonsense"));
    let publisher = Running::start(&redis.url());
    publisher.bus.record(event(1));
    publisher.bus.publish(&Block { height: 5, ..Block::default() });
    until(&redis, "GET akash.provider.chain.block", &[r#""height":5"#]).await;
    redis.say(&format!("DEL {STREAM}"));
    reaches(&redis, 1).await;
}
