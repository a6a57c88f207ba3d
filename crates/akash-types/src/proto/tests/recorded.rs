//! Answers of a real node, to and fro without losing a byte.

use std::time::Duration;

use akash_proto::akash::deployment::v1beta4 as deployment;
use akash_proto::akash::market::v1beta5 as market;
use akash_proto::akash::provider::v1beta4 as provider;
use prost::Message;

use crate::*;

fn answer(name: &str) -> Vec<u8> {
    let all = include_str!("../../../fixtures/query-answers.txt");
    let line = all.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    hex::decode(line.unwrap()).unwrap()
}

#[test]
fn an_order() {
    let bytes = answer("order");
    let message = market::QueryOrderResponse::decode(bytes.as_slice()).unwrap();
    let order = Order::try_from(message.order.unwrap()).unwrap();
    assert_eq!(order.id.to_string(), "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r/101/1/1");
    assert_eq!((order.state, order.created_at), (OrderState::Active, 101));
    assert_eq!(order.reclamation_min_window, None);
    assert_eq!(order.spec.name, "westcoast");
    assert_eq!(order.spec.requirements.attributes, [Attribute::new("region", "us-west")]);
    assert_eq!(order.spec.requirements.signed_by, SignedBy::default());
    let unit = &order.spec.resources[0];
    assert_eq!((unit.count, unit.price.to_string().as_str()), (1, "1000.000000000000000000uact"));
    assert_eq!((unit.resources.cpu.units, unit.resources.gpu.units), (100, 0));
    assert_eq!(unit.resources.memory.quantity, 16_777_216);
    assert_eq!(unit.resources.storage[0].quantity, 134_217_728);
    assert_eq!(unit.resources.endpoints, [Endpoint::default()]);
    assert_eq!(validate_groups(std::slice::from_ref(&order.spec)), []);
    let again = market::QueryOrderResponse { order: Some(order.into()) };
    assert_eq!(again.encode_to_vec(), bytes);
}

#[test]
fn a_bid_with_its_account() {
    let bytes = answer("bid");
    let message = market::QueryBidResponse::decode(bytes.as_slice()).unwrap();
    let bid = Bid::try_from(message.bid.unwrap()).unwrap();
    let account = EscrowAccount::try_from(message.escrow_account.unwrap()).unwrap();
    assert_eq!((bid.state, bid.created_at), (BidState::Active, 102));
    assert_eq!(bid.price, "500uact".parse().unwrap());
    assert_eq!(account.id, EscrowAccountId::Bid(bid.id));
    assert_eq!((account.owner, account.settled_at), (bid.id.provider(), 102));
    assert_eq!(account.funds[0].amount, Dec::from_int(500_000));
    assert_eq!(account.deposits[0].source, DepositSource::Balance);
    let again =
        market::QueryBidResponse { bid: Some(bid.into()), escrow_account: Some(account.into()) };
    assert_eq!(again.encode_to_vec(), bytes);
}

#[test]
fn a_lease_with_its_payment() {
    let bytes = answer("lease");
    let message = market::QueryLeaseResponse::decode(bytes.as_slice()).unwrap();
    let lease = Lease::try_from(message.lease.unwrap()).unwrap();
    let payment = EscrowPayment::try_from(message.escrow_payment.unwrap()).unwrap();
    assert_eq!((lease.state, lease.created_at), (LeaseState::Active, 112));
    assert_eq!((lease.closed_on, lease.reason, &lease.reclamation), (None, None, &None));
    assert_eq!(payment.id.lease_id(), lease.id);
    assert_eq!((payment.state, &payment.rate), (EscrowState::Open, &lease.price));
    assert_eq!(payment.withdrawn, "2500uact".parse().unwrap());
    let again = market::QueryLeaseResponse {
        lease: Some(lease.into()),
        escrow_payment: Some(payment.into()),
    };
    assert_eq!(again.encode_to_vec(), bytes);
}

#[test]
fn a_deployment_with_groups_and_account() {
    let bytes = answer("deployment");
    let message = deployment::QueryDeploymentResponse::decode(bytes.as_slice()).unwrap();
    let held = Deployment::try_from(message.deployment.unwrap()).unwrap();
    let groups: Vec<Group> =
        message.groups.into_iter().map(|group| group.try_into().unwrap()).collect();
    let account = EscrowAccount::try_from(message.escrow_account.unwrap()).unwrap();
    assert_eq!((held.state, held.created_at), (DeploymentState::Active, 101));
    assert_eq!(held.hash[..4], [0xa2, 0x31, 0xda, 0xdb]);
    assert_eq!(groups[0].id.deployment_id(), held.id);
    assert_eq!((groups[0].state, groups[0].spec.name.as_str()), (GroupState::Open, "westcoast"));
    assert_eq!(account.id, EscrowAccountId::Deployment(held.id));
    assert_eq!(account.transferred, ["2500uact".parse().unwrap()]);
    let again = deployment::QueryDeploymentResponse {
        deployment: Some(held.into()),
        groups: groups.into_iter().map(Into::into).collect(),
        escrow_account: Some(account.into()),
    };
    assert_eq!(again.encode_to_vec(), bytes);
}

#[test]
fn parameters() {
    let bytes = answer("market_params");
    let message = market::QueryParamsResponse::decode(bytes.as_slice()).unwrap();
    let params = MarketParams::try_from(message.params.unwrap()).unwrap();
    assert_eq!(params.bid_min_deposit, Some("500000uakt".parse().unwrap()));
    assert_eq!(params.bid_min_deposits[0], "500000uact".parse().unwrap());
    assert_eq!(params.order_max_bids, 20);
    assert_eq!(params.min_reclamation_window, Duration::from_secs(3_600));
    assert_eq!(params.max_reclamation_window, Duration::from_secs(720 * 3_600));
    let again = market::QueryParamsResponse { params: Some(params.into()) };
    assert_eq!(again.encode_to_vec(), bytes);

    let bytes = answer("deployment_params");
    let message = deployment::QueryParamsResponse::decode(bytes.as_slice()).unwrap();
    let params = DeploymentParams::try_from(message.params.unwrap()).unwrap();
    assert_eq!(params.min_deposits, ["500000uakt".parse().unwrap(), "500000uact".parse().unwrap()]);
    let again = deployment::QueryParamsResponse { params: Some(params.into()) };
    assert_eq!(again.encode_to_vec(), bytes);
}

#[test]
fn a_provider() {
    let bytes = answer("provider");
    let message = provider::QueryProviderResponse::decode(bytes.as_slice()).unwrap();
    let held = Provider::try_from(message.provider.unwrap()).unwrap();
    assert_eq!(held.host_uri, "https://127.0.0.1:8443");
    assert_eq!(held.attributes[0], Attribute::new("region", "us-west"));
    assert_eq!(attribute::validate_provider(&held.attributes), Ok(()));
    let again = provider::QueryProviderResponse { provider: Some(held.into()) };
    assert_eq!(again.encode_to_vec(), bytes);
}
