//! A cluster with a clock, and what to run on it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use akash_sdl::Manifest;
use akash_sdl::manifest::{Group, Protocol, Service, ServiceExpose, ServiceResources};
use akash_types::{Cpu, Gpu, LeaseId, LeaseState, Memory, Storage};
use provider_engine::cluster::command::{Command, CommandFailure, CommandId, Operation, Workload};
use provider_engine::cluster::port::{ExecFailure, ExecRequest, LogPart, LogQuery};
use provider_engine::cluster::view::{ClusterView, Condition, LeaseView, ViewChange};
use provider_engine::reconcile::Evidence;

use super::super::*;

pub(super) const OWNER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

pub(super) fn lease(dseq: u64) -> LeaseId {
    format!("{OWNER}/{dseq}/1/1/{OWNER}").parse().unwrap()
}

pub(super) fn service(name: &str, image: &str, count: u32) -> Service {
    let disk = Storage { name: "default".to_owned(), quantity: 1 << 30, attributes: vec![] };
    Service {
        name: name.to_owned(),
        image: image.to_owned(),
        count,
        resources: ServiceResources {
            id: 1,
            cpu: Some(Cpu { units: 1000, attributes: vec![] }),
            memory: Some(Memory { quantity: 1 << 30, attributes: vec![] }),
            storage: Some(vec![disk]),
            gpu: Some(Gpu::default()),
            endpoints: None,
        },
        ..Service::default()
    }
}

pub(super) fn exposed(mut service: Service, port: u32, hosts: &[&str], ip: &str) -> Service {
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    service.expose.get_or_insert_default().push(ServiceExpose {
        port,
        proto: Protocol::Tcp,
        global: true,
        hosts: Some(hosts),
        ip: ip.to_owned(),
        ..ServiceExpose::default()
    });
    service
}

pub(super) fn workload(dseq: u64, services: Vec<Service>) -> Arc<Workload> {
    let group = Group { name: "g".to_owned(), services };
    let version = Some(Manifest { groups: vec![group.clone()] }.version());
    Arc::new(Workload {
        lease: lease(dseq),
        version,
        group: Arc::new(group),
        cards: BTreeMap::new(),
        withheld: vec![],
        endpoints_to_take: vec![],
        ignored: BTreeMap::new(),
    })
}

pub(super) fn teardown(dseq: u64) -> Operation {
    let evidence = Evidence::new(LeaseState::Closed, None, 1, 2).unwrap();
    Operation::Teardown { lease: lease(dseq), evidence }
}

/// A cluster with a clock, and all that was said.
pub(super) struct Bench {
    pub(super) cluster: SimCluster,
    pub(super) seconds: u64,
    pub(super) seen: ClusterView,
    pub(super) lost: bool,
    pub(super) answers: Vec<Result<(), CommandFailure>>,
}

impl Bench {
    pub(super) fn new(nodes: &str) -> Self {
        Self::seeded(nodes, 7)
    }

    pub(super) fn seeded(nodes: &str, seed: u64) -> Self {
        let cluster = SimCluster::new(nodes.parse().unwrap(), Settings::default(), seed);
        let mut bench =
            Self { cluster, seconds: 0, seen: ClusterView::default(), lost: true, answers: vec![] };
        bench.give(SimInput::Observe);
        bench
    }

    pub(super) fn give(&mut self, input: SimInput) {
        for output in self.cluster.step(Duration::from_secs(self.seconds), input) {
            match output {
                SimOutput::Answer(answer) => self.answers.push(answer.result),
                SimOutput::View(change) => self.see(change),
            }
        }
    }

    pub(super) fn see(&mut self, change: ViewChange) {
        match change {
            ViewChange::Whole(view) => (self.seen, self.lost) = (*view, false),
            ViewChange::Lost => self.lost = true,
            ViewChange::Node(name, node) => drop(self.seen.nodes.insert(name, node)),
            ViewChange::NodeGone(name) => drop(self.seen.nodes.remove(&name)),
            ViewChange::Lease(view) => drop(self.seen.leases.insert(view.id, *view)),
            ViewChange::LeaseGone(id) => drop(self.seen.leases.remove(&id)),
            ViewChange::Maintenance(on) => self.seen.maintenance = on,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn run(&mut self, operation: Operation) -> Result<(), CommandFailure> {
        self.give(SimInput::Command(Command { id: CommandId(1), operation }));
        self.answers.pop().expect("no answer")
    }

    pub(super) fn deploy(&mut self, workload: &Arc<Workload>) {
        self.run(Operation::Deploy(Arc::clone(workload))).unwrap();
    }

    pub(super) fn pass(&mut self, seconds: u64) {
        self.seconds += seconds;
        self.give(SimInput::Tick);
    }

    pub(super) fn of(&self, dseq: u64) -> &LeaseView {
        &self.seen.leases[&lease(dseq)]
    }

    pub(super) fn conditions(&self, dseq: u64) -> Vec<&Condition> {
        self.of(dseq).replicas.iter().map(|replica| &replica.condition).collect()
    }

    pub(super) fn logs(&self, dseq: u64, query: LogQuery) -> Vec<LogPart> {
        let mut cursor = LogCursor::new(&self.cluster, lease(dseq), query).unwrap();
        let mut parts = vec![];
        while cursor.has_more() {
            parts.extend(cursor.read(&self.cluster).unwrap());
        }
        parts
    }

    pub(super) fn exec(
        &self,
        dseq: u64,
        command: &[&str],
    ) -> Result<(Shell, Vec<ShellOutput>), ExecFailure> {
        let request = ExecRequest {
            service: "web".to_owned(),
            replica: None,
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            stdin: true,
            terminal: None,
        };
        self.cluster.shell(lease(dseq), &request)
    }
}

pub(super) const SMALL: &str = "2*node:cpu=4,memory=8Gi,disk=100Gi,storage=beta2:10Gi";
