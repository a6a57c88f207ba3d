//! Each check of a bid, with its code and text.

use akash_proto::akash::audit::v1::MsgSignProviderAttributes;
use akash_proto::akash::base::attributes::v1::SignedBy;
use akash_proto::akash::base::resources::v1beta4::Resources;
use akash_proto::akash::deployment::v1::DeploymentReclamation;
use akash_proto::akash::market::v1beta5::{MsgCreateBid, ResourceOffer};
use prost_types::Duration;

use crate::state::support::{
    Market, Wallet, attribute, create_bid, create_deployment, create_lease, deposit, genesis,
    price, refusal,
};

/// A market with an open order 5 and what a change of a good bid is refused with.
fn refused(change: impl FnOnce(&mut MsgCreateBid)) -> (String, u32, String) {
    let mut market = Market::new(2);
    market.order(5);
    refused_in(&mut market, change)
}

fn refused_in(
    market: &mut Market,
    change: impl FnOnce(&mut MsgCreateBid),
) -> (String, u32, String) {
    let mut bid = create_bid(&market.tenant, 5, market.provider());
    change(&mut bid);
    market.chain.refused(&market.providers[0], &bid)
}

#[test]
fn the_deposit_is_of_a_known_kind_and_large_enough() {
    assert_eq!(
        refused(|bid| bid.deposit = deposit(500_000, "uusd")),
        refusal("market", 28, "deposit invalid: unsupported denom uusd")
    );
    let (space, code, text) = refused(|bid| bid.deposit = deposit(499_999, "uakt"));
    assert_eq!((space.as_str(), code), ("market", 28));
    assert!(text.starts_with("deposit invalid: minimum:500000uakt received:"), "{text}");
}

#[test]
fn one_more_bid_than_the_limit_fits() {
    let mut market = Market::new(23);
    market.order(5);
    let (fitting, rest) = market.providers.split_at(21);
    for provider in fitting {
        let bid = create_bid(&market.tenant, 5, provider);
        market.chain.send(provider, &bid);
    }
    let bid = create_bid(&market.tenant, 5, &rest[0]);
    assert_eq!(
        market.chain.refused(&rest[0], &bid),
        refusal("market", 31, "invalid bid: too many existing bids (20)")
    );
}

#[test]
fn the_id_is_checked_before_all_else() {
    assert_eq!(
        refused(|bid| bid.id.as_mut().unwrap().bseq = 1),
        refusal("sdk", 36, "BidID: invalid bseq: conflict")
    );
    let own = |bid: &mut MsgCreateBid| {
        let id = bid.id.as_mut().unwrap();
        id.owner = id.provider.clone();
    };
    assert_eq!(refused(own), refusal("sdk", 36, "BidID: self-bid: conflict"));
    assert_eq!(
        refused(|bid| bid.id.as_mut().unwrap().oseq = 0),
        refusal(
            "sdk",
            3,
            "BidID: Invalid OrderID: OrderID: Invalid Order Sequence: invalid sequence"
        )
    );
}

#[test]
fn the_order_exists_and_is_open() {
    let text = "invalid order: order not found";
    assert_eq!(refused(|bid| bid.id.as_mut().unwrap().dseq = 6), refusal("market", 15, text));
    let mut market = Market::new(2);
    market.bids(5);
    let lease = create_lease(&market.tenant, 5, market.provider());
    market.chain.send(&market.tenant, &lease);
    assert_eq!(refused_in(&mut market, |_| {}), refusal("market", 23, "order active"));
    let close = crate::state::support::close_deployment(&market.tenant, 5);
    market.chain.next();
    market.chain.send(&market.tenant, &close);
    assert_eq!(refused_in(&mut market, |_| {}), refusal("market", 24, "order closed"));
}

#[test]
fn the_price_is_at_most_the_orders() {
    let mut market = Market::new(2);
    market.order(5);
    let expected = refusal("market", 22, "bid price is invalid");
    assert_eq!(refused_in(&mut market, |bid| bid.price = Some(price(1_001, "uact"))), expected);
    let zero = refusal("market", 19, "invalid bid: zero price");
    assert_eq!(refused_in(&mut market, |bid| bid.price = Some(price(0, "uact"))), zero);
    let mut bid = create_bid(&market.tenant, 5, market.provider());
    bid.price = Some(price(1_000, "uact"));
    market.chain.send(&market.providers[0], &bid);
}

#[test]
fn another_denomination_is_a_panic_of_the_node() {
    let (space, code, text) = refused(|bid| bid.price = Some(price(1, "uakt")));
    assert_eq!((space.as_str(), code), ("undefined", 111_222));
    assert!(
        text.starts_with("recovered: invalid coin denominations; uact, uakt\nstack:"),
        "{text}"
    );
    assert!(text.ends_with(": panic"), "{text}");
}

#[test]
fn an_offer_names_units_of_the_order_once_with_their_counts() {
    let offer = |id, count| ResourceOffer {
        resources: Some(Resources { id, ..Resources::default() }),
        count,
        prices: None,
    };
    let expected = refusal("market", 32, "capabilities mismatch");
    for offers in [vec![offer(2, 1)], vec![offer(1, 2)], vec![offer(1, 1), offer(1, 1)]] {
        assert_eq!(refused(|bid| bid.resources_offer = offers), expected);
    }
    let mut market = Market::new(1);
    market.order(5);
    let mut bid = create_bid(&market.tenant, 5, market.provider());
    bid.resources_offer = vec![offer(1, 1)];
    market.chain.send(&market.providers[0], &bid);
}

#[test]
fn the_provider_is_registered() {
    let mut market = Market::new(1);
    market.order(5);
    let stranger = Wallet::numbered(99);
    let bid = create_bid(&market.tenant, 5, &stranger);
    let send = akash_proto::cosmos::bank::v1beta1::MsgSend {
        from_address: market.tenant.text(),
        to_address: stranger.text(),
        amount: vec![crate::state::support::coin(1_000_000, "uakt")],
    };
    market.chain.send(&market.tenant, &send);
    assert_eq!(market.chain.refused(&stranger, &bid), refusal("market", 30, "unknown provider"));
}

#[test]
fn the_provider_has_what_is_required() {
    let auditor = Wallet::numbered(50);
    let mut market = Market::new(1);
    let mut create = create_deployment(&market.tenant, 5);
    let requirements = create.groups[0].requirements.as_mut().unwrap();
    requirements.attributes = vec![attribute("region", "us-east")];
    market.chain.send(&market.tenant, &create);
    let expected = refusal("market", 5, "attribute mismatch");
    assert_eq!(refused_in(&mut market, |_| {}), expected);

    let mut create = create_deployment(&market.tenant, 6);
    let requirements = create.groups[0].requirements.as_mut().unwrap();
    requirements.signed_by = Some(SignedBy { all_of: vec![auditor.text()], any_of: Vec::new() });
    market.chain.send(&market.tenant, &create);
    let mut bid = create_bid(&market.tenant, 6, market.provider());
    let provider = &market.providers[0];
    assert_eq!(market.chain.refused(provider, &bid), expected);
    let fund = akash_proto::cosmos::bank::v1beta1::MsgSend {
        from_address: market.tenant.text(),
        to_address: auditor.text(),
        amount: vec![crate::state::support::coin(1_000_000, "uakt")],
    };
    market.chain.send(&market.tenant, &fund);
    let sign = MsgSignProviderAttributes {
        owner: provider.text(),
        auditor: auditor.text(),
        attributes: vec![attribute("region", "us-west")],
    };
    market.chain.send(&auditor, &sign);
    market.chain.send(provider, &bid);

    let mut create = create_deployment(&market.tenant, 7);
    let unit = create.groups[0].resources[0].resource.as_mut().unwrap();
    unit.storage[0].attributes = vec![attribute("class", "beta3")];
    market.chain.send(&market.tenant, &create);
    bid.id.as_mut().unwrap().dseq = 7;
    let expected = refusal("market", 32, "capabilities mismatch");
    assert_eq!(market.chain.refused(provider, &bid), expected);
}

#[test]
fn the_deposit_is_covered() {
    let poor = Wallet::numbered(70);
    let tenant = Wallet::numbered(0);
    let mut genesis = genesis(&[&tenant, &poor]);
    genesis.accounts[1].1 = vec!["509999uakt".parse().unwrap()];
    let mut chain = crate::state::support::Chain::with(&genesis);
    chain.send(&tenant, &create_deployment(&tenant, 5));
    let mut draft = crate::state::support::Draft::new(vec![akash_proto::to_any(
        &crate::state::support::create_provider(&poor),
    )]);
    draft.fee.amount = vec![crate::state::support::coin(5_000, "uakt")];
    let tx = chain.signed(&poor, &draft);
    assert!(chain.state.deliver_tx(&tx).is_ok());
    let bid = create_bid(&tenant, 5, &poor);
    let mut draft = crate::state::support::Draft::new(vec![akash_proto::to_any(&bid)]);
    draft.fee.amount = vec![crate::state::support::coin(5_000, "uakt")];
    let tx = chain.signed(&poor, &draft);
    let result = chain.state.deliver_tx(&tx);
    assert_eq!(
        result.log,
        "failed to execute message; message index: 0: deposit invalid: insufficient balance"
    );
    assert_eq!((result.codespace.as_str(), result.code), ("market", 28));
}

#[test]
fn the_window_suits_order_and_network() {
    let window = |seconds| Some(Duration { seconds, nanos: 0 });
    let mut market = Market::new(2);
    let mut create = create_deployment(&market.tenant, 5);
    create.reclamation = Some(DeploymentReclamation { min_window: window(7_200) });
    market.chain.send(&market.tenant, &create);
    assert_eq!(
        refused_in(&mut market, |_| {}),
        refusal("market", 40, "order requires reclamation but bid does not offer it")
    );
    assert_eq!(
        refused_in(&mut market, |bid| bid.reclamation_window = window(7_199)),
        refusal("market", 41, "reclamation window shorter than order minimum")
    );
    let text = "reclamation window outside governance bounds";
    for seconds in [0, 3_599, 2_592_001, -1] {
        let mut market = Market::new(1);
        market.order(5);
        assert_eq!(
            refused_in(&mut market, |bid| bid.reclamation_window = window(seconds)),
            refusal("market", 39, text)
        );
    }
    let mut bid = create_bid(&market.tenant, 5, market.provider());
    bid.reclamation_window = window(7_200);
    market.chain.send(&market.providers[0], &bid);
}

#[test]
fn a_provider_bids_once() {
    let mut market = Market::new(1);
    market.bids(5);
    let text = "invalid bid: bid exists from provider";
    assert_eq!(refused_in(&mut market, |_| {}), refusal("market", 21, text));
    let close = crate::state::support::close_bid(&market.tenant, 5, market.provider());
    market.chain.send(&market.providers[0], &close);
    assert_eq!(refused_in(&mut market, |_| {}), refusal("market", 21, text));
}
