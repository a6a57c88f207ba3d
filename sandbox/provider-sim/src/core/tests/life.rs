//! From the manifest to the teardown.

use std::sync::Arc;
use std::time::Duration;

use akash_sdl::manifest::Service;
use akash_types::{Attribute, Gpu, Storage};
use provider_engine::cluster::command::{Command, CommandId, Operation, Workload};
use provider_engine::cluster::port::{Missing, Phase, ReadFailure};
use provider_engine::cluster::view::Condition;

use super::super::{Settings, SimCluster, SimInput};
use super::support::*;

#[test]
fn what_is_deployed_becomes_ready_and_what_is_torn_down_leaves_nothing() {
    let mut bench = Bench::new(SMALL);
    let web = exposed(service("web", "nginx", 2), 80, &["a.example.com"], "");
    bench.deploy(&workload(1, vec![web]));
    assert_eq!(bench.conditions(1), [&Condition::Starting; 2]);
    bench.pass(60);
    assert_eq!(bench.conditions(1), [&Condition::Ready; 2]);
    // Like a scheduler, it spreads.
    assert_ne!(bench.of(1).replicas[0].node, bench.of(1).replicas[1].node);
    assert!(bench.of(1).hostnames.contains(&"a.example.com".to_owned()));
    let page = bench.cluster.page("a.example.com").unwrap();
    assert_eq!((page.service.as_str(), page.ready), ("web", 2));

    bench.run(teardown(1)).unwrap();
    let view = bench.of(1);
    assert!(view.terminating && view.held.is_none() && view.hostnames.is_empty());
    assert_eq!(view.replicas.len(), 2);
    bench.run(teardown(1)).unwrap();
    bench.pass(60);
    assert_eq!(bench.seen.leases.len(), 0);
    assert_eq!(bench.cluster.next_due(), None);
    bench.run(teardown(99)).unwrap();
}

#[test]
fn to_deploy_twice_is_to_deploy_once() {
    let mut bench = Bench::new(SMALL);
    let workload = workload(1, vec![service("web", "nginx", 1)]);
    bench.deploy(&workload);
    bench.pass(60);
    let before = bench.of(1).clone();
    let again =
        SimInput::Command(Command { id: CommandId(2), operation: Operation::Deploy(workload) });
    let said = bench.cluster.step(Duration::from_secs(60), again);
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(*bench.of(1), before);
}

#[test]
fn what_is_held_is_not_run() {
    let mut bench = Bench::new(SMALL);
    let first = workload(1, vec![service("web", "nginx", 1)]);
    bench.run(Operation::Hold(Arc::clone(&first))).unwrap();
    assert!(!bench.of(1).held.as_ref().unwrap().deployed);
    assert_eq!(bench.of(1).replicas, []);
    let none = bench.cluster.status(lease(1)).unwrap_err();
    assert_eq!(none, ReadFailure::NotFound(Missing::Workloads));
    bench.deploy(&first);
    assert!(bench.of(1).held.as_ref().unwrap().deployed);
    // The next manifest is held while the last one runs.
    let next = workload(1, vec![service("web", "nginx:2", 1)]);
    bench.run(Operation::Hold(next)).unwrap();
    let view = bench.of(1);
    assert!(!view.held.as_ref().unwrap().deployed && view.replicas.len() == 1);
    // A lease of which only a manifest is there goes at once.
    bench.run(Operation::Hold(workload(2, vec![service("web", "nginx", 1)]))).unwrap();
    bench.run(teardown(2)).unwrap();
    assert!(!bench.seen.leases.contains_key(&lease(2)));
}

#[test]
fn an_update_takes_one_replica_out_at_a_time_and_keeps_its_room() {
    let mut bench = Bench::new("node:cpu=3,memory=8Gi,disk=100Gi");
    bench.deploy(&workload(1, vec![service("web", "nginx:1", 3)]));
    bench.pass(60);
    // Somebody waits for the room.
    bench.deploy(&workload(2, vec![service("web", "nginx", 1)]));
    assert!(matches!(bench.conditions(2)[..], [Condition::Unschedulable(_)]));
    bench.deploy(&workload(1, vec![service("web", "nginx:2", 3)]));
    let mut most_out = 0;
    for _ in 0..60 {
        bench.pass(1);
        let ready = bench.conditions(1).iter().filter(|c| ***c == Condition::Ready).count();
        most_out = most_out.max(3 - ready);
    }
    assert_eq!((most_out, bench.conditions(1)), (1, vec![&Condition::Ready; 3]));
    assert!(matches!(bench.conditions(2)[..], [Condition::Unschedulable(_)]));
    let status = bench.cluster.service(lease(1), "web").unwrap();
    assert_eq!((status.counts.updated, status.counts.generation), (3, 2));
}

#[test]
fn a_broken_update_does_not_stand_in_the_way_of_its_repair() {
    let mut bench = Bench::new(SMALL);
    bench.deploy(&workload(1, vec![service("web", "nginx", 2)]));
    bench.pass(60);
    bench.deploy(&workload(1, vec![service("web", "web:missing", 2)]));
    bench.pass(60);
    let ready = bench.conditions(1).iter().filter(|c| ***c == Condition::Ready).count();
    assert_eq!(ready, 1, "one of the old stays while the new fails");
    bench.deploy(&workload(1, vec![service("web", "nginx:3", 2)]));
    bench.pass(60);
    assert_eq!(bench.conditions(1), [&Condition::Ready; 2]);
}

#[test]
fn what_fits_nowhere_waits_with_a_reason_and_gets_the_next_room() {
    let mut bench = Bench::new("node:cpu=1,memory=8Gi,disk=100Gi");
    bench.deploy(&workload(1, vec![service("web", "nginx", 1)]));
    bench.deploy(&workload(2, vec![service("web", "nginx", 1)]));
    let why = "none of 1 nodes can take it: 1 have too little CPU";
    assert_eq!(bench.conditions(2), [&Condition::Unschedulable(why.to_owned())]);
    assert_eq!(bench.cluster.service(lease(2), "web").unwrap().phase, Phase::Pending);
    bench.run(teardown(1)).unwrap();
    bench.pass(60);
    assert_eq!(bench.conditions(2), [&Condition::Ready]);
}

#[test]
fn cards_are_of_the_model_that_was_promised() {
    let mut bench = Bench::new(
        "a:cpu=8,memory=8Gi,disk=100Gi,gpu=1*t4;b:cpu=4,memory=8Gi,disk=100Gi,gpu=2*a100/80",
    );
    let mut wants = service("web", "nginx", 1);
    wants.resources.gpu = Some(Gpu {
        units: 1,
        attributes: vec![Attribute::new("vendor/nvidia/model/a100/ram/80Gi", "true")],
    });
    bench.deploy(&workload(1, vec![wants.clone()]));
    assert_eq!(bench.of(1).replicas[0].node.as_deref(), Some("b"));
    assert_eq!(&*bench.of(1).replicas[0].card.as_ref().unwrap().model, "a100");
    wants.resources.gpu.as_mut().unwrap().units = 2;
    bench.deploy(&workload(2, vec![wants]));
    assert!(matches!(bench.conditions(2)[..], [Condition::Unschedulable(_)]));
}

#[test]
fn volumes_take_room_of_their_class_until_the_lease_ends() {
    let mut bench = Bench::new(SMALL);
    let mut stateful = service("db", "postgres", 1);
    stateful.resources.storage.as_mut().unwrap().push(Storage {
        name: "data".to_owned(),
        quantity: 15 << 30,
        attributes: vec![Attribute::new("persistent", "true"), Attribute::new("class", "beta2")],
    });
    bench.deploy(&workload(1, vec![stateful.clone()]));
    assert_eq!(bench.of(1).volumes["beta2"], 15 << 30);
    bench.deploy(&workload(2, vec![stateful]));
    let why = "volume pending: storage class \"beta2\" is full";
    assert_eq!(bench.conditions(2), [&Condition::Unschedulable(why.to_owned())]);
    bench.run(teardown(1)).unwrap();
    bench.pass(60);
    assert_eq!(bench.conditions(2), [&Condition::Ready]);
}

#[test]
fn what_leads_to_a_lease_is_stable_and_ends_with_it() {
    let mut bench = Bench::new(SMALL);
    let web = exposed(service("web", "nginx", 1), 80, &["A.example.com"], "");
    let web = exposed(exposed(web, 22, &[], ""), 53, &[], "mine");
    bench.deploy(&workload(1, vec![web.clone()]));
    let first = bench.cluster.service(lease(1), "web").unwrap();
    assert_eq!(first.hostnames.len(), 2);
    assert!(first.hostnames.contains(&"a.example.com".to_owned()));
    assert_eq!(first.ports.len(), 2);
    assert_eq!(first.ips[0].address.to_string(), "192.0.2.1");
    assert_eq!(bench.of(1).ips, 1);
    bench.deploy(&workload(1, vec![Service { image: "nginx:2".to_owned(), ..web.clone() }]));
    let second = bench.cluster.service(lease(1), "web").unwrap();
    assert_eq!((first.ports, first.ips), (second.ports, second.ips));
    // A name that is withheld is not taken; one that is not is.
    let mut other = Workload::clone(&workload(2, vec![web]));
    other.withheld = vec!["a.example.com".to_owned()];
    bench.deploy(&Arc::new(other.clone()));
    assert_eq!((bench.of(1).hostnames.len(), bench.of(2).hostnames.len()), (2, 1));
    assert_eq!(bench.of(2).ips, 0, "the owner's endpoint is at the first lease");
    other.withheld.clear();
    bench.deploy(&Arc::new(other));
    assert_eq!((bench.of(1).hostnames.len(), bench.of(2).hostnames.len()), (1, 2));
    bench.run(teardown(2)).unwrap();
    assert!(bench.cluster.page("a.example.com").is_none());
}

#[test]
fn an_address_goes_to_the_lease_that_takes_its_endpoint() {
    let mut bench = Bench::new(SMALL);
    let dns = exposed(service("dns", "coredns", 1), 53, &[], "mine");
    let address = |bench: &Bench, dseq| {
        let status = bench.cluster.service(lease(dseq), "dns").unwrap();
        status.ips.first().map(|ip| ip.address.to_string())
    };
    bench.deploy(&workload(1, vec![dns.clone()]));
    bench.deploy(&workload(2, vec![dns.clone()]));
    let first = address(&bench, 1);
    assert!(first.is_some() && address(&bench, 2).is_none());
    let second = Workload::clone(&workload(2, vec![dns]));
    let taking = Arc::new(Workload { endpoints_to_take: vec!["mine".to_owned()], ..second });
    for _ in 0..2 {
        bench.deploy(&taking);
        assert_eq!((address(&bench, 1), address(&bench, 2)), (None, first.clone()));
        assert_eq!((bench.of(1).ips, bench.of(2).ips), (0, 1));
    }
    // The lease that had it does not take it back, and gives nothing free when it ends.
    bench.deploy(&workload(1, vec![service("dns", "coredns:2", 1)]));
    bench.run(teardown(1)).unwrap();
    assert_eq!(address(&bench, 2), first);
    // A whole cluster that is made again from what it kept has it where it was.
    let records = bench.cluster.records();
    let spec = "node:cpu=8,memory=8Gi,disk=8Gi".parse().unwrap();
    let settings = Settings::default();
    let again = SimCluster::restore(spec, settings, 1, Duration::ZERO, false, records);
    let status = again.service(lease(2), "dns").unwrap();
    assert_eq!(status.ips.first().map(|ip| ip.address.to_string()), first);
}

#[test]
fn a_pod_runs_on_nodes_of_its_architecture_only() {
    let spec = "amd:cpu=8,memory=8Gi,disk=8Gi;arm:cpu=2,memory=8Gi,disk=8Gi,arch=arm64";
    let mut bench = Bench::new(spec);
    let mut on_arm = service("web", "nginx", 1);
    if let Some(cpu) = &mut on_arm.resources.cpu {
        cpu.attributes = vec![akash_types::Attribute::new("arch", "arm64")];
    }
    bench.deploy(&workload(1, vec![on_arm.clone()]));
    bench.deploy(&workload(2, vec![service("web", "nginx", 1)]));
    let nodes = |bench: &Bench, dseq| {
        let replicas = bench.of(dseq).replicas.iter();
        replicas.map(|it| it.node.as_deref().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        (nodes(&bench, 1), nodes(&bench, 2)),
        (vec!["arm".to_owned()], vec!["amd".to_owned()])
    );
    bench.deploy(&workload(3, vec![Service { count: 2, ..on_arm }]));
    let why = "none of 2 nodes can take it: 1 have another architecture, 1 have too little CPU";
    assert!(bench.conditions(3).contains(&&Condition::Unschedulable(why.to_owned())));
}
