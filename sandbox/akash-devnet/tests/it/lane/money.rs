//! Fees, withdrawals, and acting for others.

use akash_chain::tx::FeeRule;
use akash_chain::tx::lane::{HoldReason, LaneConfig};
use akash_chain::tx::message::authz::Authorization;
use akash_chain::tx::message::{authz, feegrant};
use akash_types::{Action, Intent, IntentId, LeaseId, Outcome};

use super::support::{Bed, HOT, PATRON, PROVIDER, address, bid_intents, config};

fn at_price(price: &str) -> LaneConfig {
    LaneConfig { fee: FeeRule::parse("", price).unwrap(), ..config(PROVIDER) }
}

#[tokio::test]
async fn a_fee_that_is_too_low_is_raised_up_to_the_cap_and_held_beyond() {
    let mut bed = Bed::start(None).await;
    let orders = bed.orders(2, 1).await;
    let intents = bid_intents(&orders, bed.height);
    let mut lane = bed.lane(at_price("0.0126uakt"), PROVIDER);
    lane.handle.submit(intents[..1].to_vec()).await.unwrap();
    lane.in_flight(1).await;
    bed.block(&lane).await;
    assert!(lane.outcome().await.1.holds());
    drop(lane);

    let lane = bed.lane(at_price("0.001uakt"), PROVIDER);
    lane.handle.submit(intents[1..].to_vec()).await.unwrap();
    let held = lane.wait("held", |status| !status.held.is_empty()).await.held;
    assert!(matches!(held.as_slice(), [(None, HoldReason::FeeTooLow { .. })]), "{held:?}");
    let text = held[0].1.to_string();
    assert!(text.contains("raise gas prices") && text.contains("required"), "{text}");
}

#[tokio::test]
async fn two_leases_of_one_deployment_are_withdrawn_in_two_blocks() {
    let mut bed = Bed::start(None).await;
    let mut lane = bed.lane(config(PROVIDER), PROVIDER);
    let orders = bed.orders(1, 2).await;
    lane.handle.submit(bid_intents(&orders, bed.height)).await.unwrap();
    lane.in_flight(2).await;
    bed.block(&lane).await;
    lane.outcomes(2).await;
    let bids: Vec<_> = orders.iter().map(|order| order.bid_id(address(PROVIDER))).collect();
    bed.lease(&bids).await;
    // Simulation sees the block in which the account was settled, and refuses: not for ever.
    bed.block(&lane).await;
    let withdraw = |id: u64, lease: LeaseId| {
        Intent::new(IntentId(10 + id), Action::Withdraw { lease }, bed.height)
    };
    let intents = (0..).zip(&bids).map(|(id, bid)| withdraw(id, bid.lease_id())).collect();
    lane.handle.submit(intents).await.unwrap();
    lane.wait("both wait for a block", |status| {
        status.queued.iter().map(|(_, count)| count).sum::<usize>() == 2
    })
    .await;
    let first = bed.height + 2;
    bed.block(&lane).await;
    lane.in_flight(1).await;
    bed.block(&lane).await;
    lane.wait("one is in", |status| status.confirmed_height == Some(first)).await;
    // Again simulation sees the block with the first; one more, and the second goes.
    bed.block(&lane).await;
    lane.in_flight(1).await;
    bed.block(&lane).await;
    let outcomes = lane.outcomes(2).await;
    let mut heights: Vec<u64> = outcomes
        .values()
        .map(|outcome| match outcome {
            Outcome::Executed { height } => *height,
            other => panic!("{other:?}"),
        })
        .collect();
    heights.sort_unstable();
    assert_eq!(heights, [first, first + 2]);
}

#[tokio::test]
async fn a_hot_key_bids_for_the_owner_and_still_knows_which_message_failed() {
    let mut bed = Bed::start(None).await;
    let message = "/akash.market.v1beta5.MsgCreateBid".to_owned();
    let grant = Authorization::Generic { message };
    let grant = authz::grant(address(PROVIDER), address(HOT), grant, None).unwrap();
    bed.read_sequence(PROVIDER).await;
    bed.send(PROVIDER, &[grant]).await;
    bed.silent_block().await;
    let orders = bed.orders(10, 1).await;
    bed.close_orders(orders.iter().skip(4).take(1)).await;
    let hot = LaneConfig { owner: address(PROVIDER), ..config(HOT) };
    assert!(hot.uses_authz());
    let mut lane = bed.lane(hot, HOT);
    lane.handle.submit(bid_intents(&orders, bed.height)).await.unwrap();
    lane.in_flight(10).await;
    bed.block(&lane).await;
    lane.in_flight(9).await;
    bed.block(&lane).await;
    let outcomes = lane.outcomes(10).await;
    for (id, outcome) in &outcomes {
        assert_eq!(outcome.holds(), *id != 4, "{id}: {outcome:?}");
    }
    let bid = bed.query.bid(orders[0].bid_id(address(PROVIDER))).await.unwrap();
    assert!(bid.value.is_some(), "it is the owner's bid");
}

#[tokio::test]
async fn a_fee_granter_pays_and_is_missed_when_it_stops() {
    let mut bed = Bed::start(None).await;
    let limit = feegrant::Limit::default();
    let grant = feegrant::grant_allowance(address(PATRON), address(PROVIDER), limit).unwrap();
    bed.send(PATRON, &[grant]).await;
    bed.silent_block().await;
    let orders = bed.orders(2, 1).await;
    let intents = bid_intents(&orders, bed.height);
    let granted = LaneConfig { fee_granter: Some(address(PATRON)), ..config(PROVIDER) };
    let mut lane = bed.lane(granted, PROVIDER);
    let balance = async |bed: &Bed| {
        let denom = "uakt".parse().unwrap();
        bed.query.balance(address(PROVIDER), &denom).await.unwrap().value.amount()
    };
    let before = balance(&bed).await;
    lane.handle.submit(intents[..1].to_vec()).await.unwrap();
    lane.in_flight(1).await;
    bed.block(&lane).await;
    assert!(lane.outcome().await.1.holds());
    assert_eq!(balance(&bed).await, before - 500_000, "the deposit and no fee");

    let revoke = feegrant::revoke_allowance(address(PATRON), address(PROVIDER)).unwrap();
    bed.send(PATRON, &[revoke]).await;
    bed.block(&lane).await;
    lane.handle.submit(intents[1..].to_vec()).await.unwrap();
    let held = lane.wait("held", |status| !status.held.is_empty()).await.held;
    assert!(matches!(held.as_slice(), [(None, HoldReason::FeeGrant { .. })]), "{held:?}");
}
