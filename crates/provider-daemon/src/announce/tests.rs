use std::collections::{BTreeMap, BTreeSet};

use akash_chain::tx::lane::HoldReason;
use akash_types::{DecCoin, DeploymentId, LeaseClosedReason, OrderId};
use provider_bus::{Event, EventKind, Followed};
use provider_engine::engine::{LeaseIndex, LeaseStatus};
use provider_engine::journal::{Decision, Subject};
use provider_engine::lease::{Health, LeaseCause};
use provider_engine::order::policy::Refusal;
use provider_engine::order::{CloseCause, Ending};
use provider_engine::reconcile::Evidence;
use provider_engine::time::BlockTime;

use super::*;

const HEIGHT: u64 = 77;

fn provider() -> Address {
    Address::from_bytes(&[9; 20]).unwrap()
}

fn order() -> OrderId {
    format!("{}/5/2/3", Address::from_bytes(&[1; 20]).unwrap()).parse().unwrap()
}

fn lease() -> LeaseId {
    LeaseId::new(order(), provider())
}

fn price() -> DecCoin {
    "1.5uact".parse().unwrap()
}

/// A provider with one lease.
fn published(bid_pauses: Vec<String>) -> Arc<Published> {
    let status = LeaseStatus {
        id: lease(),
        price: price(),
        stage: "running",
        alive: true,
        lacks_manifest: false,
        funds: None,
    };
    Arc::new(Published {
        status: Status { bid_pauses, ..Status::default() },
        leases: LeaseIndex::from_iter([status]),
        bids: Vec::new(),
        inventory: None,
        deployments: 1,
        manifests: 1,
        drift: BTreeMap::new(),
    })
}

fn announcer() -> (Announcer, Bus) {
    let bus = Bus::in_process();
    let mut announcer = Announcer::new(bus.clone(), provider(), "local".to_owned());
    announcer.published(&published(Vec::new()));
    (announcer, bus)
}

/// What is told while something is done, which is one event.
async fn told(bus: &Bus, tell: impl FnOnce()) -> Event {
    let mut events = bus.events();
    tell();
    match events.next().await.unwrap() {
        Followed::Event(event) => Event::clone(&event),
        Followed::Missed(count) => panic!("{count} were missed"),
    }
}

fn of_lease(event: EventKind) -> Event {
    Event {
        event,
        height: HEIGHT,
        owner: order().owner().to_string(),
        dseq: 5,
        gseq: Some(2),
        oseq: Some(3),
        provider: provider().to_string(),
        ..Event::default()
    }
}

fn of_deployment(event: EventKind) -> Event {
    Event { gseq: None, oseq: None, ..of_lease(event) }
}

/// Decisions that are events, and what is told of each.
fn decisions() -> Vec<(Decision, Event)> {
    use EventKind as Kind;
    let version = Some(akash_sdl::Version::from([7; 32]));
    let plain = of_lease;
    let because = |kind, reason: &str| Event { reason: Some(reason.to_owned()), ..of_lease(kind) };
    let priced = |kind| Event { price: Some(price().to_string()), ..of_lease(kind) };
    let hashed = |kind| Event { manifest: Some("07".repeat(32)), ..of_lease(kind) };
    let why = || "it broke".to_owned();
    let evidence = Evidence::new(LeaseState::Closed, None, 1, 2).unwrap();
    let teardown = Decision::Teardown(evidence);
    let torn_down = because(Kind::DeploymentTeardown, &teardown.to_string());
    vec![
        (Decision::Noticed, plain(Kind::OrderNoticed)),
        (
            Decision::Declined(vec![Refusal::Paused.into()]),
            because(Kind::OrderDeclined, "no bid: bidding is paused"),
        ),
        (
            Decision::Ended(Ending::NotWon),
            because(Kind::OrderEnded, &Decision::Ended(Ending::NotWon).to_string()),
        ),
        (Decision::Bid(price()), priced(Kind::BidSubmitted)),
        (Decision::BidOpen { price: price(), created_at: 3 }, priced(Kind::BidOpened)),
        (
            Decision::CloseBid(CloseCause::TimedOut),
            because(Kind::BidClosing, "close our bid: nobody chose it within the bid timeout"),
        ),
        (
            Decision::Failed { what: "the bid", why: why() },
            because(Kind::TransactionFailed, "the bid did not happen: it broke"),
        ),
        (Decision::Won(price()), priced(Kind::LeaseCreated)),
        (
            Decision::Close(LeaseCause::ManifestTimeout),
            because(Kind::LeaseClosing, "close the lease: no manifest came in time"),
        ),
        (Decision::Reclaim, plain(Kind::LeaseReclaimStarted)),
        (Decision::Gone, plain(Kind::LeaseGone)),
        (Decision::Accepted { version }, hashed(Kind::ManifestReceived)),
        (
            Decision::Refused { why: why() },
            because(Kind::ManifestRefused, "the manifest was refused: it broke"),
        ),
        (Decision::Deploy, plain(Kind::DeploymentStarted)),
        (Decision::Adopted { version }, hashed(Kind::DeploymentAdopted)),
        (
            Decision::DeployFailed { why: why() },
            because(Kind::DeploymentFailed, "deploying failed: it broke"),
        ),
        (Decision::Healthy, plain(Kind::DeploymentHealthy)),
        (
            Decision::Unhealthy(Health::Missing { service: "web".to_owned() }),
            because(
                Kind::DeploymentUnhealthy,
                &Decision::Unhealthy(Health::Missing { service: "web".to_owned() }).to_string(),
            ),
        ),
        (teardown, torn_down),
    ]
}

fn facts() -> Vec<(Fact, Event)> {
    use EventKind as Kind;
    let lease = lease();
    let ended = Event {
        state: Some(fact::LeaseState::Closed),
        reason: Some("closed by the provider: unstable".to_owned()),
        ..of_lease(Kind::LeaseClosed)
    };
    let reason = Some(LeaseClosedReason::UNSTABLE);
    vec![
        (
            Fact::LeaseFunds { lease, dry: true, dry_at: Some(70) },
            Event { dry_at: Some(70), ..of_lease(Kind::LeaseDry) },
        ),
        (
            Fact::LeaseFunds { lease, dry: false, dry_at: Some(700) },
            Event { dry_at: Some(700), ..of_lease(Kind::LeaseFunded) },
        ),
        (
            Fact::Earned { lease, amount: "12uact".parse().unwrap() },
            Event { amount: Some("12uact".to_owned()), ..of_lease(Kind::LeaseEarned) },
        ),
        (Fact::LeaseOver { lease, state: LeaseState::Closed, reason }, ended),
    ]
}

fn chain_events(id: DeploymentId) -> Vec<(ChainEvent, Event)> {
    use EventKind as Kind;
    let updated =
        Event { manifest: Some("07".repeat(32)), ..of_deployment(Kind::DeploymentUpdated) };
    vec![
        (ChainEvent::DeploymentUpdated { id, hash: [7; 32] }, updated),
        (ChainEvent::DeploymentClosed { id }, of_deployment(Kind::DeploymentClosed)),
    ]
}

fn block(events: Vec<ChainEvent>) -> Block {
    Block { height: HEIGHT, time: BlockTime::from_unix(7), events }
}

#[tokio::test]
async fn every_kind_of_event_is_told_of_what_it_is_documented_for() {
    let (announcer, bus) = announcer();
    let mut kinds = BTreeSet::new();
    let mut compare = |event: Event, wanted: Event| {
        assert_eq!(event, wanted);
        kinds.insert(event.event.name());
    };
    for (decision, wanted) in decisions() {
        let (time, subject) = (BlockTime::from_unix(7), Subject::Order(order()));
        let entry = Entry { height: HEIGHT, time, subject, decision };
        compare(told(&bus, || announcer.decided(&entry)).await, wanted);
    }
    for (fact, wanted) in facts() {
        compare(told(&bus, || announcer.fact(&fact, HEIGHT)).await, wanted);
    }
    for (event, wanted) in chain_events(order().deployment_id()) {
        compare(told(&bus, || announcer.block(&block(vec![event]))).await, wanted);
    }
    let all: BTreeSet<_> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(kinds, all);
}

#[tokio::test]
async fn deployments_without_a_lease_here_are_not_told() {
    let (announcer, bus) = announcer();
    let other = DeploymentId::new(order().owner(), 6).unwrap();
    let mut events: Vec<_> = chain_events(other).into_iter().map(|(event, _)| event).collect();
    events.push(ChainEvent::DeploymentClosed { id: order().deployment_id() });
    let event = told(&bus, || announcer.block(&block(events))).await;
    assert_eq!(event, of_deployment(EventKind::DeploymentClosed));
}

#[test]
fn what_holds_bids_back_is_told_beside_the_engines_causes() {
    let (mut announcer, bus) = announcer();
    let paused = || bus.latest::<fact::BidEngineStatus>().unwrap().paused;
    assert_eq!(paused(), None);
    let log = || "code 5".to_owned();
    let held = vec![
        (None, HoldReason::MempoolFull { log: log() }),
        (Some(Class::Bid), HoldReason::InsufficientFunds { log: log() }),
        (Some(Class::Withdraw), HoldReason::GasTooLow { log: log() }),
    ];
    let (_lane, status) = watch::channel(LaneStatus { held, ..LaneStatus::default() });
    announcer.lane().set(status).unwrap();
    announcer.published(&published(vec!["the provider is in maintenance".to_owned()]));
    assert_eq!(
        paused().unwrap(),
        "the provider is in maintenance; the node's mempool is full: code 5; the account has not \
         enough money; send it some: code 5"
    );
}
