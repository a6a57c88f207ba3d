//! The rights of `deploy/kubernetes/rbac.yaml` are enough for the driver and the operator.
//!
//! Both run as users with the names of the service accounts, for whom nothing else is allowed. A call
//! outside of their rights fails the test.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use akash_types::LeaseState;
use provider_crd::names;
use provider_engine::cluster::command::Operation;
use provider_engine::cluster::port::{EventQuery, Execute, Inspect, ServiceChoice};
use provider_engine::manifest::BlockedHostnames;
use provider_engine::reconcile::Evidence;
use provider_kube::KubeDriver;
use provider_kube::client::{Access, Calls, Counter, Failure, Kind, Selector};
use provider_operators::election::{Ballot, lead};
use provider_operators::hostname::Settings;
use provider_operators::hostname::backends::Answers;
use provider_testkit::kube::workload;
use serde_json::Value;

use crate::bed::{self, account, api_server, get, until};
use crate::common::{
    self, CASES, case, define_routes, gateway, ingresses, put_namespace, start_as,
};

fn calls(access: &Access) -> Calls {
    Calls::new(access.client().unwrap(), Duration::from_secs(10), Arc::new(|_: &str, _| {}))
}

async fn is_forbidden(calls: &Calls, kind: Kind, namespace: Option<&str>) -> bool {
    let listed = calls.list::<Value>(kind, namespace, Selector::default()).await;
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
            let path = Kind::INGRESS.path(Some(&namespace));
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
    assert_eq!(operator.inner.board().troubles().count(), 0);
    let endpoints = Kind { name: "Endpoints", api_version: "v1", plural: "endpoints" };
    calls(&provider).get(endpoints, Some("default"), "kubernetes").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_of_a_gateway_need_no_more_rights() {
    let bed = api_server().await;
    define_routes(&bed).await;
    let case = case("gateway-api/01-basic");
    common::put_custom(&bed, &case).await;
    let user = "system:serviceaccount:akash-services:operator-hostname";
    let kubeconfig = bed.kubeconfig_of(user, None).unwrap();
    for (settings, ingress, routes) in
        [(Settings::default(), 1, 0), (gateway(), 0, 1), (Settings::default(), 1, 0)]
    {
        let operator = start_as(&kubeconfig, settings).await;
        until("the routes", async || {
            let listed = get(&bed, &Kind::HTTP_ROUTE.path(None)).await.unwrap();
            listed["items"].as_array().unwrap().len() == routes
                && ingresses(&bed).await.len() == ingress
        })
        .await;
        // Nobody answers here, which is not the same as not to know.
        let host = common::name(&common::hosts(&case)[0]).to_owned();
        until("who answers is known", async || {
            operator.inner.board().answers(&host) == Some(Answers::Nobody)
        })
        .await;
        // What a tenant is told.
        operator.inner.block(BlockedHostnames::new([&host]));
        let events = Kind::EVENT.path(Some(&names::lease_namespace(&case.lease)));
        until("the event", async || {
            !get(&bed, &events).await.unwrap()["items"].as_array().unwrap().is_empty()
        })
        .await;
        drop(operator);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_replicas_works_and_the_other_takes_over() {
    let bed = api_server().await;
    let calls = calls(&account(&bed, "akash-services", "operator-hostname").await);
    let (told, mut leaders) = tokio::sync::mpsc::unbounded_channel();
    let replica = |name: &'static str| {
        let (told, calls) = (told.clone(), calls.clone());
        let ballot = Ballot {
            namespace: "lease".to_owned(),
            lease: "akash-operator-hostname".to_owned(),
            candidate: name.to_owned(),
        };
        tokio::spawn(async move {
            lead(calls, ballot, || {
                told.send(name).unwrap();
                std::future::pending()
            })
            .await;
        })
    };
    let first = replica("first");
    assert_eq!(leaders.recv().await, Some("first"));
    let _second = replica("second");
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert!(leaders.try_recv().is_err(), "the first one leads");
    // It is killed, without giving the Lease back.
    first.abort();
    let next = tokio::time::timeout(Duration::from_secs(40), leaders.recv()).await;
    assert_eq!(next, Ok(Some("second")));
    let path = format!("{}/akash-operator-hostname", Kind::ELECTION.path(Some("lease")));
    let lease = get(&bed, &path).await.unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], "second");
    assert_eq!(lease["spec"]["leaseTransitions"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_needed_is_not_allowed() {
    let bed = api_server().await;
    let lease = names::lease_namespace(&case("01-basic").lease);
    put_namespace(&bed, &lease).await;
    let operator = calls(&account(&bed, "akash-services", "operator-hostname").await);
    for kind in [Kind::SECRET, Kind::POD, Kind::DEPLOYMENT, Kind::NAMESPACE, Kind::CONFIG_MAP] {
        assert!(is_forbidden(&operator, kind, None).await, "operator: {}", kind.name);
    }
    let provider = calls(&account(&bed, "akash-services", "akash-provider").await);
    for (kind, namespace) in [(Kind::CONFIG_MAP, "kube-system"), (Kind::MANIFEST, "default")] {
        assert!(is_forbidden(&provider, kind, Some(namespace)).await, "provider: {}", kind.name);
    }
    let tenant = calls(&account(&bed, &lease, "default").await);
    for kind in [Kind::SECRET, Kind::POD, Kind::SERVICE, Kind::INGRESS, Kind::HOST] {
        assert!(is_forbidden(&tenant, kind, Some(&lease)).await, "tenant: {}", kind.name);
        assert!(is_forbidden(&tenant, kind, Some("lease")).await, "tenant: {}", kind.name);
    }
}
