//! Every transition of the market: what it reports, in which order, and what it leaves.

use akash_proto::akash::deployment::v1::DeploymentReclamation;
use akash_proto::akash::deployment::v1beta4::{
    MsgCloseGroup, MsgPauseGroup, MsgStartGroup, MsgUpdateDeployment, QueryDeploymentRequest,
    QueryDeploymentResponse,
};
use akash_proto::akash::market::v1beta5::{
    MsgLeaseStartReclaim, QueryBidRequest, QueryBidResponse, QueryLeaseRequest, QueryLeaseResponse,
    QueryOrdersRequest, QueryOrdersResponse,
};
use prost_types::Duration;

use crate::state::support::{
    Chain, Market, Wallet, bid_id, close_bid, close_deployment, close_lease, create_bid,
    create_deployment, create_lease, deployment_id, group_id, kinds, lease_id, refusal, withdraw,
};

const WEEK: i64 = 7 * 24 * 3600;

fn deployment(market: &Market, dseq: u64) -> QueryDeploymentResponse {
    let request = QueryDeploymentRequest { id: deployment_id(&market.tenant, dseq) };
    market.chain.ask("/akash.deployment.v1beta4.Query/Deployment", &request)
}

fn group_state(market: &Market, dseq: u64) -> i32 {
    deployment(market, dseq).groups[0].state
}

/// States of the orders of a deployment, by number.
fn orders(market: &Market, dseq: u64) -> Vec<(u32, i32)> {
    let filters = akash_proto::akash::market::v1beta5::OrderFilters {
        owner: market.tenant.text(),
        dseq,
        ..Default::default()
    };
    let request = QueryOrdersRequest { filters: Some(filters), pagination: None };
    let answer: QueryOrdersResponse =
        market.chain.ask("/akash.market.v1beta5.Query/Orders", &request);
    answer.orders.iter().map(|order| (order.id.as_ref().unwrap().oseq, order.state)).collect()
}

fn bid_state(market: &Market, dseq: u64, provider: &Wallet) -> i32 {
    let request = QueryBidRequest { id: bid_id(&market.tenant, dseq, provider) };
    let answer: QueryBidResponse = market.chain.ask("/akash.market.v1beta5.Query/Bid", &request);
    answer.bid.unwrap().state
}

fn lease(market: &Market, dseq: u64) -> QueryLeaseResponse {
    let request = QueryLeaseRequest { id: lease_id(&market.tenant, dseq, market.provider()) };
    market.chain.ask("/akash.market.v1beta5.Query/Lease", &request)
}

fn lease_end(market: &Market, dseq: u64) -> (i32, i32, i64) {
    let lease = lease(market, dseq).lease.unwrap();
    (lease.state, lease.reason, lease.closed_on)
}

// Numbers of the protocol.
const ORDER_OPEN: i32 = 1;
const ORDER_ACTIVE: i32 = 2;
const ORDER_CLOSED: i32 = 3;
const BID_OPEN: i32 = 1;
const BID_ACTIVE: i32 = 2;
const BID_LOST: i32 = 3;
const BID_CLOSED: i32 = 4;
const LEASE_CLOSED: i32 = 3;
const LEASE_RECLAIMING: i32 = 4;
const GROUP_OPEN: i32 = 1;
const GROUP_PAUSED: i32 = 2;
const GROUP_CLOSED: i32 = 4;

#[test]
fn a_deployment_orders_for_each_group() {
    let mut market = Market::new(1);
    let mut create = create_deployment(&market.tenant, 5);
    let mut second = create.groups[0].clone();
    second.name = "eastcoast".to_owned();
    create.groups.push(second);
    let result = market.chain.send(&market.tenant, &create);
    assert_eq!(
        kinds(&result),
        ["EventDeploymentCreated", "EventOrderCreated", "EventOrderCreated", "coin_spent"]
    );
    assert_eq!(deployment(&market, 5).groups.len(), 2);
    assert_eq!(orders(&market, 5), [(1, ORDER_OPEN), (1, ORDER_OPEN)]);
}

#[test]
fn an_update_needs_another_hash_of_an_active_deployment() {
    let mut market = Market::new(1);
    market.order(5);
    let id = deployment_id(&market.tenant, 5);
    let same = MsgUpdateDeployment { id: id.clone(), hash: vec![7; 32] };
    let other = MsgUpdateDeployment { id, hash: vec![8; 32] };
    let unknown = MsgUpdateDeployment { id: deployment_id(&market.tenant, 6), hash: vec![8; 32] };
    let Market { chain, tenant, .. } = &mut market;
    let text = "Invalid: deployment hash";
    assert_eq!(chain.refused(tenant, &same), refusal("deployment", 10, text));
    assert_eq!(kinds(&chain.send(tenant, &other)), ["EventDeploymentUpdated"]);
    let text = "Deployment not found";
    assert_eq!(chain.refused(tenant, &unknown), refusal("deployment", 4, text));
    chain.send(tenant, &close_deployment(tenant, 5));
    let text = "Deployment closed";
    assert_eq!(chain.refused(tenant, &same), refusal("deployment", 5, text));
    assert_eq!(
        chain.refused(tenant, &close_deployment(tenant, 5)),
        refusal("deployment", 5, "Deployment closed")
    );
}

#[test]
fn a_lease_takes_one_bid_and_only_the_first_loser_gets_its_deposit_back() {
    let mut market = Market::new(4);
    market.bids(5);
    let mut losers: Vec<&Wallet> = market.providers.iter().skip(1).collect();
    losers.sort_by_key(|wallet| wallet.text());
    let before: Vec<u128> =
        losers.iter().map(|wallet| market.chain.balance(wallet.address, "uakt")).collect();
    let create = create_lease(&market.tenant, 5, market.provider());
    let result = market.chain.send(&market.tenant, &create);
    // One deposit comes back, without an event of the market.
    assert_eq!(kinds(&result), ["EventLeaseCreated", "coin_spent"]);
    assert_eq!(orders(&market, 5), [(1, ORDER_ACTIVE)]);
    assert_eq!(bid_state(&market, 5, market.provider()), BID_ACTIVE);
    let states: Vec<i32> = losers.iter().map(|wallet| bid_state(&market, 5, wallet)).collect();
    assert_eq!(states, [BID_LOST, BID_OPEN, BID_OPEN]);
    let after: Vec<u128> =
        losers.iter().map(|wallet| market.chain.balance(wallet.address, "uakt")).collect();
    assert_eq!(after[0], before[0] + 500_000);
    assert_eq!(after[1..], before[1..]);

    let (lost, open) = (losers[0].text(), losers[1].text());
    let of = |text: &str| market.providers.iter().find(|wallet| wallet.text() == text).unwrap();
    let (lost, open) = (of(&lost), of(&open));
    let chain = &mut market.chain;
    assert_eq!(
        chain.refused(lost, &close_bid(&market.tenant, 5, lost)),
        refusal("market", 8, "unknown lease for bid")
    );
    let result = chain.send(open, &close_bid(&market.tenant, 5, open));
    assert_eq!(kinds(&result), ["coin_spent", "EventBidClosed"]);
    assert_eq!(
        chain.refused(&market.tenant, &create_lease(&market.tenant, 5, lost)),
        refusal("market", 12, "bid not open")
    );
    chain.next();
}

#[test]
fn open_losers_stay_open_when_their_order_is_closed() {
    let mut market = Market::new(4);
    market.lease(5);
    let close = close_lease(&market.tenant, 5, market.provider());
    market.chain.send(&market.tenant, &close);
    let open: Vec<&Wallet> = market
        .providers
        .iter()
        .filter(|wallet| bid_state(&market, 5, wallet) == BID_OPEN)
        .collect();
    assert_eq!(open.len(), 2);
    market.chain.next();
    let close = close_deployment(&market.tenant, 5);
    market.chain.send(&market.tenant, &close);
    assert!(open.iter().all(|wallet| bid_state(&market, 5, wallet) == BID_OPEN));
    let before = market.chain.balance(open[0].address, "uakt");
    let message = close_bid(&market.tenant, 5, open[0]);
    let chain = &mut market.chain;
    let result = chain.send(open[0], &message);
    assert_eq!(kinds(&result), ["coin_spent", "EventBidClosed"]);
    // The deposit less the fee.
    assert_eq!(chain.balance(open[0].address, "uakt"), before + 500_000 - 10_000);
}

#[test]
fn an_open_bid_is_closed_with_its_deposit() {
    let mut market = Market::new(1);
    market.bids(5);
    let before = market.chain.balance(market.provider().address, "uakt");
    let close = close_bid(&market.tenant, 5, market.provider());
    let result = market.chain.send(&market.providers[0], &close);
    assert_eq!(kinds(&result), ["coin_spent", "EventBidClosed"]);
    assert_eq!(bid_state(&market, 5, market.provider()), BID_CLOSED);
    assert_eq!(market.chain.balance(market.provider().address, "uakt"), before + 500_000 - 10_000);
    assert_eq!(
        market.chain.refused(&market.providers[0], &close),
        refusal("market", 8, "unknown lease for bid")
    );
    assert_eq!(orders(&market, 5), [(1, ORDER_OPEN)]);
}

#[test]
fn a_provider_that_gives_a_lease_up_pauses_the_group() {
    let mut market = Market::new(1);
    market.lease(5);
    let mut close = close_bid(&market.tenant, 5, market.provider());
    close.reason = 10_777;
    let result = market.chain.send(&market.providers[0], &close);
    assert_eq!(
        kinds(&result),
        [
            "EventGroupPaused",
            "EventLeaseClosed",
            "coin_spent",
            "EventBidClosed",
            "EventOrderClosed",
            "coin_spent"
        ]
    );
    let reason = result.events.iter().find_map(|event| event.get("reason"));
    assert_eq!(reason, Some("10777"), "a number without a name is printed bare");
    assert_eq!(group_state(&market, 5), GROUP_PAUSED);
    assert_eq!(orders(&market, 5), [(1, ORDER_CLOSED)]);
    let height = i64::try_from(market.chain.state.height()).unwrap();
    assert_eq!(lease_end(&market, 5), (LEASE_CLOSED, 10_777, height));

    market.chain.next();
    let start = MsgStartGroup { id: group_id(&market.tenant, 5) };
    let result = market.chain.send(&market.tenant, &start);
    assert_eq!(kinds(&result), ["EventGroupStarted", "EventOrderCreated"]);
    assert_eq!(orders(&market, 5), [(1, ORDER_CLOSED), (2, ORDER_OPEN)]);
    assert_eq!(group_state(&market, 5), GROUP_OPEN);
}

#[test]
fn a_tenant_that_ends_a_lease_orders_again() {
    let mut market = Market::new(1);
    market.lease(5);
    let mut close = close_lease(&market.tenant, 5, market.provider());
    // Whatever the message says, it was the owner.
    close.reason = 10_001;
    let result = market.chain.send(&market.tenant, &close);
    assert_eq!(
        kinds(&result),
        [
            "EventLeaseClosed",
            "coin_spent",
            "EventBidClosed",
            "EventOrderClosed",
            "coin_spent",
            "EventOrderCreated"
        ]
    );
    assert_eq!(orders(&market, 5), [(1, ORDER_CLOSED), (2, ORDER_OPEN)]);
    assert_eq!(lease_end(&market, 5).1, 1);
    assert_eq!(market.chain.refused(&market.tenant, &close), refusal("market", 24, "order closed"));
    let close = close_bid(&market.tenant, 5, market.provider());
    assert_eq!(
        market.chain.refused(&market.providers[0], &close),
        refusal("market", 10, "lease not active")
    );
}

#[test]
fn closing_or_pausing_a_group_ends_what_is_in_it() {
    for pause in [false, true] {
        let mut market = Market::new(1);
        market.lease(5);
        let id = group_id(&market.tenant, 5);
        let (close, stop) = (MsgCloseGroup { id: id.clone() }, MsgPauseGroup { id: id.clone() });
        let Market { chain, tenant, .. } = &mut market;
        let result = if pause { chain.send(tenant, &stop) } else { chain.send(tenant, &close) };
        let first = if pause { "EventGroupPaused" } else { "EventGroupClosed" };
        assert_eq!(
            kinds(&result),
            [
                first,
                "EventOrderClosed",
                "coin_spent",
                "EventBidClosed",
                "EventLeaseClosed",
                "coin_spent"
            ]
        );
        let start = MsgStartGroup { id };
        if pause {
            let text = "Group paused";
            assert_eq!(chain.refused(tenant, &stop), refusal("deployment", 17, text));
            chain.send(tenant, &start);
            let text = "Group open";
            assert_eq!(chain.refused(tenant, &start), refusal("deployment", 16, text));
            chain.send(tenant, &close);
        }
        let expected = refusal("deployment", 15, "Group already closed");
        assert_eq!(chain.refused(tenant, &close), expected);
        assert_eq!(chain.refused(tenant, &stop), expected);
        assert_eq!(chain.refused(tenant, &start), expected);
        assert_eq!(group_state(&market, 5), GROUP_CLOSED);
        assert_eq!(lease_end(&market, 5).1, 1);
    }
}

#[test]
fn groups_that_do_not_exist_cannot_change() {
    let mut market = Market::new(1);
    let id = group_id(&market.tenant, 9);
    let expected = refusal("deployment", 14, "Group not found");
    let Market { chain, tenant, .. } = &mut market;
    assert_eq!(chain.refused(tenant, &MsgCloseGroup { id: id.clone() }), expected);
    assert_eq!(chain.refused(tenant, &MsgPauseGroup { id: id.clone() }), expected);
    assert_eq!(chain.refused(tenant, &MsgStartGroup { id }), expected);
}

#[test]
fn closing_a_deployment_pays_out_and_ends_everything() {
    let mut market = Market::new(2);
    market.bids(5);
    let create = create_lease(&market.tenant, 5, market.provider());
    market.chain.send(&market.tenant, &create);
    market.chain.next();
    let provider = market.chain.balance(market.provider().address, "uact");
    let tenant = market.chain.balance(market.tenant.address, "uact");
    let close = close_deployment(&market.tenant, 5);
    let result = market.chain.send(&market.tenant, &close);
    assert_eq!(
        kinds(&result),
        [
            "coin_spent",
            "coin_spent",
            "EventDeploymentClosed",
            "EventGroupClosed",
            "EventOrderClosed",
            "coin_spent",
            "EventBidClosed",
            "EventLeaseClosed"
        ]
    );
    assert_eq!(market.chain.balance(market.provider().address, "uact"), provider + 500);
    assert_eq!(market.chain.balance(market.tenant.address, "uact"), tenant + 5_000_000 - 500);
    assert_eq!(lease_end(&market, 5).0, LEASE_CLOSED);
    assert_eq!(deployment(&market, 5).deployment.unwrap().state, 2);
}

#[test]
fn closing_a_deployment_with_open_bids_returns_their_deposits() {
    let mut market = Market::new(3);
    market.bids(5);
    let close = close_deployment(&market.tenant, 5);
    let result = market.chain.send(&market.tenant, &close);
    assert_eq!(
        kinds(&result),
        [
            "coin_spent",
            "EventDeploymentClosed",
            "EventGroupClosed",
            "EventOrderClosed",
            "coin_spent",
            "EventBidClosed",
            "coin_spent",
            "EventBidClosed",
            "coin_spent",
            "EventBidClosed"
        ]
    );
    assert!(market.providers.iter().all(|wallet| bid_state(&market, 5, wallet) == BID_CLOSED));
}

#[test]
fn closing_a_deployment_whose_group_is_paused_says_little() {
    let mut market = Market::new(1);
    market.lease(5);
    let close = close_bid(&market.tenant, 5, market.provider());
    market.chain.send(&market.providers[0], &close);
    market.chain.next();
    let close = close_deployment(&market.tenant, 5);
    let result = market.chain.send(&market.tenant, &close);
    assert_eq!(kinds(&result), ["coin_spent", "EventDeploymentClosed", "EventGroupClosed"]);
}

#[test]
fn a_lease_with_a_window_is_announced_before_it_is_closed() {
    let mut market = Market::new(1);
    market.order(5);
    let mut bid = create_bid(&market.tenant, 5, market.provider());
    bid.reclamation_window = Some(Duration { seconds: WEEK, nanos: 0 });
    market.chain.send(&market.providers[0], &bid);
    let create = create_lease(&market.tenant, 5, market.provider());
    market.chain.send(&market.tenant, &create);
    market.chain.next();

    let close = close_bid(&market.tenant, 5, market.provider());
    let start =
        MsgLeaseStartReclaim { id: lease_id(&market.tenant, 5, market.provider()), reason: 10_001 };
    let text = "reclamation not started; call MsgLeaseStartReclaim first";
    let provider = &market.providers[0];
    assert_eq!(market.chain.refused(provider, &close), refusal("market", 37, text));
    let result = market.chain.send(provider, &start);
    assert_eq!(kinds(&result), ["EventLeaseReclaimStarted"]);
    let block = market.chain.state.block();
    let deadline = block.time_unix_nanos / 1_000_000_000 + WEEK;
    let event = result.events.last().unwrap();
    assert_eq!(event.get("deadline"), Some(format!("\"{deadline}\"").as_str()));
    let keys: Vec<_> = event.attributes.iter().map(|(key, ..)| key.as_str()).collect();
    assert_eq!(keys, ["deadline", "id", "reason", "msg_index"]);
    let reclaimed = lease(&market, 5).lease.unwrap();
    let terms = reclaimed.reclamation.unwrap();
    let height = i64::try_from(block.height).unwrap();
    assert_eq!((reclaimed.state, terms.started_at), (LEASE_RECLAIMING, height));
    assert_eq!((terms.deadline, terms.reason), (deadline, 10_001));

    let text = "lease not active";
    assert_eq!(market.chain.refused(provider, &start), refusal("market", 10, text));
    let text = "reclamation window has not elapsed";
    assert_eq!(market.chain.refused(provider, &close), refusal("market", 38, text));
    // Money flows all the same.
    market.chain.next();
    market.chain.send(provider, &withdraw(&market.tenant, 5, provider));
    market.chain.state.end_block();
    market.chain.state.commit();
    let later = akash_devnet::state::BlockInfo {
        height: block.height + 2,
        time_unix_nanos: deadline * 1_000_000_000,
        proposer: [7; 20],
    };
    market.chain.state.begin_block(later);
    let result = market.chain.send(provider, &close);
    assert_eq!(kinds(&result)[..2], ["EventGroupPaused", "EventLeaseClosed"]);
}

#[test]
fn a_lease_without_a_window_cannot_be_reclaimed() {
    let mut market = Market::new(1);
    market.lease(5);
    let mut start =
        MsgLeaseStartReclaim { id: lease_id(&market.tenant, 5, market.provider()), reason: 10_001 };
    let provider = &market.providers[0];
    assert_eq!(
        market.chain.refused(provider, &start),
        refusal("market", 35, "lease does not have reclamation configured")
    );
    start.reason = 0;
    assert_eq!(
        market.chain.refused(provider, &start),
        refusal("market", 33, "value \"0\" range 10000..19999: invalid lease closed reason")
    );
    start.id.as_mut().unwrap().dseq = 6;
    start.reason = 10_000;
    assert_eq!(market.chain.refused(provider, &start), refusal("market", 7, "unknown lease"));
}

#[test]
fn a_tenants_window_follows_its_orders() {
    let mut market = Market::new(1);
    let mut create = create_deployment(&market.tenant, 5);
    let window = Duration { seconds: 2 * 3600, nanos: 0 };
    create.reclamation = Some(DeploymentReclamation { min_window: Some(window) });
    market.chain.send(&market.tenant, &create);
    let pause = MsgPauseGroup { id: group_id(&market.tenant, 5) };
    let start = MsgStartGroup { id: group_id(&market.tenant, 5) };
    market.chain.send(&market.tenant, &pause);
    market.chain.send(&market.tenant, &start);
    let answer: QueryOrdersResponse =
        market.chain.ask("/akash.market.v1beta5.Query/Orders", &QueryOrdersRequest::default());
    let windows: Vec<_> =
        answer.orders.iter().map(|order| order.reclamation.unwrap().min_window).collect();
    assert_eq!(windows, [Some(window), Some(window)]);
}

#[test]
fn a_lease_needs_open_things() {
    let mut market = Market::new(1);
    market.bids(5);
    let create = create_lease(&market.tenant, 5, market.provider());
    let unknown = create_lease(&market.tenant, 6, market.provider());
    let Market { chain, tenant, providers } = &mut market;
    let text = "invalid bid: bid not found";
    assert_eq!(chain.refused(tenant, &unknown), refusal("market", 18, text));
    chain.send(tenant, &MsgPauseGroup { id: group_id(tenant, 5) });
    assert_eq!(chain.refused(tenant, &create), refusal("market", 12, "bid not open"));
    let close = close_lease(tenant, 7, &providers[0]);
    let text = "invalid order: order not found";
    assert_eq!(chain.refused(tenant, &close), refusal("market", 15, text));
}

#[test]
fn an_open_deployment_exists_once() {
    let wallet = Wallet::numbered(3);
    let mut chain = Chain::new(&[&wallet]);
    chain.send(&wallet, &create_deployment(&wallet, 5));
    assert_eq!(
        chain.refused(&wallet, &create_deployment(&wallet, 5)),
        refusal("deployment", 3, "Deployment exists")
    );
}
