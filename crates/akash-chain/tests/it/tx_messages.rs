//! What messages say on the wire, who signs them, and which are refused for their form.

use std::time::{Duration, SystemTime};

use akash_chain::tx::message::authz::Authorization;
use akash_chain::tx::message::deployment::CreateDeployment;
use akash_chain::tx::message::market::CreateBid;
use akash_chain::tx::message::{
    HostUriProblem, PackedError, audit, authz, bank, cert, deployment, escrow, feegrant, market,
    provider,
};
use akash_chain::tx::{Message, MessageError};
use akash_proto::FILE_DESCRIPTOR_SET;
use akash_proto::akash::market::v1beta5::MsgCreateBid;
use akash_proto::cosmos::authz::v1beta1::MsgExec;
use akash_types::{
    Address, Attribute, BidId, Coin, Deposit, EscrowAccountId, EscrowScope, LeaseClosedReason,
    LeaseId, Provider,
};
use prost_reflect::DescriptorPool;
use prost_types::Any;

fn owner() -> Address {
    "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r".parse().unwrap()
}

fn me() -> Address {
    "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8".parse().unwrap()
}

fn bid_id() -> BidId {
    format!("{}/101/1/1/{}", owner(), me()).parse().unwrap()
}

fn own_bid() -> BidId {
    format!("{}/101/1/1/{}", me(), me()).parse().unwrap()
}

fn lease_id() -> LeaseId {
    bid_id().lease_id()
}

fn coins(list: &[&str]) -> Vec<Coin> {
    list.iter().map(|coin| coin.parse().unwrap()).collect()
}

fn create_bid() -> CreateBid {
    CreateBid {
        id: bid_id(),
        price: "1.5uact".parse().unwrap(),
        deposit: Deposit::from_balance("500000uakt".parse().unwrap()),
        resources_offer: vec![],
        reclamation_window: Some(Duration::from_secs(3600)),
    }
}

fn a_provider() -> Provider {
    Provider {
        owner: me(),
        host_uri: "https://provider.example.com:8443".to_owned(),
        attributes: vec![Attribute::new("region", "us-west")],
        email: String::new(),
        website: String::new(),
    }
}

fn pem(label: &str) -> Vec<u8> {
    format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n").into_bytes()
}

#[test]
fn every_message_has_its_type_and_signer() {
    let generic = || Authorization::Generic { message: "/x.MsgY".to_owned() };
    let deposit = || Deposit::from_balance("5uact".parse().unwrap());
    let account = EscrowAccountId::Deployment(bid_id().deployment_id());
    let group = bid_id().group_id();
    let (certificate, key) = (pem("CERTIFICATE"), pem("EC PUBLIC KEY"));
    let unstable = LeaseClosedReason::UNSTABLE;
    let messages: Vec<(Message, &str, Address)> = vec![
        (market::create_bid(create_bid()).unwrap(), "akash.market.v1beta5.MsgCreateBid", me()),
        (market::close_bid(bid_id(), unstable).unwrap(), "akash.market.v1beta5.MsgCloseBid", me()),
        (
            market::withdraw_lease(lease_id()).unwrap(),
            "akash.market.v1beta5.MsgWithdrawLease",
            me(),
        ),
        (
            market::start_reclaim(lease_id(), unstable).unwrap(),
            "akash.market.v1beta5.MsgLeaseStartReclaim",
            me(),
        ),
        (market::create_lease(bid_id()).unwrap(), "akash.market.v1beta5.MsgCreateLease", owner()),
        (market::close_lease(lease_id()).unwrap(), "akash.market.v1beta5.MsgCloseLease", owner()),
        (
            deployment::update_deployment(bid_id().deployment_id(), [7; 32]),
            "akash.deployment.v1beta4.MsgUpdateDeployment",
            owner(),
        ),
        (
            deployment::close_deployment(bid_id().deployment_id()),
            "akash.deployment.v1beta4.MsgCloseDeployment",
            owner(),
        ),
        (deployment::close_group(group), "akash.deployment.v1beta4.MsgCloseGroup", owner()),
        (deployment::pause_group(group), "akash.deployment.v1beta4.MsgPauseGroup", owner()),
        (deployment::start_group(group), "akash.deployment.v1beta4.MsgStartGroup", owner()),
        (
            provider::create_provider(a_provider()).unwrap(),
            "akash.provider.v1beta4.MsgCreateProvider",
            me(),
        ),
        (
            provider::update_provider(a_provider()).unwrap(),
            "akash.provider.v1beta4.MsgUpdateProvider",
            me(),
        ),
        (
            cert::create_certificate(me(), certificate, key).unwrap(),
            "akash.cert.v1.MsgCreateCertificate",
            me(),
        ),
        (cert::revoke_certificate(me(), "17").unwrap(), "akash.cert.v1.MsgRevokeCertificate", me()),
        (
            audit::sign_attributes(me(), owner(), vec![Attribute::new("region", "x")]).unwrap(),
            "akash.audit.v1.MsgSignProviderAttributes",
            owner(),
        ),
        (
            audit::delete_attributes(me(), owner(), vec![]),
            "akash.audit.v1.MsgDeleteProviderAttributes",
            owner(),
        ),
        (
            escrow::deposit(me(), account, deposit()).unwrap(),
            "akash.escrow.v1.MsgAccountDeposit",
            me(),
        ),
        (
            bank::send(me(), owner(), coins(&["1uakt"])).unwrap(),
            "cosmos.bank.v1beta1.MsgSend",
            me(),
        ),
        (
            authz::grant(me(), owner(), generic(), Some(SystemTime::UNIX_EPOCH)).unwrap(),
            "cosmos.authz.v1beta1.MsgGrant",
            me(),
        ),
        (
            authz::exec(owner(), &[market::withdraw_lease(lease_id()).unwrap()]).unwrap(),
            "cosmos.authz.v1beta1.MsgExec",
            owner(),
        ),
        (authz::revoke(me(), owner(), "/x.MsgY").unwrap(), "cosmos.authz.v1beta1.MsgRevoke", me()),
        (
            feegrant::grant_allowance(me(), owner(), feegrant::Limit::default()).unwrap(),
            "cosmos.feegrant.v1beta1.MsgGrantAllowance",
            me(),
        ),
        (
            feegrant::revoke_allowance(me(), owner()).unwrap(),
            "cosmos.feegrant.v1beta1.MsgRevokeAllowance",
            me(),
        ),
    ];
    let pool = DescriptorPool::decode(FILE_DESCRIPTOR_SET).unwrap();
    for (message, name, signer) in messages {
        assert_eq!(message.type_url(), format!("/{name}"));
        assert_eq!(message.signer(), signer, "{name}");
        assert_eq!(Message::from_any(message.as_any().clone()).unwrap(), message);
        let descriptor = pool.get_message_by_name(name).expect(name);
        let value = message.as_any().value.as_slice();
        prost_reflect::DynamicMessage::decode(descriptor, value).unwrap();
    }
}

#[test]
fn bids_are_refused_for_their_form() {
    let message = market::create_bid(create_bid()).unwrap();
    let sent: MsgCreateBid = akash_proto::from_any(message.as_any()).unwrap();
    assert_eq!(sent.reclamation_window.unwrap().seconds, 3600);
    assert_eq!(sent.price.unwrap().amount, "1500000000000000000");

    let account = me();
    let own = CreateBid { id: own_bid(), ..create_bid() };
    assert_eq!(market::create_bid(own), Err(MessageError::SelfBid { account }));
    let numbered = CreateBid { id: bid_id().with_bseq(3), ..create_bid() };
    assert_eq!(market::create_bid(numbered), Err(MessageError::Bseq { bseq: 3 }));
    let free = CreateBid { price: "0uact".parse().unwrap(), ..create_bid() };
    assert_eq!(market::create_bid(free), Err(MessageError::ZeroPrice));
    let endless = CreateBid { reclamation_window: Some(Duration::MAX), ..create_bid() };
    assert_eq!(market::create_bid(endless), Err(MessageError::Span));
    let own = own_bid();
    assert!(market::create_lease(own).is_err());
    assert!(market::withdraw_lease(own.lease_id()).is_err());
    assert!(market::close_lease(own.lease_id()).is_err());

    for reason in [LeaseClosedReason::OWNER, LeaseClosedReason::INSUFFICIENT_FUNDS] {
        assert_eq!(market::close_bid(bid_id(), reason), Err(MessageError::Reason { reason }));
        let reclaim = market::start_reclaim(lease_id(), reason);
        assert_eq!(reclaim, Err(MessageError::Reason { reason }));
    }
    let unnamed = LeaseClosedReason::provider(19_999).unwrap();
    assert!(market::close_bid(bid_id(), unnamed).is_ok());
}

#[test]
fn deployments_and_providers_are_refused_for_their_form() {
    let empty = CreateDeployment {
        id: bid_id().deployment_id(),
        groups: vec![],
        hash: [0; 32],
        deposit: Deposit::from_balance("5uact".parse().unwrap()),
        reclamation_min_window: None,
    };
    let error = deployment::create_deployment(empty).unwrap_err();
    assert!(matches!(error, MessageError::Groups { violations } if violations.len() == 1));

    let host = Provider { host_uri: "http://a".to_owned(), ..a_provider() };
    let error = provider::create_provider(host).unwrap_err();
    let problem = HostUriProblem::NotHttps;
    assert_eq!(error, MessageError::HostUri { uri: "http://a".to_owned(), problem });
    let attributes = vec![Attribute::new("a", "b")];
    let odd = Provider { attributes: attributes.clone(), ..a_provider() };
    assert!(matches!(provider::update_provider(odd), Err(MessageError::Attributes(_))));
    assert!(audit::sign_attributes(me(), owner(), attributes).is_err());
    let odd = Provider { website: "a\nb".to_owned(), ..a_provider() };
    assert!(matches!(provider::update_provider(odd), Err(MessageError::Website { .. })));
}

#[test]
fn money_is_refused_for_its_form() {
    assert_eq!(bank::send(me(), owner(), vec![]), Err(MessageError::NoCoins));
    let denom = "uakt".parse().unwrap();
    let twice = bank::send(me(), owner(), coins(&["1uakt", "1uact", "2uakt"]));
    assert_eq!(twice, Err(MessageError::CoinTwice { denom }));
    let denom = "uakt".parse().unwrap();
    let zero = bank::send(me(), owner(), coins(&["0uakt"]));
    assert_eq!(zero, Err(MessageError::ZeroCoin { denom }));
    let sorted = bank::send(me(), owner(), coins(&["2uakt", "1uact"])).unwrap();
    let sent: akash_proto::cosmos::bank::v1beta1::MsgSend =
        akash_proto::from_any(sorted.as_any()).unwrap();
    let denoms: Vec<&str> = sent.amount.iter().map(|coin| coin.denom.as_str()).collect();
    assert_eq!(denoms, ["uact", "uakt"]);
    let nothing = Deposit::from_balance("0uact".parse().unwrap());
    assert!(escrow::deposit(me(), EscrowAccountId::Bid(bid_id()), nothing).is_err());
}

#[test]
fn grants_are_refused_for_their_form() {
    let deposit = |spend_limits| Authorization::Deposit {
        spend_limits,
        scopes: vec![EscrowScope::Deployment, EscrowScope::Bid],
    };
    assert!(authz::grant(me(), owner(), deposit(coins(&["5uakt"])), None).is_ok());
    let none = authz::grant(me(), owner(), deposit(vec![]), None);
    assert_eq!(none, Err(MessageError::NoCoins));
    let account = me();
    let itself = authz::grant(me(), me(), deposit(coins(&["5uakt"])), None);
    assert_eq!(itself, Err(MessageError::SelfGrant { account }));
    assert_eq!(authz::exec(me(), &[]), Err(MessageError::NoMessages));
    assert!(matches!(authz::revoke(me(), owner(), "x"), Err(MessageError::TypeUrl { .. })));
    let inner = market::withdraw_lease(lease_id()).unwrap();
    let exec = authz::exec(owner(), std::slice::from_ref(&inner)).unwrap();
    let sent: MsgExec = akash_proto::from_any(exec.as_any()).unwrap();
    assert_eq!(sent.msgs, [inner.as_any().clone()]);

    let limit = |messages: &[&str]| feegrant::Limit {
        spend: coins(&["5uakt"]),
        expiration: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1)),
        messages: Some(messages.iter().map(|name| (*name).to_owned()).collect()),
    };
    assert!(feegrant::grant_allowance(me(), owner(), limit(&["/x.Y"])).is_ok());
    let none = feegrant::grant_allowance(me(), owner(), limit(&[]));
    assert_eq!(none, Err(MessageError::NoMessages));
    assert!(feegrant::grant_allowance(me(), owner(), limit(&["x.Y"])).is_err());
    assert!(feegrant::revoke_allowance(me(), me()).is_err());
}

#[test]
fn what_nobody_could_sign_is_no_message() {
    let any = |type_url: &str, value: &[u8]| {
        Message::from_any(Any { type_url: type_url.to_owned(), value: value.to_vec() })
    };
    let unknown = any("/cosmos.bank.v1beta1.MsgSendMore", b"").unwrap_err();
    assert!(matches!(unknown, PackedError::Unknown { .. }), "{unknown}");
    let send = "/cosmos.bank.v1beta1.MsgSend";
    let content = any(send, b"\xff").unwrap_err();
    assert!(matches!(content, PackedError::Content { .. }), "{content}");
    let nobody = any(send, b"").unwrap_err();
    assert!(matches!(nobody, PackedError::Signer { .. }), "{nobody}");
    let no_id = any("/akash.market.v1beta5.MsgCloseBid", b"").unwrap_err();
    assert!(matches!(no_id, PackedError::Signer { .. }), "{no_id}");
}
