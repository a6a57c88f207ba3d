//! Messages that mean nothing, and where the error says they are wrong.

use akash_proto::akash::base::attributes::v1 as attributes;
use akash_proto::akash::base::deposit::v1 as deposit;
use akash_proto::akash::base::resources::v1beta4 as resources;
use akash_proto::akash::deployment::{v1 as deployment, v1beta4 as group};
use akash_proto::akash::escrow::{id::v1 as escrow_id, types::v1 as escrow};
use akash_proto::akash::market::{v1 as market, v1beta5};
use akash_proto::cosmos::base::v1beta1 as cosmos;

use crate::*;

const OWNER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

fn lease_id() -> market::LeaseId {
    market::LeaseId {
        owner: OWNER.to_owned(),
        dseq: 7,
        gseq: 1,
        oseq: 1,
        provider: PROVIDER.to_owned(),
        bseq: 0,
    }
}

fn price() -> Option<cosmos::DecCoin> {
    Some(cosmos::DecCoin { denom: "uact".to_owned(), amount: "1".to_owned() })
}

fn val(text: &str) -> Option<resources::ResourceValue> {
    Some(resources::ResourceValue { val: text.as_bytes().to_vec() })
}

fn spec(unit: group::ResourceUnit) -> group::GroupSpec {
    let good = group::ResourceUnit { price: price(), ..group::ResourceUnit::default() };
    group::GroupSpec { resources: vec![good, unit], ..group::GroupSpec::default() }
}

fn spec_of(resource: resources::Resources) -> group::GroupSpec {
    spec(group::ResourceUnit { resource: Some(resource), count: 1, price: price() })
}

fn text<T: std::fmt::Debug>(result: Result<T, ConvertError>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn absent_parts_read_as_their_default() {
    let unit = group::ResourceUnit { price: price(), ..group::ResourceUnit::default() };
    let read = GroupSpec::try_from(spec(unit)).unwrap();
    assert_eq!(read.resources[1].resources, Resources::default());
    assert_eq!(read.requirements, PlacementRequirements::default());
    let empty = resources::Cpu { units: val(""), attributes: vec![] };
    assert_eq!(Cpu::try_from(empty), Ok(Cpu::default()));
    let coin = cosmos::Coin { denom: "uakt".to_owned(), amount: String::new() };
    assert_eq!(Coin::try_from(coin), Ok("0uakt".parse().unwrap()));
    let signed_by = attributes::SignedBy { all_of: vec![], any_of: vec!["a".to_owned()] };
    let read = SignedBy::from(signed_by);
    assert_eq!((read.all_of, read.any_of), (None, Some(vec!["a".to_owned()])));
}

#[test]
fn the_place_in_a_group_is_named() {
    let cpu = resources::Cpu { units: val("-1"), attributes: vec![] };
    let storage = resources::Storage { quantity: val("010"), ..resources::Storage::default() };
    let memory = resources::Memory { quantity: val("18446744073709551616"), attributes: vec![] };
    let gpu = resources::Gpu {
        units: Some(resources::ResourceValue { val: vec![0xff] }),
        attributes: vec![],
    };
    let endpoint = resources::Endpoint { kind: 9, sequence_number: 0 };
    let default = resources::Resources::default;
    for (message, wanted) in [
        (
            spec_of(resources::Resources { cpu: Some(cpu), ..default() }),
            "resources[1].resource.cpu.units: \"-1\" must be a whole number from 0 to \
             18446744073709551615, as plain base-10 digits",
        ),
        (
            spec_of(resources::Resources { storage: vec![storage], ..default() }),
            "resources[1].resource.storage[0].quantity: \"010\" must be a whole number",
        ),
        (
            spec_of(resources::Resources { memory: Some(memory), ..default() }),
            "resources[1].resource.memory.quantity: \"18446744073709551616\" must be",
        ),
        (
            spec_of(resources::Resources { gpu: Some(gpu), ..default() }),
            "resources[1].resource.gpu.units: \"not text\" must be",
        ),
        (
            spec_of(resources::Resources { endpoints: vec![endpoint], ..default() }),
            "resources[1].resource.endpoints[0].kind: endpoint kind 9 is unknown",
        ),
        (
            spec(group::ResourceUnit::default()),
            "resources[1].price.denom: denomination \"\" has 0 characters",
        ),
    ] {
        let error = text(GroupSpec::try_from(message));
        assert!(error.starts_with(wanted), "{error}");
    }
}

#[test]
fn ids_are_needed_and_checked() {
    assert_eq!(text(Order::try_from(v1beta5::Order::default())), "id: is missing");
    assert_eq!(text(Deployment::try_from(deployment::Deployment::default())), "id: is missing");
    let wrong = market::LeaseId { gseq: 0, ..lease_id() };
    let lease = market::Lease { id: Some(wrong), ..market::Lease::default() };
    assert_eq!(text(Lease::try_from(lease)), "id: gseq is 0, expected 1 or more");
    let wrong = market::LeaseId { provider: "akash1x".to_owned(), ..lease_id() };
    assert!(text(LeaseId::try_from(wrong)).starts_with("provider: account address \"akash1x\""));
    let account = escrow_id::Account { scope: 3, xid: String::new() };
    assert!(text(EscrowAccountId::try_from(account)).starts_with("scope: escrow scope \"3\""));
    let account = escrow_id::Account { scope: 1, xid: OWNER.to_owned() };
    assert!(text(EscrowAccountId::try_from(account)).starts_with("xid: deployment id"));
    let payment = escrow_id::Payment { aid: None, xid: String::new() };
    assert_eq!(text(EscrowPaymentId::try_from(payment)), "aid: is missing");
    let kept = market::LeaseId { bseq: 4, ..lease_id() };
    assert_eq!(LeaseId::try_from(kept.clone()).map(market::LeaseId::from), Ok(kept));
}

#[test]
fn states_times_and_amounts_are_checked() {
    let lease = || market::Lease {
        id: Some(lease_id()),
        state: 1,
        price: price(),
        ..market::Lease::default()
    };
    assert!(Lease::try_from(lease()).is_ok());
    let window = |seconds, nanos| market::Reclamation {
        window: Some(prost_types::Duration { seconds, nanos }),
        ..market::Reclamation::default()
    };
    let dec_coin = |amount: &str| {
        Some(cosmos::DecCoin { denom: "uact".to_owned(), amount: amount.to_owned() })
    };
    for (wrong, wanted) in [
        (market::Lease { state: 0, ..lease() }, "state: lease state \"0\" is unknown"),
        (market::Lease { state: 9, ..lease() }, "state: lease state \"9\" is unknown"),
        (market::Lease { created_at: -1, ..lease() }, "created_at: -1 is negative"),
        (market::Lease { reason: 30_000, ..lease() }, "reason: lease closed reason 30000"),
        (market::Lease { price: dec_coin("-1"), ..lease() }, "price.amount: coin amount -0.0000"),
        (market::Lease { price: dec_coin("1.5"), ..lease() }, "price.amount: decimal field holds"),
        (
            market::Lease { reclamation: Some(window(-1, 0)), ..lease() },
            "reclamation.window: -1 s and 0 ns are not a span of time",
        ),
        (
            market::Lease { reclamation: Some(window(1, 1_000_000_000)), ..lease() },
            "reclamation.window: 1 s and 1000000000 ns",
        ),
    ] {
        let error = text(Lease::try_from(wrong));
        assert!(error.starts_with(wanted), "{error}");
    }
    let unnamed = market::Lease { reason: 10_777, closed_on: 5, ..lease() };
    let read = Lease::try_from(unnamed).unwrap();
    assert_eq!(read.reason.map(LeaseClosedReason::code), Some(10_777));
    assert_eq!(read.closed_on, Some(5));
    let short = deployment::Deployment {
        id: Some(deployment::DeploymentId { owner: OWNER.to_owned(), dseq: 1 }),
        state: 1,
        hash: vec![1; 31],
        ..deployment::Deployment::default()
    };
    assert_eq!(text(Deployment::try_from(short)), "hash: manifest hash has 31 bytes, expected 32");
}

#[test]
fn an_overdrawn_account_may_owe() {
    let balance = escrow::Balance { denom: "uact".to_owned(), amount: "-5".to_owned() };
    let read = Balance::try_from(balance.clone()).unwrap();
    assert!(read.amount.is_negative());
    assert_eq!(escrow::Balance::from(read), balance);
    let account = escrow::Account {
        id: Some(escrow_id::Account { scope: 1, xid: format!("{OWNER}/1") }),
        state: None,
    };
    assert_eq!(text(EscrowAccount::try_from(account.clone())), "state: is missing");
    let state = escrow::AccountState {
        owner: OWNER.to_owned(),
        state: 3,
        funds: vec![balance, escrow::Balance::default()],
        ..escrow::AccountState::default()
    };
    let error = text(EscrowAccount::try_from(escrow::Account { state: Some(state), ..account }));
    assert!(error.starts_with("state.funds[1].denom: denomination"), "{error}");
}

#[test]
fn deposits_need_known_sources() {
    let coin = Some(cosmos::Coin { denom: "uakt".to_owned(), amount: "5".to_owned() });
    for (sources, wanted) in [
        (vec![], "sources: a deposit needs at least one source"),
        (vec![1, 1], "sources: deposit source balance is named twice"),
        (vec![1, 0], "sources[1]: deposit source 0 is unknown"),
    ] {
        let error = text(Deposit::try_from(deposit::Deposit { amount: coin.clone(), sources }));
        assert!(error.starts_with(wanted), "{error}");
    }
    let message = deposit::Deposit { amount: coin, sources: vec![2, 1] };
    assert_eq!(Deposit::try_from(message.clone()).map(deposit::Deposit::from), Ok(message));
}

#[test]
fn unset_parameters_are_absent() {
    let message = v1beta5::Params {
        bid_min_deposit: Some(cosmos::Coin::default()),
        ..v1beta5::Params::default()
    };
    assert_eq!(MarketParams::try_from(message).unwrap().bid_min_deposit, None);
}
