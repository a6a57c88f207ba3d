//! How hosts are, and who is told, on a real API server.

use akash_types::hostname::BlockedHostnames;
use kube_access::ResourceKind;
use kube_bed::Bed;
use provider_crd::names;
use provider_operators::Listener;
use provider_operators::hostname::rpc::{self, Rpc};
use provider_operators::hostname::{HostnameOperator, Settings};
use serde_json::{Value, json};
use tonic::Code;
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::bed::{api_server, get, post, until};
use crate::common::{self, case, delete, hosts, merged, name, put, put_custom, start};

async fn answers(operator: &HostnameOperator) -> Channel {
    let listener = Listener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let address = listener.local_address().unwrap();
    let rpc = Rpc::new(operator.clone()).unwrap();
    tokio::spawn(async move { match rpc::serve(listener, rpc).await {} });
    Endpoint::from_shared(format!("http://{address}")).unwrap().connect().await.unwrap()
}

fn asks(service: &str) -> HealthCheckRequest {
    HealthCheckRequest { service: service.to_owned() }
}

/// As the controller of endpoints makes it: with the labels of the service.
fn slice(namespace: &str, ready: bool) -> Value {
    json!({
        "metadata": {"name": "web-x", "namespace": namespace,
            "labels": {"akash.network": "true", "kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.2.3"], "conditions": {"ready": ready}}],
        "ports": [{"name": "0-80", "port": 80, "protocol": "TCP"}],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_is_well_while_somebody_answers_and_everybody_is_told() {
    let bed = api_server().await;
    let case = case("01-basic");
    put_custom(&bed, &case).await;
    let host = name(&hosts(&case)[0]).to_owned();
    let operator = start(&bed, Settings::default()).await;
    operator.quiet().await;
    let mut health = HealthClient::new(answers(&operator.inner).await);
    let mut status = async |name: &str| {
        let answer = health.check(asks(name)).await;
        answer.map(|it| it.into_inner().status()).map_err(|status| status.code())
    };
    for name in ["", "hostname"] {
        assert_eq!(status(name).await, Ok(ServingStatus::Serving), "{name:?}");
    }
    for name in ["hostname/nobody.example", "other"] {
        assert_eq!(status(name).await, Err(Code::NotFound), "{name:?}");
    }
    let mut watch = HealthClient::new(answers(&operator.inner).await)
        .watch(asks(&format!("hostname/{host}")))
        .await
        .unwrap()
        .into_inner();
    let ask = common::serve(&operator).await;
    let mut told = async |serving: ServingStatus, state: &str, ready: u32| {
        // Until everything was seen, nobody is said not to answer.
        while watch.message().await.unwrap().unwrap().status() != serving {}
        let (_, body) = ask("GET", "/managed-hostnames").await;
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body[&host]["State"], state);
        assert_eq!(body[&host]["ReadyBackends"], ready);
    };
    told(ServingStatus::NotServing, "without_backends", 0).await;
    let namespace = names::lease_namespace(&case.lease);
    let slices = ResourceKind::ENDPOINT_SLICE.path(Some(&namespace));
    post(&bed, &slices, &slice(&namespace, true)).await.unwrap();
    told(ServingStatus::Serving, "routed", 1).await;
    merged(&bed, &format!("{slices}/web-x"), &slice(&namespace, false)).await;
    told(ServingStatus::NotServing, "without_backends", 0).await;
    merged(&bed, &format!("{slices}/web-x"), &slice(&namespace, true)).await;
    told(ServingStatus::Serving, "routed", 1).await;
    delete(&bed, &format!("{slices}/web-x")).await;
    told(ServingStatus::NotServing, "without_backends", 0).await;
    let figures = operator.inner.figures();
    assert!(figures.leads && figures.queue == 0, "{figures:?}");
    assert_eq!(figures.hosts.values().sum::<usize>(), 1);
    assert_eq!(figures.counts.writes, [(("create", true), 1)].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_asked_is_described() {
    let bed = api_server().await;
    let operator = start(&bed, Settings::default()).await;
    let list = MessageRequest::ListServices(String::new());
    let request = ServerReflectionRequest { host: String::new(), message_request: Some(list) };
    let mut reflection = ServerReflectionClient::new(answers(&operator.inner).await);
    let requests = futures_util::stream::iter([request]);
    let mut answers = reflection.server_reflection_info(requests).await.unwrap().into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response;
    let Some(MessageResponse::ListServicesResponse(list)) = answer else { panic!("{answer:?}") };
    let names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
    assert!(names.iter().any(|name| name == "grpc.health.v1.Health"), "{names:?}");
}

async fn told(bed: &Bed, namespace: &str) -> Vec<(String, String)> {
    let listed = get(bed, &ResourceKind::EVENT.path(Some(namespace))).await.unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let items = listed["items"].as_array().unwrap().iter();
    items.map(|event| (text(&event["reason"]), text(&event["note"]))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_reads_among_their_events_why_a_host_is_not_served() {
    let bed = api_server().await;
    let case = case("01-basic");
    put_custom(&bed, &case).await;
    let mut host = hosts(&case).remove(0);
    host["metadata"]["name"] = "shop.example.com".into();
    host["spec"]["hostname"] = "shop.example.com".into();
    put(&bed, ResourceKind::HOST, &host).await;
    let blocked = BlockedHostnames::new([".example.com"]);
    let operator = start(&bed, Settings { blocked: blocked.clone(), ..Settings::default() }).await;
    let namespace = names::lease_namespace(&case.lease);
    until("the event", async || told(&bed, &namespace).await.len() == 1).await;
    let (reason, note) = told(&bed, &namespace).await.remove(0);
    assert_eq!(reason, "HostnameRefused");
    assert!(note.contains("\"shop.example.com\" is blocked by this provider"), "{note}");
    drop(operator);

    // Another operator does not say it again, and lets it in once it may.
    let again = start(&bed, Settings { blocked, ..Settings::default() }).await;
    until("it looked", async || again.inner.index().reasons().next().is_some()).await;
    again.inner.block(BlockedHostnames::default());
    until("the route", async || common::ingresses(&bed).await.len() == 2).await;
    assert_eq!(told(&bed, &namespace).await.len(), 1);
}
