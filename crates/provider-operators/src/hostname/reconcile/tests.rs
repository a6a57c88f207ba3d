use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::LeaseId;
use akash_types::hostname::BlockedHostnames;
use k8s_openapi::jiff::Timestamp;
use kube_access::follow::CachedObject;
use kube_access::{Failure, ResourceKind};
use proptest::prelude::*;
use provider_crd::{labels, names};
use serde_json::{Value, json};

use super::*;
use crate::hostname::settings::{INGRESS_CLASS, Routes, Settings};

const OWNERS: [&str; 2] = [
    "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27",
    "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r",
];
const PROVIDER: &str = "akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx";

fn lease(owner: usize, dseq: u64) -> LeaseId {
    format!("{}/{dseq}/1/1/{PROVIDER}", OWNERS[owner]).parse().unwrap()
}

fn at(seconds: u64) -> Moment {
    Moment { since_start: Duration::from_secs(seconds), time: Timestamp::UNIX_EPOCH }
}

fn shown(object: Value) -> CachedObject {
    CachedObject::new(object).unwrap()
}

fn host(name: &str, hostname: &str, lease: &LeaseId, version: u64) -> CachedObject {
    shown(json!({
        "metadata": {"name": name, "namespace": "lease", "resourceVersion": version.to_string()},
        "spec": {
            "owner": lease.owner().to_string(), "provider": lease.provider().to_string(),
            "hostname": hostname, "dseq": lease.dseq(), "gseq": 1, "oseq": 1,
            "service_name": "web", "external_port": 80,
        },
    }))
}

fn manifest(lease: &LeaseId, hosts: &[&str], body: u32) -> CachedObject {
    shown(json!({
        "metadata": {"name": names::lease_namespace(lease), "namespace": "lease"},
        "spec": {
            "lease_id": {"owner": lease.owner().to_string(), "dseq": lease.dseq().to_string(),
                "gseq": 1, "oseq": 1, "provider": lease.provider().to_string()},
            "group": {"services": [{"name": "web", "count": 1, "expose": [
                {"port": 8080, "external_port": 80, "global": true, "hosts": hosts,
                    "http_options": {"max_body_size": body}},
            ]}]},
        },
    }))
}

fn gateway() -> Settings {
    let name = || "akash-gateway".to_owned();
    let routes = Routes::Gateway { name: name(), namespace: name(), buffer_size: String::new() };
    Settings { routes, ..Settings::default() }
}

/// A class of gateways, and the gateway that names it.
fn gateway_class(name: &str, controller: &str) -> CachedObject {
    shown(json!({"metadata": {"name": name}, "spec": {"controllerName": controller}}))
}

fn gateway_of(class: &str) -> CachedObject {
    let metadata = json!({"name": "akash-gateway", "namespace": "akash-gateway"});
    shown(json!({"metadata": metadata, "spec": {"gatewayClassName": class}}))
}

/// Neither is there.
fn no_gateway(index: &mut HostIndex) {
    index.synced(ResourceKind::GATEWAY_CLASS, vec![]);
    index.synced(ResourceKind::GATEWAY, vec![]);
}

/// A board that sees a gateway of this controller.
fn served_by(controller: &str) -> HostIndex {
    let mut index = HostIndex::new(gateway());
    index.synced(ResourceKind::GATEWAY, vec![gateway_of("class")]);
    index.synced(ResourceKind::GATEWAY_CLASS, vec![gateway_class("class", controller)]);
    index
}

/// An API server that does what it is told, and says it to the board.
struct World {
    index: HostIndex,
    objects: BTreeMap<(ResourceKind, String, String), Value>,
    version: u64,
    writes: usize,
}

impl World {
    fn new(settings: Settings) -> Self {
        let mut index = HostIndex::new(settings);
        for kind in [
            ResourceKind::HOST,
            ResourceKind::MANIFEST,
            ResourceKind::INGRESS,
            ResourceKind::HTTP_ROUTE,
        ] {
            index.synced(kind, Vec::new());
        }
        no_gateway(&mut index);
        Self { index, objects: BTreeMap::new(), version: 100, writes: 0 }
    }

    /// The same cluster, seen by an operator that was just started.
    fn restarted(
        &self,
        settings: Settings,
        hosts: &[CachedObject],
        manifests: &[CachedObject],
    ) -> Self {
        let mut index = HostIndex::new(settings);
        no_gateway(&mut index);
        index.synced(ResourceKind::HOST, hosts.to_vec());
        for kind in [ResourceKind::INGRESS, ResourceKind::HTTP_ROUTE] {
            let of_kind = self.objects.iter().filter(|((it, ..), _)| *it == kind);
            index.synced(kind, of_kind.map(|(_, object)| shown(object.clone())).collect());
        }
        index.synced(ResourceKind::MANIFEST, manifests.to_vec());
        Self { index, objects: self.objects.clone(), version: self.version, writes: 0 }
    }

    fn put(&mut self, job: &Job) -> Option<CachedObject> {
        self.writes += 1;
        self.version += 1;
        match &job.write {
            Write::Create { kind, namespace, object }
            | Write::Replace { kind, namespace, object, .. } => {
                let mut object = object.clone();
                object["metadata"]["resourceVersion"] = self.version.to_string().into();
                object["metadata"]["uid"] = "u".into();
                let name = object["metadata"]["name"].as_str().unwrap().to_owned();
                let key = (*kind, namespace.clone(), name);
                let before = self.objects.insert(key, object.clone());
                let is_create = matches!(job.write, Write::Create { .. });
                assert_eq!(before.is_none(), is_create, "{:?}", job.write);
                Some(shown(object))
            }
            Write::Delete { kind, namespace, name, .. } => {
                self.objects.remove(&(*kind, namespace.clone(), name.clone())).unwrap();
                None
            }
        }
    }

    /// Everything that there is to do now.
    fn settle(&mut self, now: u64) {
        while let Some(job) = self.index.next(at(now)) {
            let answer = self.put(&job);
            self.index.done(&job, Ok(answer), at(now));
            if let Write::Delete { kind, namespace, name, .. } = &job.write {
                let object = json!({"metadata": {"name": name, "namespace": namespace,
                    "resourceVersion": self.version.to_string()}});
                self.index.deleted(*kind, &shown(object));
            }
        }
    }

    fn routes(&self) -> Vec<(&'static str, String, String)> {
        let route = |(kind, namespace, name): &(ResourceKind, String, String)| {
            (kind.name, namespace.clone(), name.clone())
        };
        self.objects.keys().map(route).collect()
    }
}

fn route_at(lease: &LeaseId, host: &str) -> (&'static str, String, String) {
    ("Ingress", names::lease_namespace(lease), host.to_owned())
}

#[test]
fn a_host_gets_its_route_and_loses_it_with_its_claim() {
    let (mut world, mine) = (World::new(Settings::default()), lease(0, 1));
    world.index.applied(ResourceKind::HOST, host("a.example", "a.example", &mine, 1));
    world.settle(0);
    assert_eq!(world.index.decide("a.example"), Decision::Waits(Waits::Manifest));
    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 5));
    world.settle(0);
    assert_eq!(world.routes(), [route_at(&mine, "a.example")]);
    assert!(world.index.is_quiet());
    assert_eq!(world.index.served().count(), 1);

    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 6));
    world.settle(0);
    assert_eq!((world.routes().len(), world.writes), (1, 2));

    world.index.deleted(ResourceKind::HOST, &host("a.example", "a.example", &mine, 1));
    world.settle(0);
    assert_eq!((world.routes().len(), world.writes), (0, 3));
    assert_eq!(world.index.served().count(), 0);
}

#[test]
fn a_claim_that_is_declared_anew_changes_nothing() {
    let (mut world, mine) = (World::new(Settings::default()), lease(0, 1));
    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 5));
    for version in 1..5 {
        world.index.applied(ResourceKind::HOST, host("a.example", "a.example", &mine, version));
        world.settle(0);
    }
    assert_eq!(world.writes, 1);
}

#[test]
fn a_host_moves_to_another_lease_of_its_tenant_old_route_first() {
    let (mut world, old, new) = (World::new(Settings::default()), lease(0, 1), lease(0, 2));
    for lease in [&old, &new] {
        world.index.applied(ResourceKind::MANIFEST, manifest(lease, &["a.example"], 5));
    }
    world.index.applied(ResourceKind::HOST, host("a.example", "a.example", &old, 1));
    world.settle(0);
    world.index.applied(ResourceKind::HOST, host("a.example", "a.example", &new, 2));
    assert!(matches!(world.index.decide("a.example"), Decision::Write(Write::Delete { .. })));
    world.settle(0);
    assert_eq!(world.routes(), [route_at(&new, "a.example")]);
}

#[test]
fn another_tenants_host_is_kept_for_as_long_as_they_ask_for_it() {
    let (mut world, theirs, mine) = (World::new(Settings::default()), lease(0, 1), lease(1, 2));
    for lease in [&theirs, &mine] {
        world.index.applied(ResourceKind::MANIFEST, manifest(lease, &["a.example"], 5));
    }
    world.index.applied(ResourceKind::HOST, host("a.example", "a.example", &theirs, 1));
    world.settle(0);
    // Another object for the same hostname, and then the same object for another lease.
    world.index.applied(ResourceKind::HOST, host("mine", "a.example", &mine, 2));
    world.settle(0);
    assert_eq!(world.routes(), [route_at(&theirs, "a.example")]);
    let told = world.index.notices();
    assert_eq!((told.len(), told[0].claim.lease, told[0].state), (1, mine, State::Conflicting));
    assert!(world.index.lost(&told[0].claim).is_some());
    world.index.deleted(ResourceKind::HOST, &host("mine", "a.example", &mine, 2));
    world.index.applied(ResourceKind::HOST, host("a.example", "a.example", &mine, 3));
    world.settle(0);
    assert_eq!(world.routes(), [route_at(&theirs, "a.example")]);
    let refused = world.index.decide("a.example");
    let Decision::Refused(why @ Refusal::Held { .. }) = refused else { panic!("{refused:?}") };
    assert!(why.to_string().contains(&theirs.to_string()), "{why}");

    world.index.applied(ResourceKind::MANIFEST, manifest(&theirs, &[], 5));
    world.settle(0);
    assert_eq!(world.routes(), [route_at(&mine, "a.example")]);
}

#[test]
fn a_host_that_is_refused_waits_alone_and_longer_each_time() {
    let (mut world, mine) = (World::new(Settings::default()), lease(0, 1));
    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 5));
    for name in ["a.example", "b.example", "c.example"] {
        world.index.applied(ResourceKind::HOST, host(name, name, &mine, 1));
    }
    let refuse = |world: &mut World, now| {
        let job = world.index.next(at(now)).unwrap();
        assert_eq!(job.host, "a.example");
        world.index.done(&job, Err(Failure::Refused("no".to_owned())), at(now));
    };
    refuse(&mut world, 0);
    world.settle(0);
    assert_eq!(world.routes().len(), 2);
    assert_eq!(world.index.due(), Some(Duration::from_secs(3)));
    assert_eq!(world.index.next(at(2)), None);
    refuse(&mut world, 3);
    assert_eq!(world.index.due(), Some(Duration::from_secs(9)));
    let (_, retry) = world.index.retries().next().unwrap();
    assert_eq!((retry.failures, retry.why.as_str()), (2, "no"));
    // What is wanted changed: it is tried at once.
    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 6));
    refuse(&mut world, 4);
    world.settle(100);
    assert_eq!(world.routes().len(), 3);
    assert!(world.index.is_quiet());
}

#[test]
fn names_that_are_not_served_get_no_route_and_hold_up_nobody() {
    let blocked = BlockedHostnames::new([".evil.example"]);
    let mut world = World::new(Settings { blocked, ..Settings::default() });
    let mine = lease(0, 1);
    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 5));
    let long = format!("{}.example", "a".repeat(64));
    let bad = ["x.evil.example", "a..example", "bücher.example", "a.*.example", &long];
    for (index, name) in bad.iter().enumerate() {
        world.index.applied(ResourceKind::HOST, host(&format!("bad-{index}"), name, &mine, 1));
    }
    let mut unreadable = host("nobody", "nobody.example", &mine, 1).json(ResourceKind::HOST);
    unreadable["spec"]["owner"] = "nobody".into();
    world.index.applied(ResourceKind::HOST, shown(unreadable));
    world.index.applied(ResourceKind::HOST, host("z.example", "z.example", &mine, 1));
    world.settle(0);
    assert_eq!(world.routes(), [route_at(&mine, "z.example")]);
    for name in bad.iter().chain(&["nobody"]) {
        assert!(matches!(world.index.decide(name), Decision::Refused(_)), "{name}");
    }
}

#[test]
fn nobodys_routes_go_only_where_custom_resources_are_seen() {
    let (mut world, gone) = (World::new(Settings::default()), lease(0, 1));
    let (hosts, manifests) =
        ([host("a.example", "a.example", &gone, 1)], [manifest(&gone, &[], 5)]);
    world.index.applied(ResourceKind::HOST, hosts[0].clone());
    world.index.applied(ResourceKind::MANIFEST, manifests[0].clone());
    world.settle(0);

    // As if k8s-manifest-ns named another namespace.
    let mut lost = world.restarted(Settings::default(), &[], &[]);
    lost.settle(0);
    assert!(matches!(lost.index.decide("a.example"), Decision::Waits(Waits::Evidence { .. })));
    assert_eq!(lost.writes, 0);
    lost.index.applied(ResourceKind::MANIFEST, manifest(&lease(0, 2), &[], 5));
    lost.settle(0);
    assert!(lost.routes().is_empty());

    let mut same = world.restarted(Settings::default(), &hosts, &manifests);
    same.settle(0);
    assert_eq!((same.writes, same.index.is_quiet()), (0, true));
}

#[test]
fn routes_of_others_are_left_alone() {
    let mut world = World::new(Settings::default());
    world.index.applied(ResourceKind::MANIFEST, manifest(&lease(0, 1), &[], 5));
    let labels = labels::managed_for(&lease(0, 2));
    for object in [
        json!({"metadata": {"name": "x", "namespace": "shop", "labels": {"akash.network": "true"}}}),
        json!({"metadata": {"name": "y", "namespace": "shop", "labels": labels}}),
    ] {
        world.index.applied(ResourceKind::INGRESS, shown(object));
    }
    world.settle(0);
    assert_eq!(world.writes, 0);
}

#[test]
fn a_changed_mode_makes_the_new_route_before_the_old_one_goes() {
    let (mut world, mine) = (World::new(Settings::default()), lease(0, 1));
    let (hosts, manifests) =
        ([host("a.example", "a.example", &mine, 1)], [manifest(&mine, &[], 5)]);
    world.index.applied(ResourceKind::HOST, hosts[0].clone());
    world.index.applied(ResourceKind::MANIFEST, manifests[0].clone());
    world.settle(0);
    for (settings, kind) in [(gateway(), "HTTPRoute"), (Settings::default(), "Ingress")] {
        world = world.restarted(settings, &hosts, &manifests);
        let first = world.index.decide("a.example");
        assert!(matches!(first, Decision::Write(Write::Create { .. })), "{first:?}");
        world.settle(0);
        assert_eq!((world.routes().len(), world.routes()[0].0, world.writes), (1, kind, 2));
    }
}

#[test]
fn a_foreign_annotation_survives_and_another_class_is_written_once() {
    let (mut world, mine) = (World::new(Settings::default()), lease(0, 1));
    let (hosts, manifests) =
        ([host("a.example", "a.example", &mine, 1)], [manifest(&mine, &[], 5)]);
    world.index.applied(ResourceKind::HOST, hosts[0].clone());
    world.index.applied(ResourceKind::MANIFEST, manifests[0].clone());
    world.settle(0);
    let object = world.objects.values_mut().next().unwrap();
    object["metadata"]["annotations"]["cert-manager.io/cluster-issuer"] = "le".into();
    let routes = Routes::Ingress { class: "traefik".to_owned() };
    let mut world = world.restarted(Settings { routes, ..Settings::default() }, &hosts, &manifests);
    world.settle(0);
    assert_eq!(world.writes, 1);
    let object = world.objects.values().next().unwrap();
    assert_eq!(object["spec"]["ingressClassName"], "traefik");
    assert_eq!(object["metadata"]["annotations"]["cert-manager.io/cluster-issuer"], "le");
    assert_ne!(INGRESS_CLASS, "traefik");
}

#[test]
fn two_operators_that_differ_do_not_write_for_ever() {
    let (mut world, mine) = (World::new(Settings::default()), lease(0, 1));
    world.index.applied(ResourceKind::HOST, host("a.example", "a.example", &mine, 1));
    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 5));
    for now in 0..600 {
        world.settle(now);
        // Somebody else wants another class.
        world.version += 1;
        let object = world.objects.values_mut().next().unwrap();
        object["spec"]["ingressClassName"] = "theirs".into();
        object["metadata"]["resourceVersion"] = world.version.to_string().into();
        world.index.applied(ResourceKind::INGRESS, shown(object.clone()));
    }
    assert!(world.writes < 15, "{} writes", world.writes);
    let (_, retry) = world.index.retries().next().unwrap();
    assert!(retry.why.contains("only one hostname operator"), "{}", retry.why);
    // What is wanted changed: that is no quarrel.
    let before = world.writes;
    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 6));
    world.settle(600);
    assert_eq!(world.writes, before + 1);
}

#[test]
fn a_host_that_cannot_be_read_keeps_its_route() {
    let (mut world, mine) = (World::new(Settings::default()), lease(0, 1));
    world.index.applied(ResourceKind::HOST, host("a.example", "a.example", &mine, 1));
    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 5));
    world.settle(0);
    for (key, value) in [("owner", json!("nobody")), ("dseq", json!("many"))] {
        let mut object = host("a.example", "a.example", &mine, 2).json(ResourceKind::HOST);
        object["spec"][key] = value;
        world.index.applied(ResourceKind::HOST, shown(object));
        world.settle(0);
        assert!(matches!(world.index.decide("a.example"), Decision::Refused(_)), "{key}");
        assert_eq!(world.routes().len(), 1, "{key}");
    }
}

#[test]
fn a_pattern_gets_a_route_of_a_name_that_kubernetes_takes() {
    for settings in [Settings::default(), gateway()] {
        let kind = settings.routes.kind();
        let (mut world, mine) = (World::new(settings.clone()), lease(0, 1));
        let (hosts, manifests) =
            ([host("anything", "*.shop.example", &mine, 1)], [manifest(&mine, &[], 5)]);
        world.index.applied(ResourceKind::HOST, hosts[0].clone());
        world.index.applied(ResourceKind::MANIFEST, manifests[0].clone());
        world.settle(0);
        let (_, _, name) = &world.routes()[0];
        assert_eq!(name, "xx--wildcard.shop.example");
        let object = world.objects.values().next().unwrap();
        let said = match kind {
            ResourceKind::INGRESS => &object["spec"]["rules"][0]["host"],
            _ => &object["spec"]["hostnames"][0],
        };
        assert_eq!(said, "*.shop.example");
        let mut again = world.restarted(settings, &hosts, &manifests);
        again.settle(0);
        assert_eq!((again.writes, again.index.is_quiet()), (0, true));
        again.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 6));
        again.settle(0);
        again.index.deleted(ResourceKind::HOST, &hosts[0]);
        again.settle(0);
        assert_eq!((again.writes, again.routes().len()), (2, 0));
    }
}

#[test]
fn names_of_a_given_domain_are_kept_from_other_tenants_who_come_later() {
    let (mut world, theirs, mine) = (World::new(Settings::default()), lease(0, 1), lease(1, 2));
    for lease in [&theirs, &mine, &lease(0, 3)] {
        world.index.applied(ResourceKind::MANIFEST, manifest(lease, &[], 5));
    }
    let at = |second: u32, shown: CachedObject| {
        let mut object = shown.json(ResourceKind::HOST);
        object["metadata"]["creationTimestamp"] = format!("2026-01-01T00:00:{second:02}Z").into();
        CachedObject::new(object).unwrap()
    };
    let first = host("first.shop.example", "first.shop.example", &mine, 1);
    let later = host("later.shop.example", "later.shop.example", &mine, 3);
    let own = host("own.shop.example", "own.shop.example", &lease(0, 3), 3);
    let given = at(2, host("given", "*.shop.example", &theirs, 2));
    for shown in [at(1, first), at(3, later), at(3, own), given.clone()] {
        world.index.applied(ResourceKind::HOST, shown);
    }
    world.settle(0);
    let state = |world: &World, host: &str| world.index.state(host);
    for host in ["first.shop.example", "own.shop.example", "*.shop.example"] {
        assert_eq!(state(&world, host), Some(State::Routed), "{host}");
    }
    assert_eq!(state(&world, "later.shop.example"), Some(State::Conflicting));
    let told = world.index.notices();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].state, told[0].claim.lease), (State::Conflicting, mine));
    world.index.deleted(ResourceKind::HOST, &given);
    world.settle(0);
    assert_eq!(state(&world, "later.shop.example"), Some(State::Routed));
}

#[test]
fn a_new_list_of_blocked_names_is_about_those_names_only() {
    let (mut world, mine) = (World::new(Settings::default()), lease(0, 1));
    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 5));
    world.index.applied(ResourceKind::HOST, host("a.example", "a.example", &mine, 1));
    world.settle(0);
    world.index.block(BlockedHostnames::new(["a.example", "b.example"]));
    assert_eq!(world.index.queue(), 1);
    world.index.applied(ResourceKind::HOST, host("b.example", "b.example", &mine, 1));
    world.settle(0);
    // A route that is there stays; a new one does not come.
    assert_eq!((world.routes().len(), world.writes), (1, 1));
    assert_eq!(world.index.states()[&State::Refused], 2);
    world.index.block(BlockedHostnames::default());
    world.settle(0);
    assert_eq!((world.routes().len(), world.writes), (2, 2));
    assert_eq!(world.index.states()[&State::Routed], 2);
}

#[test]
fn every_host_is_in_one_state_and_what_happens_is_counted() {
    let (mut world, mine) = (World::new(Settings::default()), lease(0, 1));
    let names = ["a.example", "b.example", "c..example", "d.example"];
    for name in names {
        let lease = if name == "d.example" { lease(0, 9) } else { mine };
        world.index.applied(ResourceKind::HOST, host(name, name, &lease, 1));
    }
    assert_eq!(world.index.states()[&State::Pending], 4);
    world.index.applied(ResourceKind::MANIFEST, manifest(&mine, &[], 5));
    let job = world.index.next(at(10)).unwrap();
    world.index.done(&job, Err(Failure::Refused("no".to_owned())), at(12));
    world.settle(12);
    let states = |world: &World| names.map(|name| world.index.state(name).unwrap());
    let expected = [State::Failing, State::Routed, State::Refused, State::Waiting];
    assert_eq!(states(&world), expected);
    assert_eq!(world.index.states().values().sum::<usize>(), 4);

    // Nobody answers, as far as that is known.
    world.index.backends.known(true);
    world.settle(20);
    let expected = [State::WithoutBackends, State::WithoutBackends, State::Refused, State::Waiting];
    assert_eq!(states(&world), expected);
    let counted = world.index.counted();
    let writes = [(("create", false), 1), (("create", true), 2)];
    assert_eq!(counted.writes, writes.into());
    assert_eq!(counted.failures, [("Refused", 1)].into());
    // Ten seconds and none.
    assert_eq!((counted.milliseconds, counted.durations.iter().sum::<u64>()), (10_000, 2));
    assert_eq!(world.index.state("nobody.example"), None);
    assert_eq!(world.index.notices().len(), 2);
}

#[derive(Clone, Debug)]
enum Event {
    Claim(usize, u64, usize),
    Unclaim(usize),
    Manifest(usize, u64, u32),
    Fails(bool),
    Restart,
}

fn event() -> impl Strategy<Value = Event> {
    let lease = || (0..2_usize, 1..4_u64);
    prop_oneof![
        (lease(), 0..4_usize).prop_map(|((owner, dseq), host)| Event::Claim(owner, dseq, host)),
        (0..4_usize).prop_map(Event::Unclaim),
        (lease(), 1..4_u32).prop_map(|((owner, dseq), body)| Event::Manifest(owner, dseq, body)),
        any::<bool>().prop_map(Event::Fails),
        Just(Event::Restart),
    ]
}

proptest! {
    /// Whatever happens in whatever order, and whatever fails: in the end every claimed host has
    /// one route, at who claims it, and nobody else has one.
    #[test]
    fn everything_converges(events in proptest::collection::vec(event(), 1..60)) {
        let name = |host: usize| format!("host-{host}.example");
        let mut world = World::new(Settings::default());
        let mut claims: BTreeMap<usize, (LeaseId, CachedObject)> = BTreeMap::new();
        let mut manifests: BTreeMap<LeaseId, CachedObject> = BTreeMap::new();
        let mut fails = false;
        for (turn, event) in (1..).zip(events) {
            match event {
                Event::Claim(owner, dseq, number) => {
                    let lease = lease(owner, dseq);
                    let shown = host(&name(number), &name(number), &lease, turn);
                    world.index.applied(ResourceKind::HOST, shown.clone());
                    claims.insert(number, (lease, shown));
                }
                Event::Unclaim(number) => {
                    if let Some((_, shown)) = claims.remove(&number) {
                        world.index.deleted(ResourceKind::HOST, &shown);
                    }
                }
                Event::Manifest(owner, dseq, body) => {
                    let lease = lease(owner, dseq);
                    let shown = manifest(&lease, &[], body);
                    world.index.applied(ResourceKind::MANIFEST, shown.clone());
                    manifests.insert(lease, shown);
                }
                Event::Fails(now) => fails = now,
                Event::Restart => {
                    let hosts: Vec<_> = claims.values().map(|(_, it)| it.clone()).collect();
                    let all: Vec<_> = manifests.values().cloned().collect();
                    world = world.restarted(Settings::default(), &hosts, &all);
                }
            }
            if fails {
                while let Some(job) = world.index.next(at(turn)) {
                    world.index.done(&job, Err(Failure::unavailable("x")), at(turn));
                }
            } else {
                world.settle(turn);
            }
        }
        for lease in claims.values().map(|(lease, _)| *lease).collect::<Vec<_>>() {
            world.index.applied(ResourceKind::MANIFEST, manifest(&lease, &[], 9));
        }
        // Somebody of this provider is there.
        world.index.applied(ResourceKind::MANIFEST, manifest(&lease(0, 99), &[], 9));
        world.settle(1_000_000);
        let mut wanted: Vec<_> =
            claims.iter().map(|(number, (lease, _))| route_at(lease, &name(*number))).collect();
        wanted.sort();
        prop_assert_eq!(world.routes(), wanted);
        prop_assert!(world.index.is_quiet());
        let before = world.writes;
        world.settle(2_000_000);
        prop_assert_eq!(world.writes, before);
    }
}

fn ngf() -> HostIndex {
    served_by("gateway.nginx.org/nginx-gateway-controller")
}

/// What an API server makes of a write: an object with a UID and a generation.
fn stored(object: &Value, uid: &str, version: u64, status: Option<Value>) -> CachedObject {
    let mut object = object.clone();
    object["metadata"]["uid"] = uid.into();
    object["metadata"]["resourceVersion"] = version.to_string().into();
    object["metadata"]["generation"] = 1.into();
    if let Some(status) = status {
        object["status"] = status;
    }
    shown(object)
}

fn accepted(generation: u64) -> Value {
    json!({"controllers": [{"controllerName": "gateway.nginx.org/nginx-gateway-controller",
        "conditions": [{"type": "Accepted", "status": "True", "observedGeneration": generation}]}]})
}

fn object_of(job: &Job) -> (ResourceKind, Value) {
    match &job.write {
        Write::Create { kind, object, .. } | Write::Replace { kind, object, .. } => {
            (*kind, object.clone())
        }
        Write::Delete { .. } => panic!("{job:?}"),
    }
}

#[test]
fn a_route_of_nginx_serves_once_its_filter_is_accepted() {
    let (lease, host_name) = (lease(0, 1), "a.example.com");
    let mut index = ngf();
    index.synced(ResourceKind::HOST, vec![host(host_name, host_name, &lease, 1)]);
    index.synced(ResourceKind::MANIFEST, vec![manifest(&lease, &[host_name], 5)]);
    index.synced(ResourceKind::HTTP_ROUTE, vec![]);
    assert_eq!(index.next(at(0)), None, "which filters there are is not known yet");
    index.synced(ResourceKind::SNIPPETS_FILTER, vec![]);

    let first = index.next(at(0)).unwrap();
    let (kind, route) = object_of(&first);
    assert_eq!((kind, &route["spec"]), (ResourceKind::HTTP_ROUTE, &json!({})));
    assert_eq!(route["metadata"].get("annotations"), None);
    index.done(&first, Ok(Some(stored(&route, "u1", 1, None))), at(0));

    let second = index.next(at(0)).unwrap();
    let (kind, filter) = object_of(&second);
    assert_eq!(kind, ResourceKind::SNIPPETS_FILTER);
    assert_eq!(filter["metadata"]["ownerReferences"][0]["uid"], "u1");
    assert_eq!(filter["metadata"]["name"], route["metadata"]["name"]);
    let value = filter["spec"]["snippets"][0]["value"].as_str().unwrap();
    assert!(value.starts_with("client_max_body_size 5;"), "{value}");
    index.done(&second, Ok(Some(stored(&filter, "f1", 2, None))), at(0));
    assert_eq!(index.next(at(0)), None);
    assert_eq!(index.due(), Some(Duration::from_secs(15)));

    // A filter that was accepted as it was before is not accepted as it is.
    index.applied(ResourceKind::SNIPPETS_FILTER, stored(&filter, "f1", 3, Some(accepted(0))));
    assert_eq!(index.next(at(1)), None);
    index.applied(ResourceKind::SNIPPETS_FILTER, stored(&filter, "f1", 4, Some(accepted(1))));
    let third = index.next(at(2)).unwrap();
    let (_, full) = object_of(&third);
    let reference = &full["spec"]["rules"][0]["filters"][0];
    assert_eq!(reference["extensionRef"]["name"], route["metadata"]["name"]);
    assert_eq!(full["spec"]["hostnames"], json!([host_name]));
    index.done(&third, Ok(Some(stored(&full, "u1", 5, None))), at(2));
    assert_eq!(index.next(at(2)), None);
    assert_eq!((index.state(host_name), index.condition(host_name)), (Some(State::Routed), None));
    assert_eq!(index.next(at(60)), None, "nothing is left of the wait");
}

#[test]
fn a_filter_that_is_never_accepted_costs_options_and_no_host() {
    let lease = lease(0, 1);
    let mut index = ngf();
    index.synced(ResourceKind::HOST, vec![host("a.example.com", "a.example.com", &lease, 1)]);
    index.synced(ResourceKind::MANIFEST, vec![manifest(&lease, &["a.example.com"], 5)]);
    index.synced(ResourceKind::HTTP_ROUTE, vec![]);
    index.synced(ResourceKind::SNIPPETS_FILTER, vec![]);
    let mut version = 0;
    let mut work = |index: &mut HostIndex, now: u64| {
        let mut written = Vec::new();
        while let Some(job) = index.next(at(now)) {
            version += 1;
            let (kind, object) = object_of(&job);
            let uid = object["metadata"]["uid"].as_str().unwrap_or(kind.name).to_owned();
            index.done(&job, Ok(Some(stored(&object, &uid, version, None))), at(now));
            written.push((kind, object));
        }
        written
    };
    assert_eq!(work(&mut index, 0).len(), 2);
    assert_eq!(work(&mut index, 14).len(), 0);
    let [(ResourceKind::HTTP_ROUTE, route)] = &work(&mut index, 15)[..] else { panic!() };
    assert_eq!(route["spec"]["hostnames"], json!(["a.example.com"]));
    assert_eq!(route["spec"]["rules"][0].get("filters"), None);
    let condition = index.condition("a.example.com").unwrap();
    assert_eq!((condition.name, &condition.options[0]), ("SnippetsNotAccepted", &"max_body_size"));
    assert_eq!(index.state("a.example.com"), Some(State::Routed));
    let notice = index.notices().remove(0);
    assert!(notice.why.starts_with("max_body_size, "), "{}", notice.why);

    // The next host does not wait for what does not come.
    index.applied(ResourceKind::HOST, host("b.example.com", "b.example.com", &lease, 2));
    let written = work(&mut index, 16);
    assert_eq!(written[0].1["spec"]["hostnames"], json!(["b.example.com"]));
    assert_eq!(written.len(), 2, "its route, and the filter that may be accepted one day");
    let filter = &written[1].1;
    index.applied(
        ResourceKind::SNIPPETS_FILTER,
        stored(filter, "SnippetsFilter", 99, Some(accepted(1))),
    );
    let [(ResourceKind::HTTP_ROUTE, route)] = &work(&mut index, 17)[..] else { panic!() };
    assert_eq!(route["spec"]["rules"][0]["filters"].as_array().unwrap().len(), 1);
    assert_eq!(index.condition("b.example.com"), None);
}

#[test]
fn without_filters_in_the_cluster_routes_are_plain_and_say_so() {
    let lease = lease(0, 1);
    let mut index = ngf();
    index.synced(ResourceKind::HOST, vec![host("a.example.com", "a.example.com", &lease, 1)]);
    index.synced(ResourceKind::MANIFEST, vec![manifest(&lease, &["a.example.com"], 5)]);
    index.synced(ResourceKind::HTTP_ROUTE, vec![]);
    index.has_no_filters();
    let job = index.next(at(0)).unwrap();
    let (_, route) = object_of(&job);
    assert_eq!(route["spec"]["hostnames"], json!(["a.example.com"]));
    index.done(&job, Ok(Some(stored(&route, "u", 1, None))), at(0));
    assert_eq!(index.next(at(0)), None);
    assert_eq!(index.condition("a.example.com").unwrap().name, "SnippetsUnavailable");
}

#[test]
fn another_gateway_is_told_times_and_the_rest_is_named() {
    let lease = lease(0, 1);
    let mut index = served_by("traefik.io/gateway-controller");
    index.synced(ResourceKind::HOST, vec![host("a.example.com", "a.example.com", &lease, 1)]);
    let mut wanted = manifest(&lease, &["a.example.com"], 5).json(ResourceKind::MANIFEST);
    wanted["spec"]["group"]["services"][0]["expose"][0]["http_options"] = json!({
        "max_body_size": 5, "read_timeout": 3_600_000, "send_timeout": 60_000, "next_tries": 3,
        "next_cases": ["error", "timeout"], "proxy": {"buffering_disable": true}});
    index.synced(ResourceKind::MANIFEST, vec![shown(wanted)]);
    index.synced(ResourceKind::HTTP_ROUTE, vec![]);
    let job = index.next(at(0)).unwrap();
    let (_, route) = object_of(&job);
    assert_eq!(route["spec"]["rules"][0]["timeouts"], json!({"request": "1h"}));
    index.done(&job, Ok(Some(stored(&route, "u", 1, None))), at(0));
    assert_eq!(index.next(at(0)), None);
    let condition = index.condition("a.example.com").unwrap();
    assert_eq!(
        (condition.name, &*condition.options),
        ("OptionsNotCarriedOut", &["max_body_size", "proxy"][..])
    );
}

#[test]
fn a_gateway_that_comes_late_or_changes_its_class_is_followed() {
    let lease = lease(0, 1);
    let mut index = HostIndex::new(gateway());
    index.synced(ResourceKind::HOST, vec![host("a.example.com", "a.example.com", &lease, 1)]);
    index.synced(ResourceKind::MANIFEST, vec![manifest(&lease, &["a.example.com"], 5)]);
    index.synced(ResourceKind::HTTP_ROUTE, vec![]);
    assert_eq!(index.next(at(0)), None, "nobody looked for the gateway yet");
    index.synced(ResourceKind::GATEWAY_CLASS, vec![]);
    index.cannot_see_gateway(ResourceKind::GATEWAY);
    let mut version = 0;
    let mut work = |index: &mut HostIndex| {
        let mut written = Vec::new();
        while let Some(job) = index.next(at(0)) {
            version += 1;
            let (kind, object) = object_of(&job);
            let uid = object["metadata"]["uid"].as_str().unwrap_or(kind.name).to_owned();
            index.done(&job, Ok(Some(stored(&object, &uid, version, None))), at(0));
            written.push((kind, object));
        }
        written
    };
    let [(ResourceKind::HTTP_ROUTE, plain)] = &work(&mut index)[..] else { panic!() };
    assert!(plain["metadata"]["annotations"].is_object(), "as the Go operator makes it: {plain}");
    assert!(!index.needs_filters());

    let nginx = gateway_class("nginx", "gateway.nginx.org/nginx-gateway-controller");
    index.applied(ResourceKind::GATEWAY, gateway_of("nginx"));
    assert!(!index.needs_filters(), "its class is not there");
    index.applied(ResourceKind::GATEWAY_CLASS, nginx.clone());
    assert!(index.needs_filters());
    assert_eq!(work(&mut index), [], "which filters there are is not known yet");
    index.synced(ResourceKind::SNIPPETS_FILTER, vec![]);
    assert!(work(&mut index).iter().any(|(kind, _)| *kind == ResourceKind::SNIPPETS_FILTER));

    // What is away is not what has changed.
    index.deleted(ResourceKind::GATEWAY_CLASS, &nginx);
    index.synced(ResourceKind::GATEWAY, vec![]);
    assert!(index.needs_filters() && work(&mut index).is_empty());

    index.applied(
        ResourceKind::GATEWAY_CLASS,
        gateway_class("traefik", "traefik.io/gateway-controller"),
    );
    index.applied(ResourceKind::GATEWAY, gateway_of("traefik"));
    assert!(!index.needs_filters());
    let written = work(&mut index);
    assert!(written.iter().all(|(kind, _)| *kind == ResourceKind::HTTP_ROUTE), "{written:?}");
    assert_eq!(index.condition("a.example.com").unwrap().name, "OptionsNotCarriedOut");
}
