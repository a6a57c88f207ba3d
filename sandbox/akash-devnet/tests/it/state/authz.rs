//! Acting and paying for others.

use akash_proto::akash::base::deposit::v1::Deposit;
use akash_proto::akash::escrow::v1::DepositAuthorization;
use akash_proto::cosmos::authz::v1beta1::{
    GenericAuthorization, Grant, MsgExec, MsgGrant, MsgRevoke, QueryGrantsRequest,
    QueryGrantsResponse,
};
use akash_proto::cosmos::bank::v1beta1::MsgSend;
use akash_proto::cosmos::feegrant::v1beta1::{
    AllowedMsgAllowance, BasicAllowance, MsgGrantAllowance, MsgRevokeAllowance,
    QueryAllowancesRequest, QueryAllowancesResponse,
};
use akash_proto::{from_any, to_any};
use prost_types::{Any, Timestamp};

use crate::state::support::{
    Chain, Draft, START, Wallet, close_deployment, coin, create_deployment, refusal,
};

fn wallets() -> (Chain, Wallet, Wallet) {
    let (granter, grantee) = (Wallet::numbered(1), Wallet::numbered(2));
    (Chain::new(&[&granter, &grantee]), granter, grantee)
}

fn grant(granter: &Wallet, grantee: &Wallet, authorization: Any) -> MsgGrant {
    let grant = Grant { authorization: Some(authorization), expiration: None };
    MsgGrant { granter: granter.text(), grantee: grantee.text(), grant: Some(grant) }
}

fn send(from: &Wallet, to: &Wallet, amount: u64) -> MsgSend {
    MsgSend { from_address: from.text(), to_address: to.text(), amount: vec![coin(amount, "uakt")] }
}

fn at(seconds: i64) -> Option<Timestamp> {
    Some(Timestamp { seconds: START / 1_000_000_000 + seconds, nanos: 0 })
}

#[test]
fn a_granted_message_runs_in_the_granters_name() {
    let (mut chain, granter, grantee) = wallets();
    let type_url = "/cosmos.bank.v1beta1.MsgSend".to_owned();
    let exec =
        MsgExec { grantee: grantee.text(), msgs: vec![to_any(&send(&granter, &grantee, 1_000))] };
    let (space, code, text) = chain.refused(&grantee, &exec);
    assert_eq!((space.as_str(), code), ("authz", 2));
    assert!(text.starts_with("failed to get grant with given granter: "), "{text}");
    let generic = to_any(&GenericAuthorization { msg: type_url.clone() });
    chain.send(&granter, &grant(&granter, &grantee, generic));
    let before = chain.balance(granter.address, "uakt");
    let result = chain.send(&grantee, &exec);
    assert_eq!(chain.balance(granter.address, "uakt"), before - 1_000);
    assert_eq!(result.events.last().unwrap().get("authz_msg_index"), Some("0"));

    let request = QueryGrantsRequest {
        granter: granter.text(),
        grantee: grantee.text(),
        ..QueryGrantsRequest::default()
    };
    let answer: QueryGrantsResponse = chain.ask("/cosmos.authz.v1beta1.Query/Grants", &request);
    assert_eq!(answer.grants.len(), 1);
    let revoke =
        MsgRevoke { granter: granter.text(), grantee: grantee.text(), msg_type_url: type_url };
    chain.send(&granter, &revoke);
    assert_eq!(chain.refused(&grantee, &exec).1, 2);
    assert_eq!(chain.refused(&granter, &revoke).1, 2);
}

#[test]
fn a_grant_ends_when_it_says() {
    let (mut chain, granter, grantee) = wallets();
    let generic = to_any(&GenericAuthorization { msg: "/cosmos.bank.v1beta1.MsgSend".to_owned() });
    let mut message = grant(&granter, &grantee, generic);
    message.grant.as_mut().unwrap().expiration = at(-1);
    assert_eq!(chain.refused(&granter, &message).1, 3);
    message.grant.as_mut().unwrap().expiration = at(3);
    chain.send(&granter, &message);
    let exec =
        MsgExec { grantee: grantee.text(), msgs: vec![to_any(&send(&granter, &grantee, 5))] };
    chain.send(&grantee, &exec);
    chain.skip_to(4);
    assert_eq!(chain.refused(&grantee, &exec), refusal("authz", 6, "authorization expired"));
    message.grantee = message.granter.clone();
    let text = "grantee and granter should be different";
    assert_eq!(chain.refused(&granter, &message), refusal("authz", 7, text));
}

fn deposit_limits(chain: &Chain, granter: &Wallet, grantee: &Wallet) -> Vec<String> {
    let request = QueryGrantsRequest {
        granter: granter.text(),
        grantee: grantee.text(),
        msg_type_url: "/akash.escrow.v1.MsgAccountDeposit".to_owned(),
        pagination: None,
    };
    let answer: QueryGrantsResponse = chain.ask("/cosmos.authz.v1beta1.Query/Grants", &request);
    let any = answer.grants[0].authorization.clone().unwrap();
    let limits = from_any::<DepositAuthorization>(&any).unwrap().spend_limits;
    limits.iter().map(|coin| format!("{}{}", coin.amount, coin.denom)).collect()
}

#[test]
fn a_deposit_may_come_from_a_grant_and_returns_to_it() {
    let (mut chain, granter, grantee) = wallets();
    let authorization = to_any(&DepositAuthorization {
        spend_limit: None,
        scopes: vec![1],
        spend_limits: vec![coin(6_000_000, "uact")],
    });
    chain.send(&granter, &grant(&granter, &grantee, authorization));
    let before = (chain.balance(granter.address, "uact"), chain.balance(grantee.address, "uact"));
    let mut create = create_deployment(&grantee, 5);
    let from_grant =
        |amount: u64| Some(Deposit { amount: Some(coin(amount, "uact")), sources: vec![2] });
    create.deposit = from_grant(5_000_000);
    chain.send(&grantee, &create);
    assert_eq!(chain.balance(granter.address, "uact"), before.0 - 5_000_000);
    assert_eq!(chain.balance(grantee.address, "uact"), before.1);
    assert_eq!(deposit_limits(&chain, &granter, &grantee), ["1000000uact"]);

    let mut second = create_deployment(&grantee, 6);
    second.deposit = from_grant(2_000_000);
    let text = "deposit invalid: insufficient balance";
    assert_eq!(chain.refused(&grantee, &second), refusal("market", 28, text));
    // Both sources together are enough.
    second.deposit.as_mut().unwrap().sources = vec![2, 1];
    chain.send(&grantee, &second);
    assert_eq!(chain.balance(grantee.address, "uact"), before.1 - 1_000_000);
    assert!(deposit_limits(&chain, &granter, &grantee).is_empty());

    chain.next();
    chain.send(&grantee, &close_deployment(&grantee, 5));
    chain.send(&grantee, &close_deployment(&grantee, 6));
    let after = (chain.balance(granter.address, "uact"), chain.balance(grantee.address, "uact"));
    assert_eq!(after, before);
    assert_eq!(deposit_limits(&chain, &granter, &grantee), ["6000000uact"]);
}

#[test]
fn a_grant_of_another_scope_pays_no_deposit() {
    let (mut chain, granter, grantee) = wallets();
    let authorization = to_any(&DepositAuthorization {
        spend_limit: Some(coin(6_000_000, "uact")),
        scopes: vec![2],
        spend_limits: Vec::new(),
    });
    chain.send(&granter, &grant(&granter, &grantee, authorization));
    let mut create = create_deployment(&grantee, 5);
    create.deposit.as_mut().unwrap().sources = vec![2];
    assert_eq!(chain.refused(&grantee, &create).1, 28);
}

fn paid_by(chain: &Chain, wallet: &Wallet, granter: &Wallet, message: Any) -> Vec<u8> {
    let mut draft = Draft::new(vec![message]);
    draft.fee.granter = granter.text();
    chain.signed(wallet, &draft)
}

#[test]
fn an_allowance_pays_fees_until_it_is_used_up() {
    let (mut chain, granter, grantee) = wallets();
    let stranger = Wallet::numbered(3);
    let message = to_any(&send(&grantee, &stranger, 5));
    let tx = paid_by(&chain, &grantee, &granter, message.clone());
    let result = chain.state.deliver_tx(&tx);
    assert_eq!((result.codespace.as_str(), result.code), ("sdk", 38));
    let (from, to) = (granter.text(), grantee.text());
    assert_eq!(
        result.log,
        format!("{from} does not allow to pay fees for {to}: fee-grant not found: not found")
    );
    let allowance = BasicAllowance { spend_limit: vec![coin(15_000, "uakt")], expiration: None };
    let grant = MsgGrantAllowance {
        granter: from,
        grantee: to.clone(),
        allowance: Some(to_any(&allowance)),
    };
    chain.send(&granter, &grant);
    assert_eq!(chain.refused(&granter, &grant).1, 18);
    let before = chain.balance(granter.address, "uakt");
    let tx = paid_by(&chain, &grantee, &granter, message.clone());
    let result = chain.state.deliver_tx(&tx);
    assert_eq!((result.code, result.log.as_str()), (0, ""));
    assert_eq!(chain.balance(granter.address, "uakt"), before - 10_000);
    assert_eq!(result.events[0].kind, "use_feegrant");
    let payer = result.events.iter().find_map(|event| event.get("fee_payer")).unwrap();
    assert_eq!(payer, granter.text());
    let request = QueryAllowancesRequest { grantee: to, pagination: None };
    let answer: QueryAllowancesResponse =
        chain.ask("/cosmos.feegrant.v1beta1.Query/Allowances", &request);
    let left = answer.allowances[0].allowance.clone().unwrap();
    let left = from_any::<BasicAllowance>(&left).unwrap();
    assert_eq!(left.spend_limit, [coin(5_000, "uakt")]);
    let tx = paid_by(&chain, &grantee, &granter, message);
    let result = chain.state.deliver_tx(&tx);
    assert_eq!((result.codespace.as_str(), result.code), ("feegrant", 2));
    let revoke = MsgRevokeAllowance { granter: granter.text(), grantee: grantee.text() };
    chain.send(&granter, &revoke);
    assert_eq!(chain.refused(&granter, &revoke).1, 38);
}

#[test]
fn an_allowance_may_be_for_some_messages_only() {
    let (mut chain, granter, grantee) = wallets();
    let basic = BasicAllowance { spend_limit: Vec::new(), expiration: at(100) };
    let allowed = AllowedMsgAllowance {
        allowance: Some(to_any(&basic)),
        allowed_messages: vec!["/cosmos.bank.v1beta1.MsgSend".to_owned()],
    };
    let grant = MsgGrantAllowance {
        granter: granter.text(),
        grantee: grantee.text(),
        allowance: Some(to_any(&allowed)),
    };
    chain.send(&granter, &grant);
    let message = to_any(&send(&grantee, &granter, 5));
    let tx = paid_by(&chain, &grantee, &granter, message.clone());
    assert!(chain.state.deliver_tx(&tx).is_ok());
    let other = to_any(&create_deployment(&grantee, 5));
    let tx = paid_by(&chain, &grantee, &granter, other);
    let result = chain.state.deliver_tx(&tx);
    assert_eq!((result.codespace.as_str(), result.code), ("feegrant", 7));
    chain.skip_to(101);
    let tx = paid_by(&chain, &grantee, &granter, message);
    let result = chain.state.deliver_tx(&tx);
    assert_eq!((result.codespace.as_str(), result.code), ("feegrant", 3));
}
