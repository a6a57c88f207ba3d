//! gRPC over a real socket.

use std::time::{Duration, Instant};

use akash_grpc::akash::provider::lease::v1::lease_rpc_client::LeaseRpcClient;
use akash_grpc::akash::provider::v1::provider_rpc_client::ProviderRpcClient;
use akash_proto::akash::provider::lease::v1 as wire;
use akash_proto::akash::provider::v1::BidScreeningRequest;
use akash_types::{CpuArch, GpuInterface, GpuVendor};
use futures_util::StreamExt;
use provider_engine::cluster::view::{Amounts, CardState, GpuCard, NodeArch};
use provider_engine::engine::{
    InventoryStatus, IpStatus, NodeStatus, Reserved, StorageStatus, VolumeCounts,
};
use provider_gateway::Settings;
use provider_gateway::port::Busy;
use provider_sim::core::Disturbance;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::common::{OTHER, World, case, lease, raw::ask};

async fn channel(world: &World) -> Channel {
    let endpoint = Endpoint::from_shared(format!("http://{}", world.rpc_address)).unwrap();
    endpoint.connect().await.unwrap()
}

fn by<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    let bearer = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", bearer);
    request
}

fn inventory() -> InventoryStatus {
    let all =
        Amounts { cpu_milli: 31_850, memory: 134_000_000_000, ephemeral: 900_000_000_000, gpu: 2 };
    let left =
        Amounts { cpu_milli: 29_850, memory: 131_852_516_352, ephemeral: 898_926_258_176, gpu: 1 };
    let card = GpuCard {
        vendor: GpuVendor::Nvidia,
        model: "a100".into(),
        memory_gib: Some(80),
        interface: Some(GpuInterface::Pcie),
        state: CardState::Usable,
    };
    InventoryStatus {
        nodes: vec![NodeStatus {
            name: "node1".into(),
            allocatable: all,
            available: left,
            cards: vec![card],
            storage_classes: vec!["beta3".into()],
            arch: NodeArch::Known(CpuArch::Arm64),
            volumes: VolumeCounts { attached: 3, mounted: 2 },
            ..NodeStatus::default()
        }],
        storage: vec![StorageStatus {
            class: "beta3".into(),
            allocatable: 1_099_511_627_776,
            available: 1_088_774_209_536,
            ..StorageStatus::default()
        }],
        unsold_storage: Vec::new(),
        ips: IpStatus { total: 5, used: 1 },
        ports: None,
        reserved: [1, 2]
            .map(|dseq| Reserved {
                order: lease(dseq).order_id(),
                active: true,
                amounts: Amounts { cpu_milli: 750, memory: 1 << 30, ephemeral: 0, gpu: 0 },
                storage: [("beta3".into(), 5_368_709_120)].into(),
                ports: 0,
                ips: 0,
            })
            .into(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_status_has_the_quantities_of_the_contract() {
    let world = World::start().await;
    world.provider.publish(|published| published.inventory = Some(inventory()));
    world.provider.identify(|identity| {
        identity.reclamation_window = Some(Duration::from_secs(86_400));
    });
    let mut client = ProviderRpcClient::new(channel(&world).await);
    let status = client.get_status(()).await.unwrap().into_inner();
    assert_eq!(status.public_hostnames, ["localhost"]);
    assert_eq!(status.reclamation_window.unwrap().seconds, 86_400);
    assert!(status.timestamp.is_some());
    let inventory = status.cluster.unwrap().inventory.unwrap();
    let cluster = inventory.cluster.unwrap();
    let node = &cluster.nodes[0];
    let resources = node.resources.clone().unwrap();
    let said = |pair: Option<akash_proto::akash::inventory::v1::ResourcePair>| {
        let pair = pair.unwrap();
        [pair.allocatable, pair.allocated, pair.capacity]
            .map(|quantity| quantity.unwrap().string.unwrap())
    };
    let cpu = resources.cpu.unwrap();
    assert_eq!(cpu.info.iter().map(|info| info.arch.as_str()).collect::<Vec<_>>(), ["arm64"]);
    assert_eq!(said(cpu.quantity), ["31850m", "2", "31850m"]);
    assert_eq!(said(resources.memory.unwrap().quantity), ["134G", "2147483648", "134G"]);
    assert_eq!(said(resources.ephemeral_storage), ["900G", "1073741824", "900G"]);
    assert_eq!(said(resources.volumes_attached), ["0", "3", "0"]);
    assert_eq!(said(resources.volumes_mounted), ["0", "2", "0"]);
    assert_eq!(said(inventory.leased_ip), ["5", "1", "5"]);
    assert_eq!(
        said(cluster.storage[0].quantity.clone()),
        ["1099511627776", "10737418240", "1099511627776"]
    );
    let gpu = resources.gpu.unwrap();
    assert_eq!(gpu.info[0].name, "a100");
    assert_eq!((&gpu.info[0].vendor_id[..], &gpu.info[0].memory_size[..]), ("10de", "80Gi"));
    assert_eq!(node.capabilities.clone().unwrap().storage_classes, ["beta3"]);
    let active = inventory.reservations.unwrap().active.unwrap();
    let kept = active.resources.unwrap();
    assert_eq!((active.count, kept.cpu.unwrap().string.unwrap().as_str()), (2, "1500m"));
    assert_eq!(kept.storage["beta3"].string.as_deref(), Some("10737418240"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_inventory_there_is_no_status_yet() {
    let world = World::start().await;
    world.provider.publish(|published| published.inventory = None);
    let mut client = ProviderRpcClient::new(channel(&world).await);
    let refused = client.get_status(()).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unknown);
    assert_eq!(refused.message(), "inventory status not available yet");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_statuses_begins_at_once_and_follows_changes() {
    let world = World::start().await;
    let mut client = ProviderRpcClient::new(channel(&world).await);
    let mut stream = client.stream_status(()).await.unwrap().into_inner();
    let leases = |status: &akash_proto::akash::provider::v1::Status| {
        status.cluster.as_ref().unwrap().leases.as_ref().unwrap().active
    };
    assert_eq!(leases(&stream.next().await.unwrap().unwrap()), 0);
    let (manifest, sdl) = case("01-basic");
    world.provider.lease(lease(9001), &manifest, sdl.groups());
    let next = tokio::time::timeout(Duration::from_secs(5), stream.next()).await;
    assert_eq!(leases(&next.unwrap().unwrap().unwrap()), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_token_is_unauthenticated_and_harms_nobody() {
    let world = World::start().await;
    let mut client = ProviderRpcClient::new(channel(&world).await);
    for token in ["garbage", "expired"] {
        let refused = client.get_status(by(token, ())).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unauthenticated, "{refused:?}");
        assert!(refused.metadata().contains_key("akash-error-code"));
    }
    assert!(client.get_status(by("full", ())).await.is_ok());
    assert!(client.get_status(()).await.is_ok());
}

/// What the gateway adds: the question reaches the provider whole, its answer the client. Whether a
/// hostname can be had is the engine's to say; `e2e` asks a whole provider.
#[tokio::test(flavor = "multi_thread")]
async fn questions_about_groups_and_hostnames_reach_the_provider_whole() {
    let world = World::start().await;
    let mut client = ProviderRpcClient::new(channel(&world).await);
    let (_, sdl) = case("01-basic");
    let spec = sdl.groups()[0].clone();
    let asked = BidScreeningRequest { group_spec: Some(spec.clone().into()), hostnames: vec![] };
    let answer = client.bid_screening(asked.clone()).await.unwrap().into_inner();
    assert!(answer.passed);
    assert_eq!(answer.resource_offers.len(), 1);
    assert!(answer.price.is_some());
    let hostnames = vec!["free.example.com".to_owned(), "taken.example.com".to_owned()];
    let asked = BidScreeningRequest { hostnames: hostnames.clone(), ..asked };
    let answer = client.validate_group_spec(asked).await.unwrap().into_inner();
    assert_eq!((answer.passed, answer.reasons), (false, vec!["host in use".to_owned()]));
    let [first, second] = <[_; 2]>::try_from(world.provider.screened()).unwrap();
    assert_eq!((first.group, first.hostnames), (spec.clone(), vec![]));
    assert_eq!((second.group, second.hostnames), (spec, hostnames));
    let missing = client.bid_screening(BidScreeningRequest::default()).await.unwrap_err();
    assert_eq!(missing.code(), Code::InvalidArgument);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_runs_its_lease() {
    let world = World::start().await;
    let (manifest, sdl) = case("02-two-services");
    world.provider.lease(lease(9002), &manifest, sdl.groups());
    let mut client = LeaseRpcClient::new(channel(&world).await);
    let id = Some(lease(9002).into());
    let send =
        wire::SendManifestRequest { lease_id: id.clone(), manifest: manifest.clone().into_proto() };
    let nobody = client.send_manifest(send.clone()).await.unwrap_err();
    assert_eq!(nobody.code(), Code::Unauthenticated);
    client.send_manifest(by("full", send.clone())).await.unwrap();
    world.settled(9002).await;

    let services = vec!["web".to_owned()];
    let ask = wire::ServiceStatusRequest { lease_id: id.clone(), services };
    let status = client.service_status(by("full", ask.clone())).await.unwrap().into_inner();
    assert_eq!(status.services.len(), 1);
    assert_eq!(status.services[0].status.as_ref().unwrap().ready_replicas, 2);
    let mut stream = client.stream_service_status(by("full", ask)).await.unwrap().into_inner();
    assert_eq!(stream.next().await.unwrap().unwrap(), status);

    let ask = wire::ServiceLogsRequest { lease_id: id.clone(), services: vec![] };
    let logs = client.service_logs(by("full", ask.clone())).await.unwrap().into_inner();
    let names: Vec<_> = logs.services.iter().map(|service| service.name.as_str()).collect();
    assert_eq!(names, ["db", "web"]);
    assert!(logs.services.iter().all(|service| service.logs.ends_with(b"\n")));
    let limited = client.service_logs(by("granular-svc", ask.clone())).await.unwrap();
    assert_eq!(limited.into_inner().services.len(), 1);

    let mut stream = client.stream_service_logs(by("full", ask)).await.unwrap().into_inner();
    assert!(!stream.next().await.unwrap().unwrap().services[0].logs.is_empty());
    world.provider.close(lease(9002));
    let end = loop {
        if let Err(end) = stream.next().await.unwrap() {
            break end;
        }
    };
    assert_eq!(end.metadata().get("akash-error-code").unwrap(), "lease-closed");

    let mut wrong = send;
    wrong.manifest[0].services[0].image = "nginx".to_owned();
    let refused = client.send_manifest(by("full", wrong)).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert_eq!(refused.message(), "manifest version validation failed");
    assert_eq!(refused.metadata().get("akash-error-code").unwrap(), "manifest-hash");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_of_the_engine_has_a_status_for_each_reason() {
    let world = World::start().await;
    let (manifest, sdl) = case("02-two-services");
    world.provider.lease(lease(9002), &manifest, sdl.groups());
    let mut client = LeaseRpcClient::new(channel(&world).await);
    let id = Some(lease(9002).into());
    let send = wire::SendManifestRequest { lease_id: id, manifest: manifest.into_proto() };
    for (busy, code, said) in [
        (Busy::TimedOut, Code::DeadlineExceeded, "timed-out"),
        (Busy::Stopping, Code::Unavailable, "not-ready"),
        (Busy::Full, Code::Unavailable, "busy"),
    ] {
        world.provider.be_busy(busy);
        let refused = client.send_manifest(by("full", send.clone())).await.unwrap_err();
        assert_eq!(refused.code(), code, "{refused:?}");
        assert_eq!(refused.message(), busy.to_string());
        assert_eq!(refused.metadata().get("akash-error-code").unwrap(), said);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attestation_quote_is_unimplemented_with_a_code_of_its_own() {
    let world = World::start().await;
    let mut client = LeaseRpcClient::new(channel(&world).await);
    let request = wire::AttestationQuoteRequest::default();
    let refused = client.attestation_quote(by("full", request)).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented);
    assert_eq!(refused.message(), "this provider gives no proof of its hardware");
    assert_eq!(refused.metadata().get("akash-error-code").unwrap(), "no-attestation");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_is_followed_is_told_at_once_when_it_changes() {
    let world = World::start().await;
    world.run_case("02-two-services", 9002).await;
    let mut client = LeaseRpcClient::new(channel(&world).await);
    let services = vec!["web".to_owned()];
    let ask = wire::ServiceStatusRequest { lease_id: Some(lease(9002).into()), services };
    let mut stream = client.stream_service_status(by("full", ask)).await.unwrap().into_inner();
    let ready = |status: wire::ServiceStatusResponse| {
        status.services[0].status.as_ref().unwrap().ready_replicas
    };
    assert_eq!(ready(stream.next().await.unwrap().unwrap()), 2);
    // Long enough that it is looked at seldom, unless something hints at a change.
    tokio::time::sleep(Duration::from_secs(4)).await;
    world.cluster.disturb(Disturbance::KillContainers { per_mille: 1000 }).await.unwrap();
    let killed = Instant::now();
    let mut changed = stream.next().await.unwrap().unwrap();
    assert!(killed.elapsed() < Duration::from_secs(1), "told after {:?}", killed.elapsed());
    while ready(changed) < 2 {
        changed = stream.next().await.unwrap().unwrap();
    }
    world.provider.close(lease(9002));
    let end = stream.next().await.unwrap().unwrap_err();
    assert_eq!(end.metadata().get("akash-error-code").unwrap(), "lease-closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_bounded_in_number_here_too() {
    let world = World::with(Settings { streams: 1, ..Settings::default() }).await;
    world.run_case("01-basic", 9001).await;
    let mut client = LeaseRpcClient::new(channel(&world).await);
    let ask = || {
        let lease_id = Some(lease(9001).into());
        by("full", wire::ServiceLogsRequest { lease_id, services: vec![] })
    };
    let first = client.stream_service_logs(ask()).await.unwrap();
    let second = client.stream_service_logs(ask()).await.unwrap_err();
    assert_eq!(second.code(), Code::Unavailable);
    drop(first);
    let freed = async {
        while client.stream_service_logs(ask()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), freed).await.expect("its place comes back");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_tenants_lease_looks_like_none() {
    let world = World::start().await;
    world.run_case("01-basic", 9001).await;
    let mut client = LeaseRpcClient::new(channel(&world).await);
    let ask = |owner: &str| {
        let mut id: akash_proto::akash::market::v1::LeaseId = lease(9001).into();
        if !owner.is_empty() {
            id.owner = owner.to_owned();
        }
        wire::ServiceStatusRequest { lease_id: Some(id), services: vec![] }
    };
    for (token, owner) in [("other", ""), ("other", OTHER), ("full", OTHER)] {
        let refused = client.service_status(by(token, ask(owner))).await.unwrap_err();
        assert_eq!(refused.code(), Code::NotFound, "{token} {owner}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_the_readiness_of_the_provider() {
    let world = World::start().await;
    let mut client = HealthClient::new(channel(&world).await);
    let check = HealthCheckRequest { service: String::new() };
    let mut watch = client.watch(check.clone()).await.unwrap().into_inner();
    assert_eq!(watch.next().await.unwrap().unwrap().status, 1);
    world.provider.misses("chain");
    assert_eq!(watch.next().await.unwrap().unwrap().status, 2);
    assert_eq!(client.check(check).await.unwrap().into_inner().status, 2);
    let unknown = HealthCheckRequest { service: "nope".to_owned() };
    assert_eq!(client.check(unknown).await.unwrap_err().code(), Code::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn must_match_reflection_v1_lists_provider_rpc_and_all_that_is_served() {
    let world = World::start().await;
    let mut client = ServerReflectionClient::new(channel(&world).await);
    let list = Some(MessageRequest::ListServices(String::new()));
    let request = ServerReflectionRequest { host: String::new(), message_request: list };
    let mut answers =
        client.server_reflection_info(tokio_stream::once(request)).await.unwrap().into_inner();
    let answer = answers.next().await.unwrap().unwrap().message_response.unwrap();
    let MessageResponse::ListServicesResponse(list) = answer else { panic!("{answer:?}") };
    let mut names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
    names.sort();
    assert_eq!(
        names,
        [
            "akash.provider.lease.v1.LeaseRPC",
            "akash.provider.v1.ProviderRPC",
            "grpc.health.v1.Health",
            "grpc.reflection.v1.ServerReflection",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn must_match_what_is_not_grpc_is_answered_as_application_grpc() {
    let world = World::start().await;
    for (method, status) in [("GET", 405), ("POST", 415)] {
        let answer = ask(world.rpc_address, method, "/", &[], "").await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("content-type"), Some("application/grpc"));
    }
    let headers = [("content-type", "application/grpc"), ("te", "trailers")];
    let unknown = ask(world.rpc_address, "POST", "/no.such.Service/Method", &headers, "").await;
    assert_eq!(unknown.header("grpc-status"), Some("12"));
}
