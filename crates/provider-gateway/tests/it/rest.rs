//! Every route over a real socket, compared with what a Go provider answered.

use std::sync::Arc;

use provider_api::client::ClientError;
use provider_api::error::{CODE_HEADER, ERROR_JSON, ErrorBody, ErrorCode};
use provider_api::status::ProviderStatus;
use provider_engine::cluster::view::Amounts;
use provider_engine::engine::{InventoryStatus, LeaseIndex, NodeStatus, Reserved, StorageStatus};
use provider_gateway::Settings;
use serde_json::Value;

use crate::common::{
    World, case, fixture, lease,
    raw::{ask, assert_replays, read_by_clients, recorded},
};

/// The manifest of lease 9001, changed.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut manifest: Value =
        serde_json::from_str(&fixture("kubernetes/01-basic/manifest.json")).unwrap();
    change(&mut manifest);
    manifest.to_string()
}

fn web(manifest: &mut Value) -> &mut Value {
    &mut manifest[0]["services"][0]
}

#[tokio::test(flavor = "multi_thread")]
async fn what_leads_nowhere_is_answered_as_recorded() {
    let world = World::start().await;
    for name in [
        "root",
        "unknown-path",
        "status-trailing-slash",
        "double-slash",
        "status-post",
        "method-OPTIONS-status",
        "get-deployment-manifest",
        "post-deployment-manifest",
        "lease-post",
        "options-lease-status",
        "options-cors-noauth",
    ] {
        assert_replays(&world, name, "").await;
    }
    let head = ask(world.address, "HEAD", "/status", &[], "").await;
    assert_eq!((head.status, head.body.as_str()), (405, ""));
    assert_eq!(head.header("allow"), None);
    assert_eq!(ask(world.address, "GET", "/metrics", &[], "").await.status, 404);
    let moved = ask(world.address, "GET", "/lease/../status?x=1", &[], "").await;
    assert_eq!((moved.status, moved.header("location")), (301, Some("/status?x=1")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attestation_quote_is_not_found_with_a_code_of_its_own() {
    let world = World::start().await;
    let path = "/lease/9001/1/1/attestation/quote";
    let body = r#"{"nonce":"AA==","bind_tls":false}"#;
    let answer = ask(world.address, "POST", path, &[("accept", ERROR_JSON)], body).await;
    assert_eq!((answer.status, answer.header(CODE_HEADER)), (404, Some("no-attestation")));
    let failure: ErrorBody = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(failure.message, "this provider gives no proof of its hardware");
    let other = ask(world.address, "GET", path, &[], "").await;
    assert_eq!((other.status, other.header(CODE_HEADER)), (404, Some("unknown-route")));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_is_looked_at_before_what_is_asked() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    for name in [
        "auth-garbage-status",
        "auth-expired-status",
        "auth-garbage-lease-status",
        "auth-missing-lease-status",
        "auth-missing-put-manifest",
        "auth-scoped-logs-lease-status",
        "auth-scoped-status-manifest",
        "auth-scoped-status-put",
        "auth-other-lease-status",
        "auth-other-manifest",
        "auth-other-logs-nows",
        "endpoint-migrate-noauth",
        "migrate-noauth",
    ] {
        assert_replays(&world, name, "").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ids_and_parameters_are_refused_as_recorded() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    for name in [
        "lease-big-gseq",
        "lease-zero-dseq",
        "put-manifest-bad-dseq",
        "logs-bad-tail",
        "logs-bad-tail2",
        "logs-trailing-comma",
        "kubeevents-no-upgrade",
        "shell-no-upgrade",
        "shell-no-params",
        "shell-no-service",
        "shell-no-stdin",
        "shell-no-tty",
        "shell-bad-podindex",
    ] {
        assert_replays(&world, name, "").await;
    }
    let upgrade = [
        ("Authorization", "Bearer full"),
        ("Connection", "Upgrade, close"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Origin", "https://evil.example"),
    ];
    let answer = ask(world.address, "GET", "/lease/9001/1/1/logs", &upgrade, "").await;
    let recorded = recorded("logs-upgrade-origin").answer;
    assert_eq!(read_by_clients(&answer), read_by_clients(&recorded));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_is_that_of_the_recording() {
    let world = World::start().await;
    let recorded = recorded("status-noauth").answer;
    let document: ProviderStatus = serde_json::from_str(&recorded.body).unwrap();
    let inventory = &document.cluster.inventory;
    let number = |number: u64| i64::try_from(number).unwrap();
    let amounts = |amounts: &provider_api::status::NodeAmounts| Amounts {
        cpu_milli: number(amounts.cpu),
        memory: number(amounts.memory),
        ephemeral: number(amounts.storage_ephemeral),
        gpu: number(amounts.gpu),
    };
    let all = inventory.active.iter().map(|kept| (true, kept));
    let all = all.chain(inventory.pending.iter().map(|kept| (false, kept)));
    let reserved = (1..).zip(all).map(|(dseq, (active, kept))| Reserved {
        order: lease(dseq).order_id(),
        active,
        amounts: amounts(&kept.node),
        storage: kept
            .storage
            .iter()
            .map(|(class, size)| (class[..].into(), number(*size)))
            .collect(),
        ports: 0,
        ips: 0,
    });
    let nodes = inventory.available.nodes.iter().map(|node| NodeStatus {
        name: node.name[..].into(),
        allocatable: amounts(&node.allocatable),
        available: amounts(&node.available),
        ..NodeStatus::default()
    });
    let storage = inventory.available.storage.iter().map(|class| StorageStatus {
        class: class.class[..].into(),
        allocatable: number(class.size),
        available: number(class.size),
        ..StorageStatus::default()
    });
    let inventory = InventoryStatus {
        nodes: nodes.collect(),
        storage: storage.collect(),
        reserved: reserved.collect(),
        ..InventoryStatus::default()
    };
    let leases = (1..=11).map(|dseq| provider_engine::engine::LeaseStatus {
        id: lease(dseq),
        price: "1uakt".parse().unwrap(),
        stage: "running",
        alive: true,
        lacks_manifest: false,
        funds: None,
    });
    world.provider.publish(|published| {
        published.inventory = Some(inventory);
        published.leases = LeaseIndex::from_iter(leases);
        published.deployments = 11;
    });
    for name in ["status-noauth", "status-jwt"] {
        assert_replays(&world, name, "").await;
    }

    world.provider.publish(|published| published.inventory = None);
    let early = ask(world.address, "GET", "/status", &[], "").await;
    assert!(early.body.contains(r#""inventory":{"available":{},"error":{}}"#), "{}", early.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn address_and_version_are_public() {
    let world = World::start().await;
    assert_replays(&world, "address-noauth-alpn", "").await;
    let version = ask(world.address, "GET", "/version", &[], "").await;
    assert_eq!(version.header("content-type"), Some("application/json; charset=UTF-8"));
    assert!(version.body.contains(r#""server_name":"\u003cappd\u003e""#), "{}", version.body);
    assert!(version.body.ends_with(r#""kube":null}"#), "{}", version.body);
    world.provider.identify(|identity| {
        identity.version.kube = Some(serde_json::json!({"major": "1", "minor": "34"}));
    });
    let version = world.client("").version().await.unwrap();
    assert_eq!(version.kube.unwrap()["minor"], "34");
    assert_eq!(version.akash.version, "v0.16.2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_that_is_not_accepted_is_told_as_recorded() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let same = || changed(|_| {});
    let table = [
        ("put-manifest-same-jwt", same()),
        ("put-manifest-same-mtls", same()),
        ("put-manifest-pretty", fixture("kubernetes/01-basic/manifest.json")),
        ("put-manifest-trailing-garbage", same() + " trailing"),
        ("put-manifest-empty-body", String::new()),
        ("put-manifest-empty-array", "[]".to_owned()),
        ("put-manifest-not-json", "hello".to_owned()),
        ("put-manifest-object", "{}".to_owned()),
        ("put-manifest-truncated", same()[..100].to_owned()),
        ("put-manifest-wrong-hash", changed(|it| web(it)["image"] = "nginx".into())),
        ("put-manifest-count0", changed(|it| web(it)["count"] = 0.into())),
        ("put-manifest-wrong-group", changed(|it| it[0]["name"] = "eastcoast".into())),
        ("put-manifest-noimage", changed(|it| web(it)["image"] = "".into())),
        ("put-manifest-no-services", changed(|it| it[0]["services"] = Value::Array(vec![]))),
        ("put-manifest-bad-env", changed(|it| web(it)["env"] = serde_json::json!(["=x"]))),
        ("put-manifest-port0", changed(|it| web(it)["expose"][0]["port"] = 0.into())),
        ("put-manifest-port70000", changed(|it| web(it)["expose"][0]["port"] = 70000.into())),
        ("put-manifest-no-cpu", changed(|it| web(it)["resources"]["cpu"] = Value::Null)),
    ];
    for (name, body) in table {
        assert_replays(&world, name, &body).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_there_is_no_lease_no_manifest_is_taken() {
    let world = World::start().await;
    let (manifest, sdl) = case("01-basic");
    world.provider.deployment(lease(9301).deployment_id(), &manifest, sdl.groups());
    assert_replays(&world, "state-closed-put-manifest", &changed(|_| {})).await;

    // What the hash says is said before whether there is a lease.
    world.provider.deployment(lease(100).deployment_id(), &manifest, sdl.groups());
    world.provider.deployment(lease(9001).deployment_id(), &manifest, sdl.groups());
    let other = changed(|it| web(it)["image"] = "nginx".into());
    assert_replays(&world, "put-manifest-no-lease-here", &other).await;
    let limit =
        changed(|it| web(it)["expose"][0]["httpOptions"]["maxBodySize"] = 200_000_000.into());
    assert_replays(&world, "put-manifest-http-limit", &limit).await;

    // Existing providers call both of these an internal error.
    let unknown = world.client("full").send_manifest(424_242, &manifest).await.unwrap_err();
    let ClientError::Refused { status, code, message } = unknown else { panic!("{unknown:?}") };
    assert_eq!((status, code), (404, Some(ErrorCode::DeploymentNotFound)));
    assert!(message.starts_with("Deployment not found"), "{message}");

    let mut taken = manifest;
    let expose = taken.groups[0].services[0].expose.as_mut().unwrap();
    expose[0].hosts = Some(vec!["taken.example.com".to_owned()]);
    world.provider.lease(lease(9303), &taken, sdl.groups());
    let conflict = world.client("full").send_manifest(9303, &taken).await.unwrap_err();
    let ClientError::Refused { status, code, message } = conflict else { panic!("{conflict:?}") };
    assert_eq!((status, code), (409, Some(ErrorCode::HostnameInUse)));
    assert_eq!(message, "hostname not allowed: host \"taken.example.com\" in use");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_sdl_is_as_good_as_its_manifest() {
    let world = World::start().await;
    let (manifest, sdl) = case("02-two-services");
    world.provider.lease(lease(9002), &manifest, sdl.groups());
    let client = world.client("full");
    let text = fixture("kubernetes/02-two-services/sdl.yaml");
    client.send_sdl(9002, text).await.unwrap();
    assert_eq!(client.manifest(lease(9002)).await.unwrap(), manifest.groups[0]);

    let refused = client.send_sdl(9002, "version: '2.0'".to_owned()).await.unwrap_err();
    let ClientError::Refused { status, code, .. } = refused else { panic!("{refused:?}") };
    assert_eq!((status, code), (422, Some(ErrorCode::BadBody)));
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_bounded() {
    let settings = Settings { largest_manifest: 1000, largest_body: 100, ..Settings::default() };
    let world = World::with(settings).await;
    let bearer = [("Authorization", "Bearer full")];
    let body = "x".repeat(1001);
    let answer = ask(world.address, "PUT", "/deployment/1/manifest", &bearer, &body).await;
    assert_eq!((answer.status, answer.header(CODE_HEADER)), (413, Some("body-too-large")));
    let answer = ask(world.address, "POST", "/hostname/migrate", &bearer, &body).await;
    assert_eq!(answer.status, 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn names_are_moved_as_recorded() {
    let world = World::start().await;
    let hostnames = |name: &str, dseq: u64| {
        format!(
            r#"{{"hostnames_to_migrate":["{name}"],"destination_dseq":{dseq},"destination_gseq":1}}"#
        )
    };
    let endpoints = |name: &str, dseq: u64| hostnames(name, dseq).replace("hostnames", "endpoints");
    for (name, body) in [
        ("migrate-not-used", hostnames("nope.example.com", 9002)),
        ("migrate-notjson", "xyz".to_owned()),
        ("migrate-other-tenant", hostnames("one.example.com", 1)),
        ("migrate-same-lease-ok", hostnames("one.example.com", 9002)),
        ("migrate-unknown-dseq", hostnames("one.example.com", 424_242)),
        ("migrate-hostname-other-owner", hostnames("one.example.com", 9002)),
        ("endpoint-migrate-not-used", endpoints("nope", 9002)),
        ("endpoint-migrate-same", endpoints("meow", 9002)),
        ("endpoint-migrate-unknown-dseq", endpoints("meow", 424_242)),
    ] {
        assert_replays(&world, name, &body).await;
    }
    let bearer = [("Authorization", "Bearer full")];
    let nothing = ask(world.address, "POST", "/hostname/migrate", &bearer, "{}").await;
    assert_eq!((nothing.status, nothing.body.as_str()), (400, ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_can_be_screened() {
    let world = World::start().await;
    let (_, sdl) = case("01-basic");
    let answer = world.client("").validate(&sdl.groups()[0]).await.unwrap();
    assert!(answer.passed && answer.reasons.is_empty());
    assert_eq!(answer.resource_offers[0].count, 1);
    assert_eq!(answer.resource_offers[0].resources.memory.size.val, "16777216");
    assert_eq!(answer.price.unwrap().denom, sdl.groups()[0].resources[0].price.denom().to_string());

    let group = akash_sdl::groups_to_json(sdl.groups());
    let group = group.trim_start_matches('[').trim_end_matches(']');
    let asked = format!("{{\"group_spec\":{group},\"hostnames\":[\"taken.example.com\"]}}");
    let declined = ask(world.address, "POST", "/validate", &[], &asked).await;
    assert_eq!(declined.body, r#"{"passed":false,"reasons":["host in use"]}"#);
    let unreadable = ask(world.address, "GET", "/validate", &[], "[]").await;
    assert_eq!((unreadable.status, unreadable.header(CODE_HEADER)), (422, Some("bad-body")));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_json_is_told_failures_in_it() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let headers = [("Authorization", "Bearer full"), ("Accept", ERROR_JSON)];
    let body = changed(|it| {
        web(it)["image"] = "nginx".into();
        web(it)["imagePullPolicy"] = "Always".into();
    });
    let answer = ask(world.address, "PUT", "/deployment/9001/manifest", &headers, &body).await;
    assert_eq!((answer.status, answer.header("content-type")), (422, Some(ERROR_JSON)));
    let failure: ErrorBody = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(failure.code, ErrorCode::ManifestHash);
    assert_eq!(failure.message, "manifest version validation failed");
    let help = failure.help.unwrap();
    assert!(help.contains("[0].services[0].imagePullPolicy"), "{help}");
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_for_who_shows_the_token_where_they_are_switched_on() {
    let metrics: provider_gateway::Metrics = Arc::new(|| "provider_up 1\n".to_owned());
    let metrics_token = provider_gateway::ScrapeToken::new(" scrape-me\n");
    let settings = Settings { metrics: Some(metrics), metrics_token, ..Settings::default() };
    let world = World::with(settings).await;
    let shown = [("authorization", "Bearer scrape-me")];
    let answer = ask(world.address, "GET", "/metrics", &shown, "").await;
    assert_eq!((answer.status, answer.body.as_str()), (200, "provider_up 1\n"));
    let kind = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
    assert_eq!(answer.header("content-type"), Some(kind));
    for wrong in [
        &[][..],
        &[("authorization", "Bearer scrape-m")],
        &[("authorization", "Bearer scrape-you")],
    ] {
        assert_eq!(ask(world.address, "GET", "/metrics", wrong, "").await.status, 401, "{wrong:?}");
    }
    let off = World::start().await;
    assert_eq!(ask(off.address, "GET", "/metrics", &shown, "").await.status, 404);
}
