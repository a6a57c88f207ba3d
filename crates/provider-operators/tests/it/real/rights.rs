//! The rights of `deploy/kubernetes/rbac.yaml` are enough for the driver and the operator.
//!
//! Both run as users with the names of the service accounts, for whom nothing else is allowed. A call
//! outside of their rights fails the test.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use akash_types::LeaseState;
use akash_types::hostname::BlockedHostnames;
use kube_access::election::{LeaseParams, lead, release};
use kube_access::{Access, Counter, Failure, KubeClient, Preconditions, ResourceKind, Selector};
use provider_crd::names;
use provider_engine::cluster::command::Operation;
use provider_engine::cluster::port::{EventQuery, Execute, Inspect, ServiceChoice};
use provider_engine::reconcile::Evidence;
use provider_kube::KubeDriver;
use provider_operators::hostname::Settings;
use provider_operators::hostname::backends::Answers;
use provider_testkit::kube::workload;
use serde_json::Value;

use crate::bed::{self, account, api_server, get, until};
use crate::common::{
    self, CASES, case, define_routes, gateway, ingresses, put_namespace, start_as,
};

fn client(access: &Access) -> KubeClient {
    KubeClient::new(access.client().unwrap(), Duration::from_secs(10), Arc::new(|_: &str, _| {}))
}

async fn is_forbidden(client: &KubeClient, kind: ResourceKind, namespace: Option<&str>) -> bool {
    let listed = client.list::<Value>(kind, namespace, Selector::default()).await;
    matches!(listed, Err(Failure::Refused(why)) if why.contains("forbidden"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rights_are_enough_to_deploy_update_route_and_tear_down() {
    let bed = api_server().await;
    define_routes(&bed).await;
    let provider = bed::provider(&bed).await;
    let failed: Arc<Mutex<Vec<String>>> = Arc::default();
    let failing = Arc::clone(&failed);
    let counter: Counter = Arc::new(move |action: &str, is_well| {
        if !is_well {
            failing.lock().unwrap().push(action.to_owned());
        }
    });
    let user = "system:serviceaccount:akash-services:operator-hostname";
    let kubeconfig = bed.kubeconfig_of(user, None).unwrap();
    let operator = start_as(&kubeconfig, Settings::default()).await;

    for name in CASES {
        let case = case(name);
        let counter = Arc::clone(&counter);
        let driver = KubeDriver::connect(&provider, case.settings.clone(), counter).await.unwrap();
        assert!(driver.is_known_within(Duration::from_secs(30)).await, "{name}: cannot watch");
        let mut wanted = workload(&case).unwrap();
        driver.execute(Operation::Deploy(Arc::new(wanted.clone()))).await.unwrap();
        let routed = async || {
            let namespace = names::lease_namespace(&case.lease);
            let path = ResourceKind::INGRESS.path(Some(&namespace));
            get(&bed, &path).await.unwrap()["items"].as_array().unwrap().clone()
        };
        until("the route", async || !routed().await.is_empty()).await;

        // Everything that a newer manifest leaves behind goes.
        for service in &mut Arc::make_mut(&mut wanted.group).services {
            service.image = "localhost/other:1".to_owned();
            service.credentials = None;
            if let Some(params) = &mut service.params {
                params.permissions = None;
            }
            for expose in service.expose.iter_mut().flatten() {
                expose.http_options.max_body_size = 4096;
            }
        }
        wanted.version = Some(akash_sdl::Version::from([1; 32]));
        driver.execute(Operation::Deploy(Arc::new(wanted))).await.unwrap();
        let key = "nginx.ingress.kubernetes.io/proxy-body-size";
        until("the update", async || {
            routed().await.iter().all(|it| it["metadata"]["annotations"][key] == "4096")
        })
        .await;

        driver.execute(Operation::Maintain(true)).await.unwrap();
        driver.execute(Operation::Maintain(false)).await.unwrap();
        driver.status(case.lease).await.unwrap();
        let query = EventQuery { services: ServiceChoice::All, follow: false };
        driver.events(case.lease, query).await.unwrap();
        let evidence = Evidence::new(LeaseState::Closed, None, 1, 2).unwrap();
        let teardown = Operation::Teardown { lease: case.lease, evidence };
        driver.execute(teardown).await.unwrap();
        until("the end of the route", async || routed().await.is_empty()).await;
    }
    assert_eq!(*failed.lock().unwrap(), Vec::<String>::new());
    assert_eq!(operator.inner.index().retries().count(), 0);
    let endpoints = ResourceKind { name: "Endpoints", api_version: "v1", plural: "endpoints" };
    client(&provider).get(endpoints, Some("default"), "kubernetes").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_of_a_gateway_need_no_more_rights() {
    let bed = api_server().await;
    define_routes(&bed).await;
    let case = case("gateway-api/01-basic");
    common::put_custom(&bed, &case).await;
    let user = "system:serviceaccount:akash-services:operator-hostname";
    let kubeconfig = bed.kubeconfig_of(user, None).unwrap();
    let all =
        client(&Access::find(bed.kubeconfig(), &akash_net::Outbound::default()).await.unwrap());
    let mut rounds = 0;
    for (settings, ingress, routes) in
        [(Settings::default(), 1, 0), (gateway(), 0, 1), (Settings::default(), 1, 0)]
    {
        let operator = start_as(&kubeconfig, settings).await;
        until("the routes", async || {
            let listed = get(&bed, &ResourceKind::HTTP_ROUTE.path(None)).await.unwrap();
            listed["items"].as_array().unwrap().len() == routes
                && ingresses(&bed).await.len() == ingress
        })
        .await;
        // Nobody answers here, which is not the same as not to know.
        let host = common::name(&common::hosts(&case)[0]).to_owned();
        until("who answers is known", async || {
            operator.inner.index().answers(&host) == Some(Answers::Nobody)
        })
        .await;
        // What a tenant is told. Every round writes an event of the same name: the one of the round
        // before is not there any more.
        let namespace = names::lease_namespace(&case.lease);
        let path = ResourceKind::EVENT.path(Some(&namespace));
        let events = async || get(&bed, &path).await.unwrap()["items"].as_array().unwrap().clone();
        assert_eq!(events().await, Vec::<Value>::new());
        operator.inner.block(BlockedHostnames::new([&host]));
        until("the event", async || !events().await.is_empty()).await;
        drop(operator);
        for event in events().await {
            let name = event["metadata"]["name"].as_str().unwrap();
            all.delete(ResourceKind::EVENT, Some(&namespace), name, Preconditions::default())
                .await
                .unwrap();
        }
        rounds += 1;
    }
    assert_eq!(rounds, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_replicas_works_and_the_other_takes_over() {
    let bed = api_server().await;
    let client = client(&account(&bed, "akash-services", "operator-hostname").await);
    let (told, mut leaders) = tokio::sync::mpsc::unbounded_channel();
    let params = |name: &str| LeaseParams {
        namespace: "lease".to_owned(),
        lease: "akash-operator-hostname".to_owned(),
        claimant: name.to_owned(),
    };
    let replica = |name: &'static str| {
        let (told, client) = (told.clone(), client.clone());
        let params = params(name);
        tokio::spawn(async move {
            lead(client, params, || {
                told.send(name).unwrap();
                std::future::pending()
            })
            .await;
        })
    };
    let first = replica("first");
    assert_eq!(leaders.recv().await, Some("first"));
    let second = replica("second");
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(leaders.try_recv().is_err(), "the first one leads");
    // It is killed, without giving the Lease back.
    first.abort();
    let next = tokio::time::timeout(Duration::from_secs(40), leaders.recv()).await;
    assert_eq!(next, Ok(Some("second")));
    let path = format!("{}/akash-operator-hostname", ResourceKind::ELECTION.path(Some("lease")));
    let lease = get(&bed, &path).await.unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], "second");
    assert_eq!(lease["spec"]["leaseTransitions"], 2);
    // One that stops by itself releases the Lease, and nobody waits until it expires.
    second.abort();
    let _ = second.await;
    // A claimant releases its own Lease only.
    release(client.clone(), &params("third")).await;
    let lease = get(&bed, &path).await.unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], "second");
    release(client.clone(), &params("second")).await;
    let lease = get(&bed, &path).await.unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], "");
    let _third = replica("third");
    assert_eq!(leaders.recv().await, Some("third"));
    let lease = get(&bed, &path).await.unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], "third");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_needed_is_not_allowed() {
    let bed = api_server().await;
    let lease = names::lease_namespace(&case("01-basic").lease);
    put_namespace(&bed, &lease).await;
    let operator = client(&account(&bed, "akash-services", "operator-hostname").await);
    for kind in [
        ResourceKind::SECRET,
        ResourceKind::POD,
        ResourceKind::DEPLOYMENT,
        ResourceKind::NAMESPACE,
        ResourceKind::CONFIG_MAP,
    ] {
        assert!(is_forbidden(&operator, kind, None).await, "operator: {}", kind.name);
    }
    let provider = client(&account(&bed, "akash-services", "akash-provider").await);
    for (kind, namespace) in
        [(ResourceKind::CONFIG_MAP, "kube-system"), (ResourceKind::MANIFEST, "default")]
    {
        assert!(is_forbidden(&provider, kind, Some(namespace)).await, "provider: {}", kind.name);
    }
    let tenant = client(&account(&bed, &lease, "default").await);
    for kind in [
        ResourceKind::SECRET,
        ResourceKind::POD,
        ResourceKind::SERVICE,
        ResourceKind::INGRESS,
        ResourceKind::HOST,
    ] {
        assert!(is_forbidden(&tenant, kind, Some(&lease)).await, "tenant: {}", kind.name);
        assert!(is_forbidden(&tenant, kind, Some("lease")).await, "tenant: {}", kind.name);
    }
}
