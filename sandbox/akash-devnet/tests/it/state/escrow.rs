//! Money: what is owed, paid, returned and missing.

use akash_proto::akash::base::deposit::v1::Deposit;
use akash_proto::akash::deployment::v1beta4::{QueryDeploymentRequest, QueryDeploymentResponse};
use akash_proto::akash::escrow::id::v1::Account;
use akash_proto::akash::escrow::types::v1::{AccountState, PaymentState};
use akash_proto::akash::escrow::v1::MsgAccountDeposit;
use akash_proto::akash::market::v1beta5::{QueryLeaseRequest, QueryLeaseResponse};
use akash_proto::cosmos::base::v1beta1::DecCoin;
use akash_proto::to_any;

use crate::state::support::{
    Market, close_bid, close_deployment, close_lease, coin, create_deployment, create_lease,
    deployment_id, kinds, lease_id, refusal, withdraw,
};

fn account(market: &Market, dseq: u64) -> AccountState {
    let request = QueryDeploymentRequest { id: deployment_id(&market.tenant, dseq) };
    let answer: QueryDeploymentResponse =
        market.chain.ask("/akash.deployment.v1beta4.Query/Deployment", &request);
    answer.escrow_account.unwrap().state.unwrap()
}

fn lease(market: &Market, dseq: u64) -> QueryLeaseResponse {
    let request = QueryLeaseRequest { id: lease_id(&market.tenant, dseq, market.provider()) };
    market.chain.ask("/akash.market.v1beta5.Query/Lease", &request)
}

fn payment(market: &Market, dseq: u64) -> PaymentState {
    lease(market, dseq).escrow_payment.unwrap().state.unwrap()
}

fn whole(amount: i128) -> String {
    (amount * 10_i128.pow(18)).to_string()
}

/// A lease at 500 a block on a deposit of 500000 and `extra`.
fn thin(extra: u64) -> Market {
    let mut market = Market::new(1);
    let mut create = create_deployment(&market.tenant, 5);
    create.deposit = crate::state::support::deposit(500_000 + extra, "uact");
    market.chain.send(&market.tenant, &create);
    let bid = crate::state::support::create_bid(&market.tenant, 5, market.provider());
    market.chain.send(&market.providers[0], &bid);
    let create = create_lease(&market.tenant, 5, market.provider());
    market.chain.send(&market.tenant, &create);
    market
}

const OPEN: i32 = 1;
const CLOSED: i32 = 2;
const OVERDRAWN: i32 = 3;

fn deposit(market: &Market, amount: u64, denom: &str) -> MsgAccountDeposit {
    MsgAccountDeposit {
        signer: market.tenant.text(),
        id: Some(Account { scope: 1, xid: format!("{}/5", market.tenant.text()) }),
        deposit: Some(Deposit { amount: Some(coin(amount, denom)), sources: vec![1] }),
    }
}

#[test]
fn a_withdrawal_pays_for_the_blocks_since_the_last() {
    let mut market = Market::new(1);
    market.lease(5);
    let start = market.chain.state.height() - 1;
    let before = market.chain.balance(market.provider().address, "uact");
    market.chain.skip_to(start + 5);
    let message = withdraw(&market.tenant, 5, market.provider());
    market.chain.send(&market.providers[0], &message);
    assert_eq!(market.chain.balance(market.provider().address, "uact"), before + 2_500);
    let state = account(&market, 5);
    assert_eq!(state.settled_at, i64::try_from(start + 5).unwrap());
    assert_eq!(state.transferred[0].amount, whole(2_500));
    assert_eq!(state.funds[0].amount, whole(4_997_500));
    assert_eq!(state.deposits[0].balance.as_ref().unwrap().amount, whole(4_997_500));
    assert_eq!(payment(&market, 5).withdrawn.unwrap().amount, "2500");

    market.chain.skip_to(start + 135);
    let close = close_lease(&market.tenant, 5, market.provider());
    market.chain.send(&market.tenant, &close);
    assert_eq!(market.chain.balance(market.provider().address, "uact"), before + 67_500);
    let state = account(&market, 5);
    assert_eq!(state.transferred[0].amount, whole(67_500));
    assert_eq!(state.funds[0].amount, whole(4_932_500));
    let payment = payment(&market, 5);
    assert_eq!((payment.state, payment.balance.unwrap().amount.as_str()), (CLOSED, "0"));
}

#[test]
fn fractions_of_a_rate_are_cut_at_each_settlement() {
    let mut market = Market::new(1);
    market.order(5);
    let mut bid = crate::state::support::create_bid(&market.tenant, 5, market.provider());
    // 1.75 a block.
    let amount = 1_750_000_000_000_000_000_u128.to_string();
    bid.price = Some(DecCoin { denom: "uact".to_owned(), amount });
    market.chain.send(&market.providers[0], &bid);
    let create = create_lease(&market.tenant, 5, market.provider());
    market.chain.send(&market.tenant, &create);
    let before = market.chain.balance(market.provider().address, "uact");
    let message = withdraw(&market.tenant, 5, market.provider());
    for paid in [1_u128, 2, 3] {
        market.chain.next();
        market.chain.send(&market.providers[0], &message);
        assert_eq!(market.chain.balance(market.provider().address, "uact"), before + paid);
    }
    market.chain.skip_to(market.chain.state.height() + 4);
    market.chain.send(&market.providers[0], &message);
    assert_eq!(market.chain.balance(market.provider().address, "uact"), before + 3 + 7);
}

#[test]
fn a_second_withdrawal_in_one_block_is_a_panic_of_the_node() {
    let mut market = Market::new(1);
    market.lease(5);
    let message = withdraw(&market.tenant, 5, market.provider());
    market.chain.send(&market.providers[0], &message);
    let (space, code, text) = market.chain.refused(&market.providers[0], &message);
    assert_eq!((space.as_str(), code), ("undefined", 111_222));
    let (owner, provider) = (market.tenant.text(), market.provider().text());
    let id = format!("deployment/{owner}/5/1/1/{provider}");
    assert!(text.starts_with(&format!("recovered: couldn't find payment {id}\n")), "{text}");
    // Closing after a withdrawal in one block is fine.
    let close = close_bid(&market.tenant, 5, market.provider());
    let result = market.chain.send(&market.providers[0], &close);
    assert_eq!(
        kinds(&result),
        [
            "EventGroupPaused",
            "EventLeaseClosed",
            "coin_spent",
            "EventBidClosed",
            "EventOrderClosed"
        ]
    );
}

#[test]
fn a_withdrawal_in_the_block_of_the_lease_fails_too() {
    let mut market = thin(0);
    let message = withdraw(&market.tenant, 5, market.provider());
    let (space, _, text) = market.chain.refused(&market.providers[0], &message);
    assert_eq!(space, "undefined");
    assert!(text.contains("couldn't find payment"), "{text}");
}

#[test]
fn withdrawals_need_an_open_payment() {
    let mut market = Market::new(1);
    market.lease(5);
    let close = close_lease(&market.tenant, 5, market.provider());
    market.chain.send(&market.tenant, &close);
    let message = withdraw(&market.tenant, 5, market.provider());
    let provider = &market.providers[0];
    assert_eq!(market.chain.refused(provider, &message), refusal("escrow", 7, "payment closed"));
    let message = withdraw(&market.tenant, 6, provider);
    assert_eq!(market.chain.refused(provider, &message), refusal("market", 7, "unknown lease"));
}

#[test]
fn an_account_that_runs_dry_ends_its_deployment() {
    // 1000 blocks are paid and 250 of the next.
    let mut market = thin(250);
    let before = market.chain.balance(market.provider().address, "uact");
    market.chain.skip_to(market.chain.state.height() + 1_002);
    let message = withdraw(&market.tenant, 5, market.provider());
    let result = market.chain.send(&market.providers[0], &message);
    assert_eq!(
        kinds(&result),
        [
            "coin_spent",
            "EventDeploymentClosed",
            "EventGroupClosed",
            "EventOrderClosed",
            "coin_spent",
            "EventBidClosed",
            "EventLeaseClosed"
        ]
    );
    let reason = result.events.iter().find_map(|event| event.get("reason")).unwrap();
    assert_eq!(reason, "\"lease_closed_reason_insufficient_funds\"");
    assert_eq!(market.chain.balance(market.provider().address, "uact"), before + 500_250);
    let ended = lease(&market, 5).lease.unwrap();
    assert_eq!((ended.state, ended.reason), (2, 20_000));
    let (state, owed) = (account(&market, 5), payment(&market, 5));
    assert_eq!((state.state, owed.state), (OVERDRAWN, OVERDRAWN));
    assert_eq!(state.funds[0].amount, whole(-750));
    assert_eq!(owed.unsettled.unwrap().amount, whole(750));
    assert!(state.deposits.is_empty());
}

#[test]
fn a_deposit_pays_the_debts_of_an_overdrawn_account_and_closes_it() {
    let mut market = thin(0);
    market.chain.skip_to(market.chain.state.height() + 1_002);
    let message = withdraw(&market.tenant, 5, market.provider());
    market.chain.send(&market.providers[0], &message);
    let before = market.chain.balance(market.provider().address, "uact");
    // Not enough, then enough.
    let part = deposit(&market, 400, "uact");
    market.chain.send(&market.tenant, &part);
    assert_eq!(market.chain.balance(market.provider().address, "uact"), before + 400);
    assert_eq!(account(&market, 5).state, OVERDRAWN);
    assert_eq!(payment(&market, 5).unsettled.unwrap().amount, whole(600));
    let tenant = market.chain.balance(market.tenant.address, "uact");
    let rest = deposit(&market, 1_000, "uact");
    market.chain.send(&market.tenant, &rest);
    assert_eq!(market.chain.balance(market.provider().address, "uact"), before + 1_000);
    assert_eq!(market.chain.balance(market.tenant.address, "uact"), tenant - 600);
    assert_eq!((account(&market, 5).state, payment(&market, 5).state), (CLOSED, CLOSED));
    let text = refusal("escrow", 2, "account closed");
    assert_eq!(market.chain.refused(&market.tenant, &part), text);
}

#[test]
fn a_deposit_of_another_kind_is_returned_by_an_overdrawn_account() {
    let mut market = thin(0);
    market.chain.skip_to(market.chain.state.height() + 1_002);
    let message = withdraw(&market.tenant, 5, market.provider());
    market.chain.send(&market.providers[0], &message);
    let before = market.chain.balance(market.tenant.address, "uakt");
    let other = deposit(&market, 1_000, "uakt");
    market.chain.send(&market.tenant, &other);
    // Only the fee is gone.
    assert_eq!(market.chain.balance(market.tenant.address, "uakt"), before - 10_000);
    assert_eq!(account(&market, 5).state, OVERDRAWN);
}

#[test]
fn deposits_are_used_in_order_and_returned_to_their_owners() {
    let mut market = thin(0);
    let friend = &market.providers[0];
    let gift = MsgAccountDeposit { signer: friend.text(), ..deposit(&market, 1_000_000, "uact") };
    market.chain.send(friend, &gift);
    let state = account(&market, 5);
    assert_eq!(state.deposits.len(), 2);
    assert_eq!(state.funds[0].amount, whole(1_500_000));
    market.chain.skip_to(market.chain.state.height() + 1_100);
    let (tenant, provider) = (market.tenant.address, market.provider().address);
    let before = (market.chain.balance(tenant, "uact"), market.chain.balance(provider, "uact"));
    let close = close_deployment(&market.tenant, 5);
    market.chain.send(&market.tenant, &close);
    // 550000 are owed: all of the tenant's 500000 and 50000 of the gift.
    assert_eq!(market.chain.balance(tenant, "uact"), before.0);
    assert_eq!(market.chain.balance(provider, "uact"), before.1 + 550_000 + 950_000);
    assert_eq!(account(&market, 5).state, CLOSED);
}

#[test]
fn no_lease_on_an_account_that_runs_dry() {
    let mut market = Market::new(2);
    let mut create = create_deployment(&market.tenant, 5);
    let mut second = create.groups[0].clone();
    second.name = "eastcoast".to_owned();
    create.groups.push(second);
    create.deposit = crate::state::support::deposit(500_000, "uact");
    market.chain.send(&market.tenant, &create);
    let provider = &market.providers[0];
    let mut bid = crate::state::support::create_bid(&market.tenant, 5, provider);
    market.chain.send(provider, &bid);
    bid.id.as_mut().unwrap().gseq = 2;
    market.chain.send(provider, &bid);
    let mut lease = create_lease(&market.tenant, 5, provider);
    market.chain.send(&market.tenant, &lease);
    market.chain.skip_to(market.chain.state.height() + 2_000);
    lease.bid_id.as_mut().unwrap().gseq = 2;
    assert_eq!(
        market.chain.refused(&market.tenant, &lease),
        refusal("escrow", 4, "account overdrawn")
    );
    assert_eq!(account(&market, 5).state, OPEN);
}

#[test]
fn two_leases_of_one_deployment_are_not_withdrawn_in_one_block() {
    let mut market = Market::new(1);
    let mut create = create_deployment(&market.tenant, 5);
    let mut second = create.groups[0].clone();
    second.name = "eastcoast".to_owned();
    create.groups.push(second);
    market.chain.send(&market.tenant, &create);
    let provider = &market.providers[0];
    let (mut bid, mut lease) = (
        crate::state::support::create_bid(&market.tenant, 5, provider),
        create_lease(&market.tenant, 5, provider),
    );
    let first = withdraw(&market.tenant, 5, provider);
    let mut other = first.clone();
    for gseq in [1, 2] {
        bid.id.as_mut().unwrap().gseq = gseq;
        lease.bid_id.as_mut().unwrap().gseq = gseq;
        market.chain.send(provider, &bid);
        market.chain.send(&market.tenant, &lease);
    }
    other.id.as_mut().unwrap().gseq = 2;
    market.chain.next();
    market.chain.send(provider, &first);
    let result = market.chain.deliver(provider, vec![to_any(&other)]);
    assert!(result.log.contains("couldn't find payment"), "{}", result.log);
    // What both earned was settled; the other half waits for the next block.
    market.chain.next();
    let before = market.chain.balance(provider.address, "uact");
    market.chain.send(provider, &other);
    assert_eq!(market.chain.balance(provider.address, "uact"), before + 1_000);
}

#[test]
fn accounts_that_do_not_exist_take_no_deposits() {
    let mut market = Market::new(1);
    let message = deposit(&market, 1_000, "uact");
    assert_eq!(
        market.chain.refused(&market.tenant, &message),
        refusal("escrow", 3, "account not found")
    );
}
