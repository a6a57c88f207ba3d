use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use akash_sdl::Manifest;
use akash_sdl::manifest::{Group, Protocol, Service, ServiceExpose, ServiceResources};
use akash_types::{Attribute, Cpu, Gpu, LeaseId, LeaseState, Memory, Storage};
use proptest::prelude::*;
use provider_engine::cluster::command::{Command, CommandFailure, CommandId, Operation, Workload};
use provider_engine::cluster::port::{
    ExecFailure, ExecInput, ExecRequest, LogPart, LogQuery, Missing, Phase, ReadFailure,
};
use provider_engine::cluster::view::{Amounts, ClusterView, Condition, LeaseView, ViewChange};
use provider_engine::reconcile::Evidence;

use super::*;

const OWNER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

fn lease(dseq: u64) -> LeaseId {
    format!("{OWNER}/{dseq}/1/1/{OWNER}").parse().unwrap()
}

fn service(name: &str, image: &str, count: u32) -> Service {
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

fn exposed(mut service: Service, port: u32, hosts: &[&str], ip: &str) -> Service {
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

fn workload(dseq: u64, services: Vec<Service>) -> Arc<Workload> {
    let group = Group { name: "g".to_owned(), services };
    let version = Manifest { groups: vec![group.clone()] }.version();
    Arc::new(Workload {
        lease: lease(dseq),
        version: Some(version),
        group: Arc::new(group),
        cards: BTreeMap::new(),
        withheld: vec![],
    })
}

fn teardown(dseq: u64) -> Operation {
    let evidence = Evidence::new(LeaseState::Closed, None, 1, 2).unwrap();
    Operation::Teardown { lease: lease(dseq), evidence }
}

/// A cluster with a clock, and all that was said.
struct Bench {
    cluster: SimCluster,
    seconds: u64,
    seen: ClusterView,
    lost: bool,
    answers: Vec<Result<(), CommandFailure>>,
}

impl Bench {
    fn new(nodes: &str) -> Self {
        Self::seeded(nodes, 7)
    }

    fn seeded(nodes: &str, seed: u64) -> Self {
        let cluster = SimCluster::new(nodes.parse().unwrap(), Settings::default(), seed);
        let mut bench =
            Self { cluster, seconds: 0, seen: ClusterView::default(), lost: true, answers: vec![] };
        bench.give(SimInput::Observe);
        bench
    }

    fn give(&mut self, input: SimInput) {
        for output in self.cluster.step(Duration::from_secs(self.seconds), input) {
            match output {
                SimOutput::Answer(answer) => self.answers.push(answer.result),
                SimOutput::View(change) => self.see(change),
            }
        }
    }

    fn see(&mut self, change: ViewChange) {
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

    fn run(&mut self, operation: Operation) -> Result<(), CommandFailure> {
        self.give(SimInput::Command(Command { id: CommandId(1), operation }));
        self.answers.pop().expect("no answer")
    }

    fn deploy(&mut self, workload: &Arc<Workload>) {
        self.run(Operation::Deploy(Arc::clone(workload))).unwrap();
    }

    fn pass(&mut self, seconds: u64) {
        self.seconds += seconds;
        self.give(SimInput::Tick);
    }

    fn of(&self, dseq: u64) -> &LeaseView {
        &self.seen.leases[&lease(dseq)]
    }

    fn conditions(&self, dseq: u64) -> Vec<&Condition> {
        self.of(dseq).replicas.iter().map(|replica| &replica.condition).collect()
    }

    fn logs(&self, dseq: u64, query: LogQuery) -> Vec<LogPart> {
        let mut cursor = LogCursor::new(&self.cluster, lease(dseq), query).unwrap();
        let mut parts = vec![];
        while cursor.has_more() {
            parts.extend(cursor.read(&self.cluster).unwrap());
        }
        parts
    }

    fn exec(&self, dseq: u64, command: &[&str]) -> Result<(Shell, Vec<ShellOutput>), ExecFailure> {
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

const SMALL: &str = "2*node:cpu=4,memory=8Gi,disk=100Gi,storage=beta2:10Gi";

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
fn bad_images_say_what_is_wrong() {
    for (image, why, exit) in [
        ("web:missing", "image \"web:missing\" cannot be pulled: it does not exist", None),
        ("web:crash", "the program exited with code 1; started again 0 times", Some(1)),
        (
            "web:oom",
            "out of memory: the container used more than its limit; started again 0 times",
            Some(137),
        ),
    ] {
        let mut bench = Bench::new(SMALL);
        bench.deploy(&workload(1, vec![service("web", image, 1)]));
        while !matches!(bench.conditions(1)[..], [Condition::Failing(_)]) {
            assert!(bench.seconds < 60, "{image}");
            bench.pass(1);
        }
        assert_eq!(bench.conditions(1), [&Condition::Failing(why.to_owned())]);
        let status = bench.cluster.service(lease(1), "web").unwrap();
        assert_eq!((status.phase, status.why.as_deref()), (Phase::Failing, Some(why)));
        assert_eq!(status.last_exit.map(|exit| exit.code), exit, "{image}");
        bench.pass(200);
        assert_eq!(bench.of(1).replicas[0].restarts > 0, exit.is_some());
    }
    let mut bench = Bench::new(SMALL);
    let refused = bench.run(Operation::Hold(workload(1, vec![service("w", "refused", 1)])));
    assert!(matches!(refused, Err(CommandFailure::Refused(_))));
    assert_eq!(bench.seen.leases.len(), 0);
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
fn a_lost_node_is_not_a_lost_workload() {
    let mut bench = Bench::new(SMALL);
    bench.deploy(&workload(1, vec![service("web", "nginx", 1)]));
    bench.pass(60);
    let node = bench.of(1).replicas[0].node.clone().unwrap();
    bench.give(SimInput::Disturb(Disturbance::NodeLost(node.clone())));
    assert!(!bench.seen.nodes[&node].schedulable);
    let why = format!("node {node} does not answer");
    assert_eq!(bench.conditions(1), [&Condition::Failing(why)]);
    bench.give(SimInput::Disturb(Disturbance::NodeBack(node.clone())));
    assert_eq!(bench.conditions(1), [&Condition::Ready]);
    assert_eq!(bench.of(1).replicas[0].restarts, 0);
    // Lost for long, it is made elsewhere.
    bench.give(SimInput::Disturb(Disturbance::NodeLost(node.clone())));
    bench.pass(400);
    assert_eq!(bench.conditions(1), [&Condition::Ready]);
    assert_ne!(bench.of(1).replicas[0].node, Some(node));
}

#[test]
fn an_api_that_does_not_answer_destroys_nothing_and_says_nothing() {
    let mut bench = Bench::new(SMALL);
    bench.deploy(&workload(1, vec![service("web", "nginx", 1)]));
    bench.pass(60);
    let down = Disturbance::ApiDown(Some(Duration::from_secs(3600)));
    bench.give(SimInput::Disturb(down));
    assert!(bench.lost);
    let before = bench.seen.clone();
    for operation in [
        Operation::Maintain(true),
        Operation::Deploy(workload(2, vec![service("web", "nginx", 1)])),
        teardown(1),
    ] {
        assert!(matches!(bench.run(operation), Err(CommandFailure::Unavailable(_))));
    }
    assert!(matches!(bench.cluster.status(lease(1)), Err(ReadFailure::Unavailable(_))));
    bench.pass(3599);
    assert!(bench.lost);
    bench.pass(1);
    assert!(!bench.lost);
    assert_eq!(bench.seen, before);
}

#[test]
fn answers_can_be_lost_doubled_late_and_wrong() {
    let mut bench = Bench::new(SMALL);
    let mut count = |faults: Faults| {
        bench.give(SimInput::Disturb(Disturbance::Faults(faults)));
        bench.answers.clear();
        let operation = Operation::Maintain(true);
        for _ in 0..10 {
            let command = Command { id: CommandId(1), operation: operation.clone() };
            bench.give(SimInput::Command(command));
        }
        let at_once = bench.answers.len();
        bench.pass(100);
        (at_once, bench.answers.len(), bench.answers.iter().filter(|a| a.is_err()).count())
    };
    let late_by = Duration::from_secs(50);
    let all = 1000;
    assert_eq!(count(Faults { lose: all, ..Faults::default() }), (0, 0, 0));
    assert_eq!(count(Faults { double: all, late_by, ..Faults::default() }), (10, 20, 0));
    assert_eq!(count(Faults { late: all, late_by, ..Faults::default() }), (0, 10, 0));
    assert_eq!(count(Faults { fail: all, ..Faults::default() }), (10, 10, 10));
    assert_eq!(count(Faults { fail_after: all, ..Faults::default() }), (10, 10, 10));
    assert!(bench.seen.maintenance, "it was done all the same");
}

#[test]
fn a_mass_failure_kills_containers_and_they_come_back() {
    let mut bench = Bench::new("4*node:cpu=64,memory=64Gi,disk=900Gi");
    for dseq in 1..=50 {
        bench.deploy(&workload(dseq, vec![service("web", "nginx", 2)]));
    }
    bench.pass(60);
    bench.give(SimInput::Disturb(Disturbance::KillContainers { per_mille: 1000 }));
    for dseq in 1..=50 {
        assert!(bench.conditions(dseq).iter().all(|c| matches!(c, Condition::Failing(_))));
    }
    bench.pass(60);
    for dseq in 1..=50 {
        assert_eq!(bench.conditions(dseq), [&Condition::Ready; 2]);
    }
}

#[test]
fn logs_are_read_once_and_through_restarts() {
    let mut bench = Bench::new(SMALL);
    bench.deploy(&workload(1, vec![service("web", "web:crash-long", 1)]));
    while !matches!(bench.conditions(1)[..], [Condition::Ready]) {
        bench.pass(1);
    }
    let query = LogQuery { follow: true, ..LogQuery::default() };
    let mut cursor = LogCursor::new(&bench.cluster, lease(1), query).unwrap();
    let mut parts = cursor.read(&bench.cluster).unwrap();
    bench.pass(40);
    while cursor.has_more() || parts.len() < 60 {
        parts.extend(cursor.read(&bench.cluster).unwrap());
        bench.pass(20);
        assert!(bench.seconds < 1000, "{}", parts.len());
    }
    let mut line = String::new();
    let (mut lines, mut breaks) = (vec![], 0);
    for part in parts {
        match part {
            LogPart::Text { text, continues, .. } => {
                line += &text;
                if !continues {
                    lines.push(std::mem::take(&mut line));
                }
            }
            LogPart::Break { .. } => breaks += 1,
        }
    }
    assert!(lines[0].starts_with("SIMULATED workload web-"), "{}", lines[0]);
    assert_eq!(lines[1].len(), 1 << 20);
    let ends = lines.iter().filter(|line| line.starts_with("simulated end")).count();
    let starts = lines.iter().filter(|line| line.starts_with("SIMULATED")).count();
    assert!(ends >= 1 && breaks >= 1 && starts == breaks + 1, "{starts} {ends} {breaks}");
    assert!(!cursor.is_done());

    let tail = bench.logs(1, LogQuery { tail: Some(1), ..LogQuery::default() });
    assert_eq!(tail.len(), 1);
    let previous = bench.logs(1, LogQuery { previous: true, ..LogQuery::default() });
    let LogPart::Text { text, .. } = previous.last().unwrap() else { panic!() };
    assert_eq!(text, "simulated end: the program exited with code 1");
    let unknown = ServiceChoice::Named(vec!["nobody".to_owned()]);
    let query = LogQuery { services: unknown, ..LogQuery::default() };
    let failure = LogCursor::new(&bench.cluster, lease(1), query).unwrap_err();
    assert_eq!(failure, ReadFailure::NotFound(Missing::Service("nobody".to_owned())));
}

use provider_engine::cluster::port::ServiceChoice;

#[test]
fn shells_answer() {
    let mut bench = Bench::new(SMALL);
    let mut web = service("web", "nginx", 1);
    web.env = Some(vec!["NAME=value".to_owned()]);
    bench.deploy(&workload(1, vec![web]));
    assert!(matches!(bench.exec(1, &["true"]), Err(ExecFailure::NotRunning(_))));
    bench.pass(60);
    let out = |text: &str| ShellOutput::Stdout(text.as_bytes().to_vec());
    let err = |text: &str| ShellOutput::Stderr(text.as_bytes().to_vec());
    for (command, expected) in [
        (
            &["sh", "-c", "echo out; echo err >&2; exit 3"][..],
            vec![out("out\n"), err("err\n"), ShellOutput::Exit(3)],
        ),
        (&["true"], vec![ShellOutput::Exit(0)]),
        (&["false"], vec![ShellOutput::Exit(1)]),
        (&["env"], vec![out("NAME=value\n"), ShellOutput::Exit(0)]),
        (&["sh", "-c", "false && echo a || echo b"], vec![out("b\n"), ShellOutput::Exit(0)]),
        (
            &["sh", "-c", "nonsense"],
            vec![err("sh: nonsense: not found (simulated)\n"), ShellOutput::Exit(127)],
        ),
    ] {
        assert_eq!(bench.exec(1, command).unwrap().1, expected, "{command:?}");
    }
    let (mut cat, said) = bench.exec(1, &["cat"]).unwrap();
    assert_eq!(said, []);
    assert_eq!(cat.feed(ExecInput::Stdin(b"abc".to_vec())), [out("abc")]);
    assert_eq!(cat.feed(ExecInput::EndOfStdin), [ShellOutput::Exit(0)]);
    assert!(cat.has_ended());
    let console = "command -v bash >/dev/null 2>&1 && exec bash || exec sh";
    let (mut shell, said) = bench.exec(1, &["sh", "-c", console]).unwrap();
    assert_eq!(said, []);
    assert_eq!(shell.feed(ExecInput::Stdin(b"echo h".to_vec())), []);
    assert_eq!(shell.feed(ExecInput::Stdin(b"i\n".to_vec())), [out("hi\n")]);
    assert_eq!(shell.feed(ExecInput::Stdin(b"exit 4\n".to_vec())), [ShellOutput::Exit(4)]);
    assert!(bench.cluster.still_runs(&shell));
    let missing = bench.exec(1, &["no-such-program"]).unwrap_err();
    assert_eq!(missing, ExecFailure::NoSuchCommand("no-such-program".to_owned()));
}

#[test]
fn a_cluster_made_again_from_what_was_kept_is_the_same() {
    let mut bench = Bench::new(SMALL);
    let web =
        exposed(exposed(service("web", "nginx", 2), 80, &["a.example.com"], ""), 22, &[], "ip");
    bench.deploy(&workload(1, vec![web]));
    bench.deploy(&workload(2, vec![service("web", "web:crash", 1)]));
    bench.run(Operation::Maintain(true)).unwrap();
    bench.pass(5);
    let kept: Vec<String> =
        bench.cluster.records().map(|record| serde_json::to_string(&record).unwrap()).collect();
    let read = kept.iter().map(|text| serde_json::from_str::<LeaseRecord>(text).unwrap());
    let mut again = SimCluster::restore(
        SMALL.parse().unwrap(),
        Settings::default(),
        7,
        bench.cluster.now(),
        true,
        read.collect::<Vec<_>>(),
    );
    assert_eq!(again.view(), bench.cluster.view());
    assert_eq!(again.next_due(), bench.cluster.next_due());
    check_books(&again);
    again.step(Duration::from_secs(600), SimInput::Tick);
    bench.pass(595);
    assert_eq!(again.view().leases[&lease(1)], bench.cluster.view().leases[&lease(1)]);
}

/// What is booked on nodes and classes is what pods and volumes take.
fn check_books(cluster: &SimCluster) {
    let mut used: BTreeMap<Name, Amounts> = BTreeMap::new();
    let mut volumes: BTreeMap<Name, i64> = BTreeMap::new();
    for lease in cluster.leases.values() {
        for pod in lease.pods.values() {
            if let Some(node) = &pod.node {
                let sum = used.entry(node.clone()).or_default();
                *sum = machine::plus(*sum, pod.template.need.asks, 1);
            }
        }
        for (_, (class, bytes)) in &lease.volumes {
            *volumes.entry(class.clone()).or_default() += bytes;
        }
    }
    for (name, machine) in &cluster.machines {
        assert_eq!(machine.used, used.get(name).copied().unwrap_or_default(), "{name}");
        let free = machine.free();
        assert!(free.cpu_milli >= 0 && free.memory >= 0, "{name} is overbooked: {free:?}");
    }
    for (name, class) in &cluster.classes {
        assert_eq!(class.used, volumes.get(name).copied().unwrap_or_default(), "{name}");
    }
}

#[derive(Clone, Debug)]
enum Act {
    Deploy(u64, u32, &'static str),
    Hold(u64),
    Teardown(u64),
    Pass(u64),
    Lose(usize),
    Back(usize),
    Kill(u32),
    Api(bool),
}

fn act() -> impl Strategy<Value = Act> {
    let image = prop::sample::select(vec![
        "nginx",
        "nginx:2",
        "web:crash",
        "web:missing",
        "web:slow",
        "web:flaky",
        "web:stuck",
    ]);
    prop_oneof![
        4 => (1..6_u64, 1..4_u32, image).prop_map(|(d, n, i)| Act::Deploy(d, n, i)),
        1 => (1..6_u64).prop_map(Act::Hold),
        2 => (1..6_u64).prop_map(Act::Teardown),
        4 => (1..200_u64).prop_map(Act::Pass),
        1 => (1..3_usize).prop_map(Act::Lose),
        1 => (1..3_usize).prop_map(Act::Back),
        1 => (0..1000_u32).prop_map(Act::Kill),
        1 => any::<bool>().prop_map(Act::Api),
    ]
}

fn play(bench: &mut Bench, act: &Act) {
    let node = |number: &usize| Name::from(format!("node-{number}"));
    match act {
        Act::Deploy(dseq, count, image) => {
            let workload = workload(*dseq, vec![service("web", image, *count)]);
            let _ = bench.run(Operation::Deploy(workload));
        }
        Act::Hold(dseq) => {
            let _ = bench.run(Operation::Hold(workload(*dseq, vec![service("web", "held", 1)])));
        }
        Act::Teardown(dseq) => drop(bench.run(teardown(*dseq))),
        Act::Pass(seconds) => bench.pass(*seconds),
        Act::Lose(number) => bench.give(SimInput::Disturb(Disturbance::NodeLost(node(number)))),
        Act::Back(number) => bench.give(SimInput::Disturb(Disturbance::NodeBack(node(number)))),
        Act::Kill(per_mille) => {
            let disturbance = Disturbance::KillContainers { per_mille: *per_mille };
            bench.give(SimInput::Disturb(disturbance));
        }
        Act::Api(true) => bench.give(SimInput::Disturb(Disturbance::ApiUp)),
        Act::Api(false) => bench.give(SimInput::Disturb(Disturbance::ApiDown(None))),
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_books_are_right_and_watchers_see_what_is(
        acts in prop::collection::vec(act(), 0..60),
        seed: u64,
    ) {
        let (mut one, mut other) = (Bench::seeded(SMALL, seed), Bench::seeded(SMALL, seed));
        for act in &acts {
            play(&mut one, act);
            play(&mut other, act);
            check_books(&one.cluster);
            if !one.lost {
                prop_assert_eq!(&one.seen, &one.cluster.view());
            }
            prop_assert_eq!(&one.seen, &other.seen);
        }
        // In the end everything can be ended, and nothing is left.
        play(&mut one, &Act::Api(true));
        for dseq in 1..6 {
            let _ = one.run(teardown(dseq));
        }
        one.pass(10_000);
        prop_assert_eq!(one.seen.leases.len(), 0);
        prop_assert_eq!(one.cluster.next_due(), None);
        for machine in one.cluster.machines.values() {
            prop_assert_eq!(machine.used, Amounts::default());
            prop_assert!(machine.used_cards.is_empty());
        }
    }
}
