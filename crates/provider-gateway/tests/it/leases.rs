//! What is shown of leases, compared with what a Go provider showed.

use std::collections::BTreeMap;

use provider_api::client::ClientError;
use provider_api::error::ErrorCode;
use provider_api::query::StreamParams;
use provider_gateway::port::Busy;
use provider_sim::core::Disturbance;
use serde_json::Value;

use crate::common::{
    self, World, case, lease,
    raw::{assert_replays, replay},
};

#[tokio::test(flavor = "multi_thread")]
async fn leases_are_shown_as_recorded_and_explained() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    world.run_case("02-two-services", 9002).await;
    for name in ["lease-status-jwt", "lease-status-mtls", "lease-status-2svc-mtls"] {
        let (answer, recorded) = replay(&world, name, "").await;
        let mut shown: Value = serde_json::from_str(&answer.body).unwrap();
        for service in shown["services"].as_object_mut().unwrap().values_mut() {
            let detail = service.as_object_mut().unwrap().remove("detail").unwrap();
            assert_eq!(detail["phase"], "ready", "{detail}");
            assert_eq!(detail["ready"], service["total"], "{detail}");
            assert!(!detail["events"].as_array().unwrap().is_empty(), "{detail}");
        }
        assert_eq!(shown, serde_json::from_str::<Value>(&recorded.body).unwrap(), "{name}");
        assert_eq!(answer.header("content-type"), recorded.header("content-type"));
    }
    for name in [
        "service-status-mtls",
        "service-status-2svc-jwt",
        "service-status-2svc-mtls",
        "auth-granular-svc-web",
    ] {
        let (answer, recorded) = replay(&world, name, "").await;
        let mut shown: Value = serde_json::from_str(&answer.body).unwrap();
        shown.as_object_mut().unwrap().remove("detail").unwrap();
        assert_eq!(shown, serde_json::from_str::<Value>(&recorded.body).unwrap(), "{name}");
    }
    for name in [
        "lease-status-unknown-jwt",
        "lease-status-unknown-mtls",
        "service-status-unknown-lease-jwt",
        "service-status-unknown-lease-mtls",
        "get-manifest-unknown-jwt",
    ] {
        assert_replays(&world, name, "").await;
    }
    let missing = world.client("full").service_status(lease(9001), "nope").await.unwrap_err();
    let ClientError::Refused { status, code, message } = missing else { panic!("{missing:?}") };
    assert_eq!((status, code), (404, Some(ErrorCode::ServiceNotFound)));
    assert_eq!(message, "kube: no service for that lease");
}

/// A lease's status as recorded, but for what is said beside.
async fn assert_shown(world: &World, name: &str) {
    let (answer, recorded) = replay(world, name, "").await;
    let mut shown: Value = serde_json::from_str(&answer.body).unwrap();
    for service in shown["services"].as_object_mut().unwrap().values_mut() {
        service.as_object_mut().unwrap().remove("detail").unwrap();
    }
    assert_eq!(shown, serde_json::from_str::<Value>(&recorded.body).unwrap(), "{name}");
}

#[tokio::test(flavor = "multi_thread")]
async fn deployments_of_every_kind_are_shown_as_recorded() {
    let world = World::start().await;
    world.run_case("05-storage", 9005).await;
    world.run_case("07-credentials", 9007).await;
    world.run_case("09-permissions", 9009).await;
    // There is no such card, so it waits.
    let (manifest, sdl) = case("06-gpu");
    world.provider.lease(lease(9006), &manifest, sdl.groups());
    world.deploy(9006, &manifest).await;
    for name in [
        "case-lease-status-06-gpu",
        "case-lease-status-07-credentials",
        "case-lease-status-09-permissions",
    ] {
        assert_shown(&world, name).await;
    }
    for name in [
        "case-get-manifest-05-storage",
        "case-get-manifest-06-gpu",
        "case-get-manifest-09-permissions",
    ] {
        let (answer, recorded) = replay(&world, name, "").await;
        let mut shown: Value = serde_json::from_str(&answer.body).unwrap();
        let mut recorded: Value = serde_json::from_str(&recorded.body).unwrap();
        for service in shown[0]["services"].as_array_mut().unwrap() {
            service["resources"]["endpoints"] = Value::Null;
        }
        // Existing providers give back a list that is empty for one that was not sent.
        for manifest in [&mut shown, &mut recorded] {
            for service in manifest[0]["services"].as_array_mut().unwrap() {
                if let Some(storage) = service.pointer_mut("/params/storage")
                    && storage.as_array().is_some_and(Vec::is_empty)
                {
                    *storage = Value::Null;
                }
            }
        }
        assert_eq!(shown, recorded, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_shown_from_its_manifest_to_its_end_as_recorded() {
    let world = World::start().await;
    assert_replays(&world, "state-order-open-status", "").await;
    let (manifest, sdl) = case("01-basic");
    world.provider.lease(lease(9301), &manifest, sdl.groups());
    let body = common::fixture("kubernetes/01-basic/manifest.json");
    assert_replays(&world, "state-lease-put-manifest", &body).await;
    world.settled(9301).await;
    assert_shown(&world, "state-after-3s-status").await;
    world.provider.close(lease(9301));
    assert_replays(&world, "state-closed-get-manifest", "").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_without_a_manifest_looks_like_none() {
    let world = World::start().await;
    let (manifest, sdl) = case("01-basic");
    world.provider.lease(lease(9304), &manifest, sdl.groups());
    for name in [
        "state-lease-never-put-get-manifest",
        "state-lease-never-put-service",
        "state-lease-never-put-status",
    ] {
        assert_replays(&world, name, "").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_manifest_comes_back_as_it_was_kept() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    world.run_case("02-two-services", 9002).await;
    for name in ["get-manifest-mtls", "get-manifest-2svc-mtls"] {
        let (answer, recorded) = replay(&world, name, "").await;
        let mut shown: Value = serde_json::from_str(&answer.body).unwrap();
        // Existing providers lose the endpoints.
        for service in shown[0]["services"].as_array_mut().unwrap() {
            assert!(!service["resources"]["endpoints"].is_null());
            service["resources"]["endpoints"] = Value::Null;
        }
        assert_eq!(shown, serde_json::from_str::<Value>(&recorded.body).unwrap(), "{name}");
    }
    let (manifest, _) = case("02-two-services");
    assert_eq!(world.client("full").manifest(lease(9002)).await.unwrap(), manifest.groups[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn ports_are_listed_where_the_lease_asks_for_them() {
    let world = World::start().await;
    world.run_case("04-nodeports", 9004).await;
    let (answer, recorded) = replay(&world, "case-lease-status-04-nodeports", "").await;
    let shape = |body: &str| {
        let document: provider_api::status::LeaseStatus = serde_json::from_str(body).unwrap();
        let ports = document.forwarded_ports.unwrap().into_iter().map(|(service, ports)| {
            let mut ports: Vec<_> = ports
                .into_iter()
                .map(|port| (port.host, port.port, port.proto, port.name))
                .collect();
            ports.sort();
            (service, ports)
        });
        (ports.collect::<Vec<_>>(), document.ips)
    };
    assert_eq!(shape(&answer.body), shape(&recorded.body));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_fails_says_why() {
    let world = World::start().await;
    let (mut manifest, sdl) = case("01-basic");
    manifest.groups[0].services[0].image = "example/web:crash".to_owned();
    world.provider.lease(lease(9001), &manifest, sdl.groups());
    world.deploy(9001, &manifest).await;
    let client = world.client("full");
    for _ in 0..200 {
        let status = client.lease_status(lease(9001)).await.unwrap();
        let detail = status.services["web"].detail.clone().unwrap();
        if detail.restarts > 0 && detail.phase == "failing" {
            assert_eq!(detail.last_exit.unwrap().code, 1);
            assert!(detail.why.is_some_and(|why| !why.is_empty()));
            assert!(detail.events.iter().any(|event| event.kind == "Warning"));
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("it does not fail");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_for_one_service_sees_no_other() {
    let world = World::start().await;
    world.run_case("02-two-services", 9002).await;
    let client = world.client("granular-svc");
    let status = client.lease_status(lease(9002)).await.unwrap();
    assert_eq!(status.services.keys().collect::<Vec<_>>(), ["web"]);
    let other = client.service_status(lease(9002), "db").await.unwrap_err();
    assert!(matches!(other, ClientError::Refused { status: 401, .. }), "{other:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_does_not_answer_is_a_503() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    world.cluster.disturb(Disturbance::ApiDown(None)).await.unwrap();
    let refused = world.client("full").lease_status(lease(9001)).await.unwrap_err();
    assert!(refused.may_pass());
    let ClientError::Refused { status, code, .. } = refused else { panic!("{refused:?}") };
    assert_eq!((status, code), (503, Some(ErrorCode::ClusterUnavailable)));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_of_the_engine_says_whether_anything_was_begun() {
    let world = World::start().await;
    let (manifest, _) = case("01-basic");
    for (busy, wanted, may_be_done) in [
        (Busy::Full, (503, ErrorCode::Busy), false),
        (Busy::NotReady, (503, ErrorCode::NotReady), false),
        (Busy::Stopping, (503, ErrorCode::NotReady), false),
        (Busy::TimedOut, (504, ErrorCode::TimedOut), true),
    ] {
        world.provider.be_busy(busy);
        let refused = world.client("full").send_manifest(9001, &manifest).await.unwrap_err();
        let said = refused.to_string();
        let ClientError::Refused { status, code, .. } = refused else { panic!("{refused:?}") };
        assert_eq!((status, code), (wanted.0, Some(wanted.1)), "{busy:?}");
        assert_eq!(said.contains("may have been done"), may_be_done, "{busy:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn options_without_effect_are_in_the_status_and_among_the_events() {
    let world = World::start().await;
    let (manifest, sdl) = case("02-two-services");
    world.provider.lease(lease(9002), &manifest, sdl.groups());
    let ignored = BTreeMap::from([("web".to_owned(), vec!["proxy_cache".to_owned()])]);
    world.deploy_ignoring(9002, &manifest, ignored).await;
    world.settled(9002).await;
    let client = world.client("full");
    let status = client.lease_status(lease(9002)).await.unwrap();
    let told = status.services.iter().map(|(name, service)| {
        let options = &service.detail.as_ref().unwrap().not_carried_out;
        (name.as_str(), options.iter().map(String::as_str).collect::<Vec<_>>())
    });
    assert_eq!(told.collect::<Vec<_>>(), [("db", vec![]), ("web", vec!["proxy_cache"])]);

    for (service, notes) in [
        ("web", vec!["this provider does not know proxy_cache and runs the service without it"]),
        ("db", vec![]),
    ] {
        let params = StreamParams { services: vec![service.to_owned()], ..StreamParams::default() };
        let mut events = client.events(lease(9002), &params).await.unwrap();
        let (mut found, mut others) = (Vec::new(), 0);
        while let Some(event) = events.next().await.unwrap() {
            if event.reason == "NotCarriedOut" {
                assert_eq!(
                    (event.kind.as_str(), event.object.kind.as_str()),
                    ("Warning", "Manifest")
                );
                assert_eq!(event.object.name, lease(9002).to_string());
                found.push(event.note);
            } else {
                others += 1;
            }
        }
        assert_eq!(found, notes, "{service}");
        assert!(others > 0, "{service}: what happened is told as well");
    }
}
