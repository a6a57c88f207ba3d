//! The life of an order, stage by stage.

use std::sync::Arc;

use akash_types::{
    Address, Bid, BidState, DeploymentId, GroupId, GroupSpec, Lease, LeaseState, Order, OrderId,
    OrderState, PlacementRequirements, Resources,
};

use super::super::*;
use crate::order::pricing::PriceError;

fn address(byte: u8) -> Address {
    Address::from_bytes(&[byte; 20]).unwrap()
}

fn order_id() -> OrderId {
    let group = GroupId::new(DeploymentId::new(address(1), 7).unwrap(), 1).unwrap();
    OrderId::new(group, 1).unwrap()
}

fn order(state: OrderState) -> Order {
    let spec = GroupSpec {
        name: "west".to_owned(),
        requirements: PlacementRequirements::default(),
        resources: vec![],
    };
    Order { id: order_id(), state, spec, created_at: 10, reclamation_min_window: None }
}

fn bid(state: BidState) -> Bid {
    Bid {
        id: order_id().bid_id(address(2)),
        state,
        price: "5uact".parse().unwrap(),
        created_at: 11,
        resources_offer: vec![],
        reclamation_window: None,
    }
}

fn lease(state: LeaseState) -> Lease {
    Lease {
        id: order_id().bid_id(address(2)).lease_id(),
        state,
        price: "5uact".parse().unwrap(),
        created_at: 12,
        closed_on: None,
        reason: None,
        reclamation: None,
    }
}

fn standing(
    order_state: Option<OrderState>,
    bid_state: Option<BidState>,
    lease_state: Option<LeaseState>,
) -> Standing {
    Standing {
        order: order_state.map(order),
        bid: bid_state.map(bid),
        lease: lease_state.map(lease),
    }
}

fn looked(standing: Standing, time: u64, pending: bool) -> OrderInput {
    let time = BlockTime::from_unix(time);
    OrderInput::Looked(Box::new(standing), Circumstances { time, pending })
}

fn open_bid(deadline: Option<u64>) -> Stage {
    Stage::Open(OpenBid {
        order: Arc::new(order(OrderState::Open)),
        price: "5uact".parse().unwrap(),
        created_at: 11,
        deadline: deadline.map(BlockTime::from_unix),
    })
}

fn bidding() -> Stage {
    Stage::Bidding(Arc::new(order(OrderState::Open)), "5uact".parse().unwrap())
}

#[test]
fn what_is_seen_says_how_we_stand() {
    use BidState as B;
    use OrderState as O;
    for (order, bid, lease, class) in [
        (Some(O::Open), None, None, Classification::MayBid),
        (Some(O::Active), None, None, Classification::Over(Ending::OverBeforeBid)),
        (Some(O::Closed), None, None, Classification::Over(Ending::OverBeforeBid)),
        (None, None, None, Classification::Over(Ending::Unknown)),
        (Some(O::Open), Some(B::Open), None, Classification::BidOpen),
        (Some(O::Active), Some(B::Open), None, Classification::BidLeftOver),
        (Some(O::Closed), Some(B::Open), None, Classification::BidLeftOver),
        (Some(O::Active), Some(B::Lost), None, Classification::Over(Ending::NotWon)),
        (Some(O::Open), Some(B::Closed), None, Classification::Over(Ending::BidClosed)),
        (Some(O::Active), Some(B::Closed), None, Classification::Over(Ending::BidClosed)),
        (Some(O::Closed), Some(B::Closed), None, Classification::Over(Ending::OrderClosed)),
        (Some(O::Active), Some(B::Active), None, Classification::Unclear),
        (Some(O::Active), Some(B::Active), Some(LeaseState::Active), Classification::Leased),
        (Some(O::Active), Some(B::Active), Some(LeaseState::Reclaiming), Classification::Leased),
        (
            Some(O::Closed),
            Some(B::Closed),
            Some(LeaseState::Closed),
            Classification::Over(Ending::LeaseOver),
        ),
        (
            Some(O::Closed),
            Some(B::Closed),
            Some(LeaseState::InsufficientFunds),
            Classification::Over(Ending::LeaseOver),
        ),
    ] {
        let standing = standing(order, bid, lease);
        assert_eq!(classify(&standing), class, "{order:?} {bid:?} {lease:?}");
    }
}

#[test]
fn an_open_order_is_evaluated_and_bid_on() {
    let (stage, actions) =
        Stage::Seen.step(looked(standing(Some(OrderState::Open), None, None), 0, false));
    assert!(matches!(actions[..], [OrderAction::Evaluate(_)]));
    let price: DecCoin = "5uact".parse().unwrap();
    let reservation = Booking::default();
    let offer = vec![ResourceOffer { resources: Resources::default(), count: 3, prices: None }];
    let evaluation = Evaluation::Bid { reservation, offer: offer.clone(), price: price.clone() };
    let (stage, actions) = stage.step(OrderInput::Evaluated(evaluation));
    let [OrderAction::Reserve(_), OrderAction::Bid(bid, offered)] = &actions[..] else {
        panic!("{actions:?}")
    };
    assert_eq!((stage.name(), bid, offered), ("bidding", &price, &offer));
    let seen = standing(Some(OrderState::Open), Some(BidState::Open), None);
    let (stage, actions) = stage.step(looked(seen, 0, false));
    assert!(matches!(actions[..], [OrderAction::Adopt(_), OrderAction::AskTimeout(11)]));
    assert_eq!(stage.name(), "open");
}

#[test]
fn an_order_is_priced_only_while_a_script_runs() {
    let open = standing(Some(OrderState::Open), None, None);
    let (pending, _) = Stage::Seen.step(looked(open, 0, false));
    let price: DecCoin = "5uact".parse().unwrap();
    let address = Address::from_bytes(&[1; 20]).unwrap();
    let request = ScriptRequest::new(&address, &[], &price);
    let evaluation = Evaluation::AskScript {
        reservation: Booking::default(),
        offer: Vec::new(),
        request: request.clone(),
    };
    let (pricing, actions) = pending.clone().step(OrderInput::Evaluated(evaluation));
    assert_eq!(pricing.name(), "pricing");
    assert_eq!(actions[1], OrderAction::RunScript(request));
    let (stage, actions) = pricing.clone().step(OrderInput::Priced(price, Vec::new()));
    assert_eq!(stage.name(), "bidding");
    assert!(matches!(actions[..], [OrderAction::Bid(..)]));
    let (stage, actions) = pricing.step(OrderInput::Unfit(vec![PriceError::Zero.into()]));
    assert_eq!((stage.name(), &actions[..]), ("declined", &[][..]));

    let declined = Evaluation::Decline(vec![PriceError::Zero.into()]);
    let (stage, actions) = pending.step(OrderInput::Evaluated(declined));
    assert_eq!((stage.name(), &actions[..]), ("declined", &[][..]));
}

#[test]
fn a_bid_is_closed_as_late_only_after_looking_for_a_lease() {
    let (stage, actions) = open_bid(Some(100)).step(OrderInput::Deadline);
    assert_eq!(actions, [OrderAction::Look]);
    let still_open = || standing(Some(OrderState::Open), Some(BidState::Open), None);
    let (early, actions) = stage.clone().step(looked(still_open(), 99, false));
    assert_eq!((early.name(), &actions[..]), ("open", &[][..]));
    let (late, actions) = stage.clone().step(looked(still_open(), 100, false));
    assert_eq!(late, Stage::Closing(CloseCause::TimedOut));
    assert_eq!(actions, [OrderAction::CloseBid(CloseCause::TimedOut)]);
    let won = standing(Some(OrderState::Active), Some(BidState::Active), Some(LeaseState::Active));
    let (_, actions) = stage.step(looked(won, 100, false));
    assert!(matches!(actions[..], [OrderAction::Won(..)]));
}

#[test]
fn a_bid_that_lands_after_its_order_is_over_is_closed() {
    let over = || standing(Some(OrderState::Closed), None, None);
    let (stage, actions) = bidding().step(looked(over(), 0, true));
    assert_eq!((&stage, &actions[..]), (&Stage::Abandoned, &[OrderAction::Forget][..]));
    let (stage, actions) = stage.step(OrderInput::IntentEnded);
    assert_eq!(actions, [OrderAction::Look]);
    let landed = standing(Some(OrderState::Closed), Some(BidState::Open), None);
    let (stage, actions) = stage.step(looked(landed, 0, false));
    assert_eq!(actions, [OrderAction::CloseBid(CloseCause::OrderOver)]);
    let closed = standing(Some(OrderState::Closed), Some(BidState::Closed), None);
    let (_, actions) = stage.step(looked(closed, 0, false));
    assert_eq!(actions, [OrderAction::End(Ending::OrderClosed)]);
}

#[test]
fn an_abandoned_bid_that_never_landed_ends_with_the_order() {
    let over = standing(Some(OrderState::Closed), None, None);
    let (_, actions) = Stage::Abandoned.step(looked(over, 0, false));
    assert_eq!(actions, [OrderAction::End(Ending::OverBeforeBid)]);
}

#[test]
fn a_bid_that_was_lost_on_the_way_is_evaluated_again() {
    let open = || standing(Some(OrderState::Open), None, None);
    let (stage, actions) = bidding().step(looked(open(), 0, true));
    assert_eq!((stage.name(), actions.len()), ("bidding", 0), "the lane still has it");
    let (stage, actions) = stage.step(looked(open(), 0, false));
    assert_eq!(stage.name(), "judged");
    assert!(matches!(actions[..], [OrderAction::Evaluate(_)]));
}

#[test]
fn closing_is_begun_again_until_the_chain_shows_it() {
    let closing = Stage::Closing(CloseCause::TimedOut);
    let open = standing(Some(OrderState::Open), Some(BidState::Open), None);
    let (stage, actions) = closing.step(looked(open, 0, false));
    assert_eq!(actions, [OrderAction::CloseBid(CloseCause::TimedOut)]);
    let won = standing(Some(OrderState::Active), Some(BidState::Active), Some(LeaseState::Active));
    let (_, actions) = stage.step(looked(won, 0, false));
    assert!(matches!(actions[..], [OrderAction::Won(..)]), "the tenant was faster");
}

#[test]
fn an_order_we_once_bid_on_is_never_bid_on_again() {
    for (state, ending) in [(BidState::Lost, Ending::NotWon), (BidState::Closed, Ending::BidClosed)]
    {
        let before = standing(Some(OrderState::Open), Some(state), None);
        let (_, actions) = Stage::Seen.step(looked(before, 0, false));
        assert_eq!(actions, [OrderAction::End(ending)]);
    }
}
