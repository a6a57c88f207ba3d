use std::sync::Arc;

use akash_sdl::manifest::Group;
use akash_types::{
    Action, BidOffer, DecCoin, Deposit, Intent, IntentId, LeaseClosedReason, LeaseState, Outcome,
};
use provider_engine::cluster::command::{
    Command, CommandAnswer, CommandFailure, CommandId, Operation, Workload,
};
use provider_engine::cluster::view::ViewChange;
use provider_engine::input::PriceId;
use provider_engine::inventory::NoRoom;
use provider_engine::journal::{Decision, SpareReason};
use provider_engine::lease::{Health, LeaseCause};
use provider_engine::manifest::{ManifestAnswer, ManifestRefusal};
use provider_engine::order::decline::Decline;
use provider_engine::order::policy::Refusal;
use provider_engine::order::pricing::{PriceError, ScriptFailure, ScriptRequest};
use provider_engine::order::{CloseCause, Ending};
use provider_engine::reconcile::Evidence;
use provider_engine::{Effect, Fact, Input, Reply, RequestId, TxEnd};

use super::{Seen, lease, uakt};

fn price() -> DecCoin {
    DecCoin::new("uakt".parse().unwrap(), "1".parse().unwrap()).unwrap()
}

fn bid_intent(id: u64, dseq: u64) -> Effect {
    let offer = BidOffer {
        id: lease(dseq).bid_id(),
        price: price(),
        deposit: Deposit::from_balance(uakt(5)),
        resources_offer: Vec::new(),
        reclamation_window: None,
    };
    Effect::Submit(Intent::new(IntentId(id), Action::CreateBid(Box::new(offer)), 1))
}

fn tx(id: u64, outcome: Outcome) -> Input {
    Input::Tx(TxEnd { intent: IntentId(id), outcome, fee: None })
}

fn refused() -> Outcome {
    Outcome::Refused { codespace: "market".into(), code: 1, log: "no".into() }
}

#[test]
fn a_won_order_is_counted_from_notice_to_lease() {
    let mut seen = Seen { height: 100, ..Seen::default() };
    seen.decided(1, Decision::Noticed).later(200_000);
    seen.decided(1, Decision::Reserved(vec!["n (1)".into()]));
    seen.decided(1, Decision::Bid(price())).effect(bid_intent(7, 1));
    seen.input(tx(7, Outcome::Executed { height: 102 }));
    seen.decided(1, Decision::BidOpen { price: price(), created_at: 102 });
    seen.decided(1, Decision::Won(price()));
    assert_eq!(
        seen.samples("provider_order_handler"),
        ["{action=\"start\"} 1", "{action=\"stop\"} 1"]
    );
    assert_eq!(seen.samples("provider_should_bid"), ["{result=\"accept\"} 1"]);
    assert_eq!(seen.samples("provider_reservation"), ["{action=\"open\",result=\"success\"} 1"]);
    assert_eq!(seen.samples("provider_bid"), ["{action=\"open\",result=\"success\"} 1"]);
    assert_eq!(seen.samples("provider_order_complete"), ["{result=\"lease-won\"} 1"]);
    assert_eq!(seen.samples("provider_tx_ends"), ["{class=\"bid\",outcome=\"executed\"} 1"]);
    assert_eq!(seen.samples("provider_reservation_duration_sum"), ["200000"]);
    let buckets = seen.samples("provider_reservation_duration_bucket");
    assert_eq!(buckets[..2], ["{le=\"150000\"} 0", "{le=\"300000\"} 1"]);
    assert_eq!(buckets[9..], ["{le=\"76800000\"} 1", "{le=\"+Inf\"} 1"]);
    assert_eq!(seen.samples("provider_order_to_bid_blocks_sum"), ["2"]);
    let buckets = seen.samples("provider_order_to_bid_blocks_bucket");
    assert_eq!(buckets[..2], ["{le=\"1\"} 0", "{le=\"2\"} 1"]);
}

#[test]
fn a_lease_found_after_a_restart_was_not_won_again() {
    let mut seen = Seen::default();
    seen.decided(1, Decision::Noticed).decided(1, Decision::Won(price()));
    seen.decided(1, Decision::Adopted { version: None }).decided(1, Decision::Gone);
    assert_eq!(seen.samples("provider_order_complete"), [""; 0]);
    assert_eq!(
        seen.samples("provider_deployment_monitor"),
        ["{action=\"start\"} 1", "{action=\"stop\"} 1"]
    );
}

#[test]
fn endings_have_the_names_of_the_contract() {
    for (closed, ending, result) in [
        (None, Ending::NotWon, "lease-lost"),
        (Some(CloseCause::TimedOut), Ending::NotWon, "lease-lost"),
        (Some(CloseCause::OrderOver), Ending::BidClosed, "lease-lost"),
        (Some(CloseCause::TimedOut), Ending::BidClosed, "bid-timeout"),
        (Some(CloseCause::Operator), Ending::BidClosed, "bid-closed-external"),
        (Some(CloseCause::NoRoom), Ending::BidClosed, "bid-closed-external"),
        (None, Ending::BidClosed, "bid-closed-external"),
        (Some(CloseCause::TimedOut), Ending::OrderClosed, "bid-timeout"),
        (Some(CloseCause::Operator), Ending::OrderClosed, "bid-closed-external"),
        (Some(CloseCause::OrderOver), Ending::OrderClosed, "order-closed"),
        (None, Ending::OrderClosed, "order-closed"),
        (None, Ending::OverBeforeBid, "order-closed"),
        (None, Ending::Unknown, "order-closed"),
    ] {
        let mut seen = Seen::default();
        seen.decided(1, Decision::Noticed).decided(1, Decision::Reserved(Vec::new()));
        if let Some(cause) = closed {
            seen.decided(1, Decision::CloseBid(cause));
        }
        seen.decided(1, Decision::Ended(ending)).decided(1, Decision::Ended(ending));
        let expected = format!("{{result=\"{result}\"}} 1");
        assert_eq!(seen.samples("provider_order_complete"), [expected]);
        assert_eq!(
            seen.samples("provider_reservation"),
            ["{action=\"close\",result=\"success\"} 1", "{action=\"open\",result=\"success\"} 1"]
        );
        assert_eq!(seen.samples("provider_order_handler")[1], "{action=\"stop\"} 1");
    }
}

#[test]
fn reasons_not_to_bid_are_counted_each_and_judged_once() {
    let mut seen = Seen::default();
    let no_room = || Decline::NoRoom(NoRoom::NoIpPool { wanted: 1 });
    seen.decided(1, Decision::Noticed).decided(2, Decision::Noticed).decided(3, Decision::Noticed);
    seen.decided(1, Decision::Declined(vec![Refusal::Paused.into(), no_room()]));
    seen.decided(2, Decision::Declined(vec![no_room()]));
    seen.decided(3, Decision::Reserved(Vec::new()));
    seen.decided(3, Decision::Declined(vec![Decline::Price(PriceError::Zero)]));
    assert_eq!(
        seen.samples("provider_bid_declines"),
        ["{reason=\"no-ip-pool\"} 2", "{reason=\"paused\"} 1", "{reason=\"price-zero\"} 1"]
    );
    assert_eq!(
        seen.samples("provider_should_bid"),
        ["{result=\"accept\"} 2", "{result=\"decline\"} 1"]
    );
    assert_eq!(
        seen.samples("provider_reservation"),
        [
            "{action=\"close\",result=\"success\"} 1",
            "{action=\"open\",result=\"fail\"} 2",
            "{action=\"open\",result=\"success\"} 1"
        ]
    );
    assert_eq!(
        seen.samples("provider_inventory_requests"),
        [
            "{action=\"reserve\",result=\"create\"} 1",
            "{action=\"reserve\",result=\"insufficient-capacity\"} 2",
            "{action=\"unreserve\",result=\"destroyed\"} 1"
        ]
    );
    assert_eq!(seen.samples("provider_decisions")[0], "{kind=\"declined\"} 3");
}

#[test]
fn transactions_are_counted_by_what_was_wanted() {
    let mut seen = Seen::default();
    let reason = LeaseClosedReason::UNSPECIFIED;
    let close = Action::CloseBid { bid: lease(2).bid_id(), reason };
    let withdraw = Action::Withdraw { lease: lease(2) };
    seen.effect(bid_intent(1, 1)).effect(bid_intent(2, 2));
    seen.effect(Effect::Submit(Intent::new(IntentId(3), close, 1)));
    seen.effect(Effect::Submit(Intent::new(IntentId(4), withdraw.clone(), 1)));
    seen.effect(Effect::Submit(Intent::new(IntentId(5), withdraw, 1)));
    seen.input(tx(1, refused())).input(tx(2, Outcome::Forgotten));
    seen.input(tx(3, Outcome::AlreadyHolds)).input(tx(4, Outcome::Executed { height: 9 }));
    seen.input(tx(5, Outcome::Expired));
    // Told twice, or never asked for.
    seen.input(tx(1, refused())).input(tx(99, refused()));
    assert_eq!(
        seen.samples("provider_bid"),
        ["{action=\"close\",result=\"success\"} 1", "{action=\"open\",result=\"fail\"} 1"]
    );
    assert_eq!(
        seen.samples("provider_withdrawals"),
        ["{result=\"fail\"} 1", "{result=\"success\"} 1"]
    );
    assert_eq!(seen.samples("provider_tx_ends").len(), 5);
    // The order was not seen being noticed: from when to count is not known.
    assert_eq!(seen.samples("provider_order_to_bid_blocks_count"), ["0"]);
}

#[test]
fn earnings_add_up_by_denomination() {
    let mut seen = Seen::default();
    for amount in [u128::from(u64::MAX), 1] {
        let (lease, amount) = (lease(1), uakt(amount));
        seen.effect(Effect::Publish(Fact::Earned { lease, amount }));
    }
    assert_eq!(seen.samples("provider_earned"), ["{denom=\"uakt\"} 18446744073709551616"]);
}

#[test]
fn scripts_are_timed_from_question_to_answer() {
    let mut seen = Seen::default();
    let environment = [("AKASH_OWNER", String::new()), ("AKASH_DENOM", String::new())];
    let request = ScriptRequest { stdin: String::new(), environment };
    seen.effect(Effect::Script(PriceId(1), request.clone()));
    seen.effect(Effect::Script(PriceId(2), request)).later(1_000_000);
    seen.input(Input::Script { id: PriceId(1), result: Ok(b"1".to_vec()) }).later(9_000_000);
    seen.input(Input::Script { id: PriceId(2), result: Err(ScriptFailure::TimedOut) });
    seen.input(Input::Script { id: PriceId(3), result: Err(ScriptFailure::TimedOut) });
    assert_eq!(
        seen.samples("provider_price_scripts"),
        ["{result=\"success\"} 1", "{result=\"timed_out\"} 2"]
    );
    assert_eq!(seen.samples("provider_bid_pricing_duration_sum"), ["11000000"]);
    assert_eq!(seen.samples("provider_bid_pricing_duration_count"), ["2"]);
}

#[test]
fn what_is_done_in_the_cluster_is_counted_when_answered() {
    let mut seen = Seen::default();
    let workload = Arc::new(Workload {
        lease: lease(1),
        version: None,
        group: Arc::new(Group { name: "west".into(), services: Vec::new() }),
        cards: Default::default(),
        withheld: Vec::new(),
        endpoints_to_take: Vec::new(),
        ignored: std::collections::BTreeMap::new(),
    });
    let evidence = Evidence::new(LeaseState::Closed, None, 1, 2).unwrap();
    let operations = [
        Operation::Deploy(Arc::clone(&workload)),
        Operation::Teardown { lease: lease(1), evidence },
        Operation::Hold(workload),
    ];
    for (id, operation) in (1..).zip(operations) {
        seen.effect(Effect::Command(Command { id: CommandId(id), operation }));
    }
    let failed = Err(CommandFailure::Unavailable("x".into()));
    for (id, result) in [(1, Ok(())), (2, failed), (3, Ok(())), (2, Ok(()))] {
        seen.input(Input::Command(CommandAnswer { id: CommandId(id), result }));
    }
    assert_eq!(
        seen.samples("provider_deployment"),
        ["{action=\"deploy\",result=\"success\"} 1", "{action=\"teardown\",result=\"fail\"} 1"]
    );
}

#[test]
fn manifests_and_their_hostnames_are_counted_by_what_the_tenant_heard() {
    let mut seen = Seen::default();
    for answer in [
        ManifestAnswer::Accepted { leases: Vec::new() },
        ManifestAnswer::Refused(ManifestRefusal::HostnameInUse("x".into())),
        ManifestAnswer::Refused(ManifestRefusal::NoLease),
    ] {
        seen.effect(Effect::Reply(RequestId(1), Reply::Manifest(answer)));
    }
    assert_eq!(
        seen.samples("provider_manifests"),
        ["{result=\"accepted\"} 1", "{result=\"refused\"} 2"]
    );
    assert_eq!(
        seen.samples("provider_deployment"),
        [
            "{action=\"reserve-hostnames\",result=\"err\"} 1",
            "{action=\"reserve-hostnames\",result=\"success\"} 1"
        ]
    );
}

#[test]
fn health_of_workloads_is_counted_in_the_words_of_the_contract() {
    let mut seen = Seen::default();
    seen.decided(1, Decision::Healthy);
    seen.decided(1, Decision::Unhealthy(Health::Missing { service: "web".into() }));
    seen.decided(1, Decision::Close(LeaseCause::Unhealthy));
    seen.decided(2, Decision::Close(LeaseCause::ManifestTimeout));
    seen.decided(3, Decision::Spared { cause: LeaseCause::Unhealthy, why: SpareReason::Breaker });
    seen.input(Input::View(ViewChange::Lost));
    assert_eq!(
        seen.samples("provider_deployment_monitor_health"),
        ["{state=\"down\"} 1", "{state=\"err\"} 1", "{state=\"failed\"} 1", "{state=\"up\"} 1"]
    );
    assert_eq!(
        seen.samples("provider_lease_closes"),
        ["{cause=\"manifest_timeout\"} 1", "{cause=\"unhealthy\"} 1"]
    );
    assert_eq!(seen.samples("provider_leases_spared"), ["1"]);
}

#[test]
fn what_is_never_answered_is_forgotten_in_the_end() {
    let mut pending = super::super::decisions::Pending::default();
    for id in 0..20_000_u64 {
        pending.begin(id, ());
    }
    assert_eq!(pending.end(&0), None);
    assert_eq!(pending.end(&19_999), Some(()));
    assert_eq!((0..20_000).filter(|id| pending.end(id).is_some()).count(), 16_383);
}
