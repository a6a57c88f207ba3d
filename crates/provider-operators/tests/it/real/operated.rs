//! The hostname operator on a real API server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_access::follow::{Source, WatchEvent, follow};
use kube_access::{Access, CachedObject, Counter, KubeClient, ResourceKind};
use provider_crd::names;
use provider_operators::hostname::Settings;
use provider_testkit::kube::without_what_varies;
use serde_json::{Value, json};

use crate::bed::{api_server, get, post, until};
use crate::common::{
    self, CASES, case, define_routes, delete, gateway, hosts, ingresses, merged, name, put,
    put_custom, put_namespace, recorded, start, writes_of,
};

#[tokio::test(flavor = "multi_thread")]
async fn recorded_hosts_get_the_recorded_routes_with_one_write_each() {
    let bed = api_server().await;
    let mut wanted = Vec::new();
    for name in CASES {
        let case = case(name);
        put_custom(&bed, &case).await;
        wanted.extend(recorded(&case, ResourceKind::INGRESS));
    }
    let operator = start(&bed, Settings::default()).await;
    operator.quiet().await;
    let count = wanted.len();
    wanted.sort_by_key(|object| name(object).to_owned());
    let stored = ingresses(&bed).await;
    assert_eq!(stored, wanted);
    assert_eq!(writes_of(&operator), [("ingresses-create".to_owned(), count)].into());
    assert_eq!(operator.inner.index().served().count(), count);

    // Killed, and started again: nothing is left to do.
    drop(operator);
    let again = start(&bed, Settings::default()).await;
    again.quiet().await;
    assert!(writes_of(&again).is_empty(), "{:?}", writes_of(&again));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_go_operator_made_is_taken_over_without_a_write() {
    let bed = api_server().await;
    for name in CASES {
        let case = case(name);
        put_custom(&bed, &case).await;
        for object in recorded(&case, ResourceKind::INGRESS) {
            put(&bed, ResourceKind::INGRESS, &object).await;
        }
    }
    let operator = start(&bed, Settings::default()).await;
    operator.quiet().await;
    assert!(writes_of(&operator).is_empty(), "{:?}", writes_of(&operator));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_follows_its_host_through_update_move_and_end() {
    let bed = api_server().await;
    let (first, second) = (case("01-basic"), case("04-nodeports"));
    for case in [&first, &second] {
        put_custom(&bed, case).await;
    }
    let operator = start(&bed, Settings::default()).await;
    operator.quiet().await;
    let mut host = hosts(&first).remove(0);
    let hostname = name(&host).to_owned();
    let of = |case: &provider_testkit::kube::Case| {
        let namespace = names::lease_namespace(&case.lease);
        format!("{}/{hostname}", ResourceKind::INGRESS.path(Some(&namespace)))
    };

    // An update of the lease.
    let manifest = format!(
        "{}/{}",
        ResourceKind::MANIFEST.path(Some("lease")),
        names::lease_namespace(&first.lease)
    );
    let mut stored = get(&bed, &manifest).await.unwrap();
    stored["spec"]["group"]["services"][0]["expose"][0]["http_options"]["max_body_size"] =
        4096.into();
    merged(&bed, &manifest, &stored).await;
    let key = "nginx.ingress.kubernetes.io/proxy-body-size";
    until("the update", async || {
        get(&bed, &of(&first)).await.unwrap()["metadata"]["annotations"][key] == "4096"
    })
    .await;

    // A move to another lease of the tenant.
    for (key, value) in [("dseq", json!(second.lease.dseq())), ("service_name", json!("web"))] {
        host["spec"][key] = value;
    }
    let path = format!("{}/{hostname}", ResourceKind::HOST.path(Some("lease")));
    merged(&bed, &path, &json!({"spec": host["spec"]})).await;
    until("the move", async || {
        get(&bed, &of(&first)).await.is_err() && get(&bed, &of(&second)).await.is_ok()
    })
    .await;

    // The end.
    delete(&bed, &path).await;
    until("the end", async || get(&bed, &of(&second)).await.is_err()).await;
    // A call counts once its answer is there, a moment after others see what it did.
    let deletes = || writes_of(&operator).get("ingresses-delete").copied();
    until("both deletes are counted", async || deletes() == Some(2)).await;
    let writes = writes_of(&operator);
    assert_eq!(writes.get("ingresses-update"), Some(&1), "{writes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_admission_refuses_leaves_the_others_alone() {
    let bed = api_server().await;
    let policy = json!({
        "metadata": {"name": "no"},
        "spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": ["networking.k8s.io"],
                "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["ingresses"]}]},
            "validations": [{"expression": "!object.metadata.name.startsWith('a-bad')",
                "message": "not this one"}],
        },
    });
    let binding = json!({"metadata": {"name": "no"},
        "spec": {"policyName": "no", "validationActions": ["Deny"]}});
    let group = "/apis/admissionregistration.k8s.io/v1";
    post(&bed, &format!("{group}/validatingadmissionpolicies"), &policy).await.unwrap();
    post(&bed, &format!("{group}/validatingadmissionpolicybindings"), &binding).await.unwrap();
    // A policy is in force a moment after it was made.
    let probe = json!({"metadata": {"name": "a-bad"}, "spec": {"defaultBackend":
        {"service": {"name": "x", "port": {"number": 80}}}}});
    let path = format!("{}?dryRun=All", ResourceKind::INGRESS.path(Some("default")));
    until("the policy", async || post(&bed, &path, &probe).await.is_err()).await;

    let case = case("01-basic");
    put_custom(&bed, &case).await;
    let host = hosts(&case).remove(0);
    for hostname in ["a-bad.example.com", "b.example.com", "z.example.com"] {
        let mut other = host.clone();
        other["metadata"]["name"] = hostname.into();
        other["spec"]["hostname"] = hostname.into();
        put(&bed, ResourceKind::HOST, &other).await;
    }
    let operator = start(&bed, Settings::default()).await;
    until("the others", async || ingresses(&bed).await.len() == 3).await;
    until("the refusal", async || operator.inner.index().retries().next().is_some()).await;
    // The operator knows of a route a moment after the API server has it.
    until("the answers", async || operator.inner.index().served().count() == 3).await;
    {
        let index = operator.inner.index();
        let (host, retry) = index.retries().next().unwrap();
        assert_eq!(host, "a-bad.example.com");
        assert!(retry.why.contains("not this one"), "{}", retry.why);
    }
    // Once it is let in, its turn comes.
    let name = format!("{group}/validatingadmissionpolicybindings/no");
    delete(&bed, &name).await;
    until("its turn", async || ingresses(&bed).await.len() == 4).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_that_is_killed_at_any_moment_converges() {
    let bed = api_server().await;
    let case = case("01-basic");
    put_custom(&bed, &case).await;
    let host = hosts(&case).remove(0);
    let named = |number: usize| format!("host-{number}.example.com");
    for round in 0..12_usize {
        let operator = start(&bed, Settings::default()).await;
        for number in round * 8..round * 8 + 8 {
            let mut other = host.clone();
            other["metadata"]["name"] = named(number).into();
            other["spec"]["hostname"] = named(number).into();
            put(&bed, ResourceKind::HOST, &other).await;
            if number % 3 == 0 && number > 4 {
                let gone = named(number - 4);
                delete(&bed, &format!("{}/{gone}", ResourceKind::HOST.path(Some("lease")))).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(13 * round as u64 % 50)).await;
        drop(operator);
    }
    let operator = start(&bed, Settings::default()).await;
    operator.quiet().await;
    let listed = get(&bed, &ResourceKind::HOST.path(Some("lease"))).await.unwrap();
    let names = |items: &[Value]| items.iter().map(|it| name(it).to_owned()).collect::<Vec<_>>();
    let wanted = names(listed["items"].as_array().unwrap());
    assert!(wanted.len() > 60, "{}", wanted.len());
    let mut routed = names(&ingresses(&bed).await);
    routed.sort();
    assert_eq!(routed, wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_operators_at_once_make_the_same_routes() {
    let bed = api_server().await;
    let case = case("01-basic");
    put_custom(&bed, &case).await;
    let operators =
        [start(&bed, Settings::default()).await, start(&bed, Settings::default()).await];
    let host = hosts(&case).remove(0);
    for number in 0..30 {
        let (mut other, name) = (host.clone(), format!("host-{number}.example.com"));
        other["metadata"]["name"] = name.as_str().into();
        other["spec"]["hostname"] = name.into();
        put(&bed, ResourceKind::HOST, &other).await;
    }
    for operator in &operators {
        until("its view", async || operator.inner.index().served().count() == 31).await;
        operator.quiet().await;
    }
    let routes = ingresses(&bed).await;
    assert_eq!(routes.len(), 31);
    // Neither undoes what the other does.
    let before: Vec<_> = operators.iter().map(writes_of).collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(operators.iter().map(writes_of).collect::<Vec<_>>(), before);
    assert_eq!(ingresses(&bed).await, routes);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_gets_the_recorded_routes_and_the_old_ones_go() {
    let bed = api_server().await;
    define_routes(&bed).await;
    let case = case("gateway-api/01-basic");
    put_custom(&bed, &case).await;
    let before = start(&bed, Settings::default()).await;
    before.quiet().await;
    assert_eq!(ingresses(&bed).await.len(), 1);
    drop(before);

    let operator = start(&bed, gateway()).await;
    until("the old route goes", async || ingresses(&bed).await.is_empty()).await;
    operator.quiet().await;
    let listed = get(&bed, &ResourceKind::HTTP_ROUTE.path(None)).await.unwrap();
    let mut stored: Vec<_> =
        listed["items"].as_array().unwrap().iter().cloned().map(without_what_varies).collect();
    let wanted = common::recorded_routes("gateway-api/01-basic");
    for stored in &mut stored {
        stored["kind"] = "HTTPRoute".into();
        stored["apiVersion"] = ResourceKind::HTTP_ROUTE.api_version.into();
    }
    assert_eq!(stored, wanted);
    drop(operator);

    let back = start(&bed, Settings::default()).await;
    until("the way back", async || {
        let listed = get(&bed, &ResourceKind::HTTP_ROUTE.path(None)).await.unwrap();
        listed["items"].as_array().unwrap().is_empty() && ingresses(&bed).await.len() == 1
    })
    .await;
    drop(back);
}

/// The API server's moments, by kind, what happened, and name.
type Moments = BTreeMap<(&'static str, &'static str, String), u64>;

#[tokio::test(flavor = "multi_thread")]
async fn every_new_route_is_there_before_the_old_one_goes() {
    let bed = api_server().await;
    define_routes(&bed).await;
    let case = case("gateway-api/01-basic");
    put_custom(&bed, &case).await;
    let host = hosts(&case).remove(0);
    for number in 0..20 {
        let (mut other, name) = (host.clone(), format!("host-{number}.example.com"));
        other["metadata"]["name"] = name.as_str().into();
        other["spec"]["hostname"] = name.into();
        put(&bed, ResourceKind::HOST, &other).await;
    }
    let before = start(&bed, Settings::default()).await;
    before.quiet().await;
    drop(before);

    // At which of the API server's moments routes came and went.
    let seen: Arc<Mutex<Moments>> = Arc::default();
    for kind in [ResourceKind::INGRESS, ResourceKind::HTTP_ROUTE] {
        let access = Access::find(bed.kubeconfig(), &akash_net::Outbound::default()).await.unwrap();
        let counter: Counter = Arc::new(|_: &str, _| {});
        let client = KubeClient::new(access.client().unwrap(), Duration::from_secs(10), counter);
        let seeing = Arc::clone(&seen);
        let tell = move |told: WatchEvent<CachedObject>| {
            let mut seen = seeing.lock().unwrap();
            let mut note = |what, shown: &CachedObject| {
                let moment = shown.number().unwrap();
                seen.entry((kind.name, what, shown.name.clone())).or_insert(moment);
            };
            match told {
                WatchEvent::Synced(all) => all.iter().for_each(|shown| note("came", shown)),
                WatchEvent::Applied(shown) => note("came", &shown),
                WatchEvent::Deleted(shown) => note("went", &shown),
                WatchEvent::Connected | WatchEvent::Failed(_) => {}
            }
        };
        tokio::spawn(follow(client, Source::everything(kind), tell, Arc::default()));
    }
    until("all is seen", async || seen.lock().unwrap().len() == 21).await;

    // Killed on the way, and started again.
    let switching = start(&bed, gateway()).await;
    until("some went", async || ingresses(&bed).await.len() < 18).await;
    drop(switching);
    let operator = start(&bed, gateway()).await;
    until("the old routes go", async || ingresses(&bed).await.is_empty()).await;
    operator.quiet().await;
    until("all is seen", async || seen.lock().unwrap().len() == 63).await;
    let seen = seen.lock().unwrap();
    for ((_, _, name), went) in seen
        .iter()
        .filter(|((kind, what, _), _)| (*kind, *what) == (ResourceKind::INGRESS.name, "went"))
    {
        let came = seen[&(ResourceKind::HTTP_ROUTE.name, "came", name.clone())];
        assert!(came < *went, "{name}: came at {came}, the old one went at {went}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_routes_and_unknown_hosts_are_left_alone() {
    let bed = api_server().await;
    let case = case("01-basic");
    put_namespace(&bed, &names::lease_namespace(&case.lease)).await;
    for object in recorded(&case, ResourceKind::INGRESS) {
        put(&bed, ResourceKind::INGRESS, &object).await;
    }
    // No custom resource is seen: that says nothing about the route.
    let operator = start(&bed, Settings::default()).await;
    until("it looked", async || operator.inner.index().reasons().next().is_some()).await;
    assert_eq!(ingresses(&bed).await.len(), 1);
    assert!(writes_of(&operator).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_served_is_told_over_http() {
    let bed = api_server().await;
    let case = case("01-basic");
    put_custom(&bed, &case).await;
    let operator = start(&bed, Settings::default()).await;
    operator.quiet().await;
    let ask = common::serve(&operator).await;
    let (head, body) = ask("GET", "/managed-hostnames").await;
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    for line in ["cache-control: no-cache, max-age=0", "content-type: text/plain; charset=utf-8"] {
        assert!(head.contains(line), "{head}");
    }
    assert!(head.contains("last-modified: ") && head.contains(" GMT"), "{head}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let hosts = hosts(&case);
    let told = &body[name(&hosts[0])];
    assert_eq!(told["LeaseID"]["dseq"], case.lease.dseq());
    assert_eq!(told["LeaseID"]["owner"], case.lease.owner().to_string());
    assert_eq!(told["Namespace"], names::lease_namespace(&case.lease));
    assert_eq!((&told["ExternalPort"], &told["ServiceName"]), (&json!(80), &json!("web")));
    assert!(told["LastUpdate"].as_str().unwrap().contains(" +0000 UTC m=+"), "{told}");

    let (head, body) = ask("GET", "/ignore-list").await;
    assert!(head.starts_with("HTTP/1.1 204 No Content") && body.is_empty(), "{head}");
    assert!(!head.contains("last-modified"), "{head}");
    for method in ["GET", "POST"] {
        let (head, body) = ask(method, "/health").await;
        assert!(head.starts_with("HTTP/1.1 200 OK") && body == "OK", "{head}");
    }
    let (head, body) = ask("GET", "/nope").await;
    assert!(head.starts_with("HTTP/1.1 404 Not Found"), "{head}");
    assert!(head.contains("x-content-type-options: nosniff"), "{head}");
    assert_eq!(body, "404 page not found\n");
    for (method, path, file) in [
        ("GET", "/health", "health"),
        ("POST", "/health", "health-post"),
        ("GET", "/managed-hostnames", "managed-hostnames"),
        ("GET", "/ignore-list", "ignore-list"),
        ("GET", "/nope", "nope"),
    ] {
        let (head, body) = ask(method, path).await;
        let recorded = common::recorded_answer(file);
        let (recorded_head, recorded_body) = recorded.split_once("\n\n").unwrap();
        assert_eq!(outline(&head), outline(recorded_head), "{path}");
        if path == "/managed-hostnames" {
            let both = [recorded_body, &body].map(|text| serde_json::from_str(text).unwrap());
            let [recorded, ours]: [BTreeMap<String, Value>; 2] = both;
            let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect();
            let (recorded, ours) = (recorded.values().next(), ours.values().next());
            let (recorded, ours) = (recorded.unwrap(), ours.unwrap());
            let all: [BTreeSet<String>; 2] = [keys(recorded), keys(ours)];
            assert!(all[0].is_subset(&all[1]), "{all:?}");
            let lease: [BTreeSet<String>; 2] = [recorded, ours].map(|it| keys(&it["LeaseID"]));
            assert_eq!(lease[0], lease[1]);
        } else {
            assert_eq!(body, recorded_body, "{path}");
        }
    }
}

/// Status and headers of an answer, without those that the moment and the length decide.
fn outline(head: &str) -> BTreeSet<String> {
    let lines = head.lines().map(|line| line.trim().to_lowercase());
    let lines = lines.map(|line| match line.split_once(": ") {
        Some(("last-modified", _)) => "last-modified".to_owned(),
        _ => line,
    });
    let varies = ["date:", "content-length:", "transfer-encoding:", "connection:"];
    lines.filter(|line| !varies.iter().any(|start| line.starts_with(start))).collect()
}
