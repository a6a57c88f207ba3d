//! What else messages are refused for.

use akash_proto::akash::audit::v1::{
    MsgDeleteProviderAttributes, MsgSignProviderAttributes, QueryAuditorAttributesRequest,
    QueryProvidersResponse,
};
use akash_proto::akash::deployment::v1::DeploymentReclamation;
use akash_proto::akash::deployment::v1beta4::MsgCreateDeployment;
use akash_proto::akash::provider::v1beta4::{
    MsgDeleteProvider, MsgUpdateProvider, QueryProviderRequest, QueryProviderResponse,
};
use prost_types::Duration;

use crate::state::support::{
    Chain, Market, Wallet, attribute, close_bid, create_deployment, create_provider, deposit,
    kinds, price, refusal,
};

/// What a change of a good deployment is refused with.
fn refused(change: impl FnOnce(&mut MsgCreateDeployment)) -> (String, u32, String) {
    let tenant = Wallet::numbered(0);
    let mut chain = Chain::new(&[&tenant]);
    let mut create = create_deployment(&tenant, 5);
    change(&mut create);
    chain.refused(&tenant, &create)
}

#[test]
fn deployments_are_checked() {
    let code = |change: fn(&mut MsgCreateDeployment)| {
        let (space, code, _) = refused(change);
        assert_eq!(space, "deployment");
        code
    };
    assert_eq!(code(|create| create.groups.clear()), 7);
    assert_eq!(code(|create| create.hash.clear()), 9);
    assert_eq!(code(|create| create.hash.truncate(31)), 10);
    assert_eq!(code(|create| create.groups[0].name.clear()), 19);
    assert_eq!(code(|create| create.groups[0].resources.clear()), 19);
    assert_eq!(code(|create| create.groups[0].resources[0].count = 0), 19);
    assert_eq!(code(|create| create.groups.push(create.groups[0].clone())), 7);
    assert_eq!(
        refused(|create| create.deposit = deposit(499_999, "uact")),
        refusal("deployment", 20, "Deposit too low - 499999 < 500000uact: Deposit invalid")
    );
    assert_eq!(
        refused(|create| create.deposit = deposit(5_000_000, "uakt")),
        refusal("deployment", 20, "Mismatched denominations (uakt != uact): Deposit invalid")
    );
    let in_akt = |create: &mut MsgCreateDeployment| {
        create.deposit = deposit(5_000_000, "uakt");
        create.groups[0].resources[0].price = Some(price(1_000, "uakt"));
    };
    assert_eq!(refused(in_akt), refusal("deployment", 20, "Deposit invalid"));
    let in_usd = |create: &mut MsgCreateDeployment| {
        create.deposit = deposit(5_000_000, "uusd");
        create.groups[0].resources[0].price = Some(price(1_000, "uusd"));
    };
    let text = "Deposit invalid: Invalid deposit denomination uusd";
    assert_eq!(refused(in_usd), refusal("deployment", 20, text));
    for (seconds, text) in [
        (-1, "min_window must be >= 0"),
        (3_599, "min_window below governance minimum"),
        (2_592_001, "min_window above governance maximum"),
    ] {
        let window = Some(Duration { seconds, nanos: 0 });
        let text = format!("{text}: invalid reclamation configuration");
        let reclamation = Some(DeploymentReclamation { min_window: window });
        assert_eq!(
            refused(|create| create.reclamation = reclamation),
            refusal("deployment", 26, &text)
        );
    }
    let (space, code, text) = refused(|create| create.id.as_mut().unwrap().dseq = 0);
    assert_eq!((space.as_str(), code), ("sdk", 3));
    assert_eq!(text, "DeploymentID: Invalid Deployment Sequence: invalid sequence");
    let none = |create: &mut MsgCreateDeployment| create.deposit.as_mut().unwrap().sources.clear();
    assert_eq!(refused(none).0, "akash");
}

#[test]
fn a_provider_is_registered_once_changed_and_never_deleted() {
    let wallet = Wallet::numbered(1);
    let mut chain = Chain::new(&[&wallet]);
    let create = create_provider(&wallet);
    let update = MsgUpdateProvider {
        owner: wallet.text(),
        host_uri: "https://other.example.com".to_owned(),
        attributes: vec![attribute("region", "us-east")],
        info: None,
    };
    let delete = MsgDeleteProvider { owner: wallet.text() };
    let (space, code, text) = chain.refused(&wallet, &update);
    assert_eq!((space.as_str(), code), ("provider", 3));
    assert_eq!(text, format!("id: {}: invalid provider: address not found", wallet.text()));
    assert_eq!(kinds(&chain.send(&wallet, &create)), ["EventProviderCreated"]);
    let text = format!("id: {}: invalid provider: already exists", wallet.text());
    assert_eq!(chain.refused(&wallet, &create), refusal("provider", 4, &text));
    assert_eq!(kinds(&chain.send(&wallet, &update)), ["EventProviderUpdated"]);
    assert_eq!(
        chain.refused(&wallet, &delete),
        refusal("provider", 10, "NOTIMPLEMENTED: internal error")
    );
    let request = QueryProviderRequest { owner: wallet.text() };
    let answer: QueryProviderResponse =
        chain.ask("/akash.provider.v1beta4.Query/Provider", &request);
    assert_eq!(answer.provider.unwrap().host_uri, "https://other.example.com");
    let mut wrong = create.clone();
    wrong.attributes = vec![attribute("1region", "x")];
    assert_eq!(chain.refused(&wallet, &wrong).1, 6);
    wrong.attributes = vec![attribute("region", "x"), attribute("region", "y")];
    assert_eq!(chain.refused(&wallet, &wrong).1, 6);
}

#[test]
fn auditors_sign_and_take_back() {
    let (auditor, owner) = (Wallet::numbered(1), Wallet::numbered(2));
    let mut chain = Chain::new(&[&auditor]);
    let mut sign = MsgSignProviderAttributes {
        owner: owner.text(),
        auditor: auditor.text(),
        attributes: vec![attribute("tier", "1"), attribute("region", "us-west")],
    };
    let mut delete = MsgDeleteProviderAttributes {
        owner: owner.text(),
        auditor: auditor.text(),
        keys: vec!["tier".to_owned()],
    };
    let text = "invalid provider: address not found";
    assert_eq!(chain.refused(&auditor, &delete), refusal("audit", 1, text));
    assert_eq!(kinds(&chain.send(&auditor, &sign)), ["EventTrustedAuditorCreated"]);
    sign.attributes = vec![attribute("tier", "2")];
    chain.send(&auditor, &sign);
    let signed = |chain: &Chain| {
        let request = QueryAuditorAttributesRequest { auditor: auditor.text(), pagination: None };
        let answer: QueryProvidersResponse =
            chain.ask("/akash.audit.v1.Query/AuditorAttributes", &request);
        let of = |provider: &akash_proto::akash::audit::v1::AuditedProvider| {
            provider.attributes.iter().map(|a| format!("{}={}", a.key, a.value)).collect::<Vec<_>>()
        };
        answer.providers.iter().flat_map(of).collect::<Vec<_>>()
    };
    assert_eq!(signed(&chain), ["region=us-west", "tier=2"]);
    assert_eq!(kinds(&chain.send(&auditor, &delete)), ["EventTrustedAuditorDeleted"]);
    assert_eq!(signed(&chain), ["region=us-west"]);
    let (space, code, _) = chain.refused(&auditor, &delete);
    assert_eq!((space.as_str(), code), ("audit", 3));
    delete.keys.clear();
    chain.send(&auditor, &delete);
    assert!(signed(&chain).is_empty());
}

#[test]
fn a_bid_is_closed_for_a_providers_reason() {
    let mut market = Market::new(1);
    market.bids(5);
    let mut close = close_bid(&market.tenant, 5, market.provider());
    for reason in [0, 1, 9_999, 20_000] {
        close.reason = reason;
        let text = format!("value \"{reason}\" range 10000..19999: invalid lease closed reason");
        assert_eq!(
            market.chain.refused(&market.providers[0], &close),
            refusal("market", 33, &text)
        );
    }
    let unknown = close_bid(&market.tenant, 6, market.provider());
    assert_eq!(
        market.chain.refused(&market.providers[0], &unknown),
        refusal("market", 6, "unknown bid")
    );
}

#[test]
fn the_same_blocks_give_the_same_digest() {
    let run = |amount: u64| {
        let mut market = Market::new(1);
        let mut create = create_deployment(&market.tenant, 5);
        create.deposit = deposit(amount, "uact");
        market.chain.send(&market.tenant, &create);
        market.chain.next();
        market.chain.state.app_hash()
    };
    assert_eq!(run(500_000), run(500_000));
    assert_ne!(run(500_000), run(500_001));
}

#[test]
fn a_genesis_must_make_sense() {
    use akash_devnet::state::{GenesisError, State};
    let wallet = Wallet::numbered(1);
    let good = crate::state::support::genesis(&[&wallet]);
    assert!(State::from_genesis(&good).is_ok());
    let mut twice = good.clone();
    twice.accounts.push(twice.accounts[0].clone());
    let address = wallet.address;
    assert_eq!(
        State::from_genesis(&twice).unwrap_err(),
        GenesisError::DuplicateAccount { address }
    );
    let mut unnamed = good.clone();
    unnamed.chain_id.clear();
    assert_eq!(State::from_genesis(&unnamed).unwrap_err(), GenesisError::NoChainId);
    let mut early = good.clone();
    early.initial_height = 0;
    assert_eq!(State::from_genesis(&early).unwrap_err(), GenesisError::HeightZero);
    let mut rich = good;
    let all = format!("{}uakt", u128::MAX).parse().unwrap();
    rich.accounts.push((Wallet::numbered(2).address, vec![all]));
    assert!(matches!(State::from_genesis(&rich), Err(GenesisError::TooMuch { .. })));
}
