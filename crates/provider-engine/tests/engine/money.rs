//! What money and the chain's limits do to bids.

use akash_types::{Action, ChainEvent};
use provider_engine::cluster::recognition::Memory;
use provider_engine::{Engine, Settings};

use crate::world::{World, address, order, order_id, settings};

fn bids(world: &World) -> usize {
    world.submitted.iter().filter(|(_, action)| matches!(action, Action::CreateBid(_))).count()
}

#[test]
fn an_empty_wallet_stops_bids_with_a_reason_and_money_resumes_them() {
    let mut world = World::new();
    // Enough for the deposit and one fee, not for the fee reserve.
    world.chain.wallet = vec!["510000uakt".parse().unwrap()];
    world.start();
    let id = world.order(1);
    assert_eq!(bids(&world), 0);
    let why = world.why(id).join("; ");
    assert!(why.contains("550000uakt for deposit and fees, 510000uakt can be spent"), "{why}");
    assert!(world.engine.status().cannot_pay().unwrap().contains("510000uakt"));

    world.chain.wallet = vec!["560000uakt".parse().unwrap()];
    world.blocks(30);
    assert_eq!(bids(&world), 1);
    let status = world.engine.status();
    assert_eq!(status.cannot_pay(), None);
    assert!(status.low_balance().unwrap().contains("1000000uakt"));
}

#[test]
fn an_unknown_balance_stops_nothing() {
    let mut world = World::new();
    world.chain.wallet_answers = false;
    world.start();
    world.order(1);
    assert_eq!(bids(&world), 1);
}

#[test]
fn the_budget_counts_bids_alone_and_outlives_a_restart() {
    let mut limited = settings();
    limited.policy.daily_fees = Some(12_000);
    let start = |world: &mut World, memory: Memory| {
        world.engine = Engine::new(Settings { ..limited.clone() });
        world.engine.remember(memory);
        world.submitted.clear();
        world.start();
    };
    let mut world = World::new();
    world.fee = Some("5000uakt".parse().unwrap());
    start(&mut world, Memory::default());
    world.order(1);
    world.land();
    // A close costs as much and is no bid.
    world.blocks(60);
    assert!(matches!(world.submitted[..], [(_, Action::CloseBid { .. })]), "{:?}", world.submitted);
    world.land();
    world.order(2);
    assert_eq!(bids(&world), 1, "{:?}", world.why(order_id(2)));
    world.land();
    world.order(3);
    assert_eq!(bids(&world), 0);
    let why = world.why(order_id(3)).join("; ");
    assert!(why.contains("10000 in fees today"), "{why}");

    let bid_fees = world.bid_fees.clone();
    start(&mut world, Memory { bid_fees, ..Memory::default() });
    world.order(4);
    assert_eq!(bids(&world), 0, "the day is not over");
    world.days(1);
    assert!(bids(&world) > 0, "another day, another budget");
}

#[test]
fn an_order_with_more_bids_than_the_chain_takes_is_not_bid_on() {
    let price = || Some("1uact".parse().unwrap());
    for (others, expected) in [(20, 1), (21, 0)] {
        let mut world = World::started();
        let id = order_id(1);
        world.chain.orders.insert(id, order(id, world.chain.height + 1));
        let bid = |n: u8| ChainEvent::BidCreated { id: id.bid_id(address(n)), price: price() };
        let created = ChainEvent::OrderCreated { id };
        world.block(
            &std::iter::once(created).chain((100..100 + others).map(bid)).collect::<Vec<_>>(),
        );
        assert_eq!(bids(&world), expected, "{others} bids: {:?}", world.why(id));
    }
}
