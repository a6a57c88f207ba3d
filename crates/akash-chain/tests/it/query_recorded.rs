//! Every recorded call, asked by gRPC and by `abci_query`.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use akash_chain::query::{
    Account, Answer, BidFilter, CertificateFilter, Connection, Failure, LeaseFilter, List, Node,
    OrderFilter, Query, QueryError, Transport,
};
use akash_types::{
    Address, BidId, BidState, CertificateState, EscrowAccountId, EscrowState, LeaseId, LeaseState,
    OrderState,
};
use prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage};
use serde_json::Value as Json;

use crate::query_support::{
    Call, FakeNode, Say, fixture_json, from_base64, from_hex, recording, recordings,
};

const OWNER: &str = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r";
const PROVIDER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

fn owner() -> Address {
    OWNER.parse().unwrap()
}

fn provider() -> Address {
    PROVIDER.parse().unwrap()
}

fn lease_id(dseq: u64) -> LeaseId {
    format!("{OWNER}/{dseq}/1/1/{PROVIDER}").parse().unwrap()
}

/// The one recorded call whose refusal differs by transport: it never was a gRPC status.
const NOT_A_STATUS: &str = "auth_account_unknown";

#[tokio::test]
async fn both_transports_bring_the_recorded_bytes_or_the_same_refusal() {
    let calls = recordings();
    let node = FakeNode::start(move |call| {
        let (path, request) = call.query();
        let found = calls.iter().find(|recorded| {
            recorded["method"] == path.as_str() && from_hex(&recorded["request_hex"]) == request
        });
        Say::recorded(call, found.expect(&path))
    })
    .await;
    let [grpc, abci] = node.both();
    let mut refused = 0;
    for call in recordings() {
        let name = call["name"].as_str().unwrap();
        let (path, request) = (call["method"].as_str().unwrap(), from_hex(&call["request_hex"]));
        let by_grpc = grpc.unary(path, request.clone()).await;
        let by_abci = abci.unary(path, request).await;
        if call["code"] == 0 {
            let reply = by_grpc.unwrap();
            assert_eq!(reply.bytes, from_base64(&call["response_b64"]), "{name}");
            if name == "akash_discovery" {
                // Served over gRPC only, and not of any height.
                assert_eq!(reply.height, None);
                let text = "unknown query path".to_owned();
                assert_eq!(by_abci, Err(Failure::Unimplemented { text }.into()));
                continue;
            }
            assert_eq!(Ok(&reply.bytes), by_abci.as_ref().map(|reply| &reply.bytes), "{name}");
            // Recorded one after the other: a block may have passed between.
            let heights = (reply.height.unwrap(), by_abci.unwrap().height.unwrap());
            assert!((heights.0..=heights.0 + 1).contains(&heights.1), "{name}: {heights:?}");
            continue;
        }
        refused += 1;
        let (by_grpc, by_abci) = (by_grpc.unwrap_err().failure, by_abci.unwrap_err());
        // What is not a method was not looked for in any state.
        assert_eq!(by_abci.height.is_some(), name != "unknown_method", "{name}");
        let by_abci = by_abci.failure;
        match name {
            NOT_A_STATUS => {
                assert!(matches!(by_grpc, Failure::Rejected { code: 6, .. }), "{by_grpc:?}");
                assert!(matches!(by_abci, Failure::InvalidArgument { .. }), "{by_abci:?}");
                assert_eq!(by_grpc.text(), by_abci.text());
            }
            "unknown_method" => {
                assert!(matches!(by_grpc, Failure::Unimplemented { .. }), "{by_grpc:?}");
                assert!(matches!(by_abci, Failure::Unimplemented { .. }), "{by_abci:?}");
            }
            _ => assert_eq!(by_grpc, by_abci, "{name}"),
        }
        assert!(!by_grpc.is_transient(), "{name}");
        let not_found = call["code"] == 5;
        assert_eq!(matches!(by_grpc, Failure::NotFound { .. }), not_found, "{name}");
    }
    assert!(refused >= 8, "{refused} refusals are recorded");
}

/// A node that answers with one recording, whatever is asked.
struct Replay {
    node: FakeNode,
    says: Arc<Mutex<Json>>,
}

impl Replay {
    async fn start() -> Self {
        let says = Arc::new(Mutex::new(Json::Null));
        let current = says.clone();
        let node = FakeNode::start(move |call| Say::recorded(call, &current.lock().unwrap())).await;
        Self { node, says }
    }

    /// Asks by both transports while the node answers with recording `name`, and checks that the
    /// request was the recorded one (but for paging) and that both answers are equal.
    async fn ask<V: PartialEq + Debug, F: Future<Output = Result<Answer<V>, QueryError>>>(
        &self,
        name: &str,
        ask: impl Fn(Query<Connection>) -> F,
    ) -> Answer<V> {
        let recorded = recording(name);
        *self.says.lock().unwrap() = recorded.clone();
        self.node.asked();
        let [grpc, abci] = self.node.both();
        let by_grpc =
            ask(Query::new(grpc)).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let by_abci =
            ask(Query::new(abci)).await.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(by_grpc.value, by_abci.value, "{name}");
        for call in self.node.asked() {
            let (path, request) = call.query();
            assert_eq!(recorded["method"], path.as_str(), "{name}");
            let expected = from_hex(&recorded["request_hex"]);
            assert_eq!(without_paging(&path, &request), without_paging(&path, &expected), "{name}");
        }
        by_grpc
    }

    async fn list<V: PartialEq + Debug, F: Future<Output = Result<Answer<List<V>>, QueryError>>>(
        &self,
        name: &str,
        ask: impl Fn(Query<Connection>) -> F,
    ) -> Vec<V> {
        let List { items, unreadable } = self.ask(name, ask).await.value;
        assert_eq!(unreadable, [], "{name}");
        items
    }
}

/// The request in hex, without the page that is asked for.
fn without_paging(path: &str, request: &[u8]) -> String {
    let pool = DescriptorPool::decode(akash_proto::FILE_DESCRIPTOR_SET).unwrap();
    let (service, method) = path.trim_start_matches('/').split_once('/').unwrap();
    let service = pool.get_service_by_name(service).unwrap();
    let method = service.methods().find(|found| found.name() == method).unwrap();
    let mut message = DynamicMessage::decode(method.input(), request).unwrap();
    message.clear_field_by_name("pagination");
    hex::encode(message.encode_to_vec())
}

#[tokio::test]
async fn market_answers_are_read() {
    let replay = Replay::start().await;
    let orders = replay.list("orders_open", |query| async move { query.open_orders().await }).await;
    let states: Vec<OrderState> = orders.iter().map(|order| order.state).collect();
    assert_eq!(states, [OrderState::Open]);
    assert_eq!((orders[0].id.owner(), orders[0].id.dseq()), (owner(), 100));
    let active = OrderFilter { state: Some(OrderState::Active), ..OrderFilter::default() };
    let orders =
        replay.list("orders_active", |query| async move { query.orders(active).await }).await;
    let order_id = lease_id(101).order_id();
    assert_eq!(orders[0].id, order_id);
    let order = replay.ask("order", |query| async move { query.order(order_id).await }).await;
    assert_eq!(order.value.as_ref(), Some(&orders[0]));
    assert_eq!(order.height, Some(170));
    let missing = lease_id(999_999);
    let order = replay
        .ask("order_unknown", |query| async move { query.order(missing.order_id()).await })
        .await;
    assert_eq!(order, Answer { value: None, height: None });

    let bids = replay
        .list("bids_by_provider", |query| async move { query.bids_of(provider(), None).await })
        .await;
    let active = BidFilter {
        provider: Some(provider()),
        state: Some(BidState::Active),
        ..BidFilter::default()
    };
    let active = replay
        .list("bids_by_provider_active", |query| async move { query.bids(active).await })
        .await;
    assert_eq!(bids, active);
    let bid_id: BidId = lease_id(101).bid_id();
    let bid = replay.ask("bid", |query| async move { query.bid(bid_id).await }).await;
    assert_eq!(bid.value.as_ref(), Some(&bids[0]));
    assert_eq!(bids[0].bid.price.to_string(), "500.000000000000000000uact");
    let deposit = bids[0].account.as_ref().unwrap();
    assert_eq!(deposit.id, EscrowAccountId::Bid(bid_id));

    let filter = LeaseFilter { provider: Some(provider()), ..LeaseFilter::default() };
    let leases =
        replay.list("leases_by_provider", |query| async move { query.leases(filter).await }).await;
    let active = LeaseFilter {
        provider: Some(provider()),
        state: Some(LeaseState::Active),
        ..LeaseFilter::default()
    };
    let active = replay
        .list("leases_by_provider_active", |query| async move { query.leases(active).await })
        .await;
    assert_eq!(leases, active);
    let lease = replay.ask("lease", |query| async move { query.lease(lease_id(101)).await }).await;
    assert_eq!(lease.value.as_ref(), Some(&leases[0]));
    let payment = leases[0].payment.as_ref().unwrap();
    assert_eq!(payment.rate.to_string(), "500.000000000000000000uact");
    let lease =
        replay.ask("lease_unknown", |query| async move { query.lease(missing).await }).await;
    assert_eq!(lease.value, None);

    let params =
        replay.ask("market_params", |query| async move { query.market_params().await }).await.value;
    assert_eq!((params.order_max_bids, params.bid_min_deposits.len()), (20, 2));
}

#[tokio::test]
async fn deployments_and_escrow_are_read() {
    let replay = Replay::start().await;
    let id = lease_id(101).deployment_id();
    let deployment =
        replay.ask("deployment", |query| async move { query.deployment(id).await }).await;
    let info = deployment.value.unwrap();
    assert_eq!((info.deployment.id, info.groups.len()), (id, 1));
    let account = info.account.unwrap();
    assert_eq!(account.id, EscrowAccountId::Deployment(id));
    let group = lease_id(101).group_id();
    let group = replay.ask("group", |query| async move { query.group(group).await }).await;
    assert_eq!(group.value.as_ref(), info.groups.first());
    let missing = lease_id(999_999).deployment_id();
    let deployment = replay
        .ask("deployment_unknown", |query| async move { query.deployment(missing).await })
        .await;
    assert_eq!(deployment.value, None);
    let params = replay
        .ask("deployment_params", |query| async move { query.deployment_params().await })
        .await;
    assert_eq!(params.value.min_deposits.len(), 2);

    let accounts = replay
        .list("escrow_accounts", |query| async move { query.escrow_accounts(None).await })
        .await;
    assert_eq!(accounts.len(), 3);
    let found = replay
        .ask("escrow_account_xid", |query| async move {
            query.escrow_account(EscrowAccountId::Deployment(id)).await
        })
        .await;
    assert_eq!(found.value, Some(account));
    let payments = replay
        .list("escrow_payments", |query| async move { query.escrow_payments(None).await })
        .await;
    assert_eq!(payments.len(), 1);
    assert_eq!((payments[0].owner, payments[0].state), (provider(), EscrowState::Open));
}

#[tokio::test]
async fn accounts_providers_and_certificates_are_read() {
    let replay = Replay::start().await;
    let found =
        replay.ask("provider", |query| async move { query.provider(provider()).await }).await;
    assert_eq!(found.value.unwrap().host_uri, "https://127.0.0.1:8443");
    let found =
        replay.ask("provider_unknown", |query| async move { query.provider(owner()).await }).await;
    assert_eq!(found.value, None);
    let audits = replay
        .list("auditor_attrs", |query| async move { query.audits_of(provider()).await })
        .await;
    assert_eq!(audits, []);

    for (name, account) in [("certs_provider", provider()), ("certs_tenant", owner())] {
        let request = from_hex(&recording(name)["request_hex"]);
        let request =
            akash_proto::akash::cert::v1::QueryCertificatesRequest::decode(request.as_slice());
        let filter = request.unwrap().filter.unwrap();
        assert_eq!(filter.owner, account.to_string());
        let filter = CertificateFilter {
            owner: Some(account),
            serial: Some(filter.serial).filter(|serial| !serial.is_empty()),
            state: Some(filter.state.parse().unwrap()),
        };
        let filter = &filter;
        let certificates =
            replay.list(name, |query| async move { query.certificates(filter).await }).await;
        assert_eq!(certificates.len(), 1, "{name}");
        assert_eq!(certificates[0].state, CertificateState::Valid);
        assert!(certificates[0].certificate.starts_with(b"-----BEGIN CERTIFICATE-----"));
        assert!(certificates[0].public_key.starts_with(b"-----BEGIN EC PUBLIC KEY-----"));
    }

    let account =
        replay.ask("auth_account", |query| async move { query.account(provider()).await }).await;
    let Account { address, number, sequence, public_key } = account.value.unwrap();
    assert_eq!((address, number, sequence), (provider(), 2, 4));
    assert_eq!(public_key.unwrap().address(), Some(provider()));
    let uakt = "uakt".parse().unwrap();
    let uakt = &uakt;
    let balance =
        replay.ask("balance", |query| async move { query.balance(provider(), uakt).await }).await;
    assert_eq!(balance.value.to_string(), "9999999488432uakt");
    let balances =
        replay.list("all_balances", |query| async move { query.balances(provider()).await }).await;
    let balances: Vec<String> = balances.iter().map(ToString::to_string).collect();
    assert_eq!(balances, ["10000000002500uact", "9999999488432uakt"]);
}

#[tokio::test]
async fn the_node_tells_of_itself_its_blocks_and_transactions() {
    let node = FakeNode::start(|call| {
        let Call::Rpc { method, params, .. } = call else { panic!("{call:?}") };
        let heights = |name: &str| format!("{name}-{}.json", params["height"].as_str().unwrap());
        Say::Json(match method.as_str() {
            "status" => fixture_json("rpc-status.json"),
            "block" => fixture_json(&heights("block")),
            "block_results" => fixture_json(&heights("block_results")),
            "tx" if from_base64(&params["hash"])[0] == 0x0c => {
                fixture_json("tx-createbid-ok.json")["tx"].clone()
            }
            "tx" => fixture_json("rpc-tx-notfound.json"),
            other => panic!("{other}"),
        })
    })
    .await;
    let node = Node::new(node.rpc());
    let status = node.status().await.unwrap();
    assert_eq!((status.chain_id.as_str(), status.latest_height), ("local", 265));
    assert!(!status.catching_up);
    let since_1970 = status.latest_time.duration_since(std::time::UNIX_EPOCH).unwrap();
    assert_eq!((since_1970.as_secs(), since_1970.subsec_nanos()), (1_794_769_040, 119_188_959));

    let block = node.block(112).await.unwrap();
    assert_eq!((block.height, block.txs.len(), block.chain_id.as_str()), (112, 1, "local"));
    let results = node.block_results(112).await.unwrap();
    assert_eq!((results.height, results.txs.len()), (112, 1));
    assert_eq!((results.txs[0].gas_wanted, results.txs[0].gas_used), (219_763, 162_467));
    let lease =
        results.txs[0].events.iter().find(|event| event.kind.ends_with("EventLeaseCreated"));
    assert!(lease.unwrap().attribute("id").unwrap().contains(OWNER));
    assert!(!results.finalize_block_events.is_empty());

    let recorded = fixture_json("tx-createbid-ok.json");
    let hash = recorded["tx_hash"].as_str().unwrap().parse().unwrap();
    let found = node.tx(hash).await.unwrap().unwrap();
    assert_eq!((found.hash, found.height, found.result.is_ok()), (hash, 213, true));
    assert_eq!(found.raw, from_base64(&recorded["tx_raw_b64"]));
    assert_eq!(node.tx([0xab; 32].into()).await.unwrap(), None);
}
