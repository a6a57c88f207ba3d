//! What holds whatever tenants, chain and cluster do, and in whatever order.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

const HOSTS: [&str; 3] = ["a.example.com", "b.example.com", "c.example.com"];
const DEPLOYMENTS: u8 = 5;

/// Five deployments of three tenants.
fn nth(number: u8) -> DeploymentId {
    deployment(number % 3 + 1, u64::from(number) + 1)
}

/// One for every choice of hostnames; the first lists none.
static SDLS: LazyLock<Vec<Sdl>> = LazyLock::new(|| {
    let listed = |choice: usize| (0..3).filter(move |bit| choice >> bit & 1 == 1);
    let hosts = |choice| listed(choice).map(|bit| HOSTS[bit]).collect::<Vec<_>>();
    (0..8).map(|choice| sdl("v", &[&hosts(choice)])).collect()
});

#[derive(Clone, Debug)]
enum Step {
    /// A tenant updates its deployment to a manifest that lists some hostnames, and sends it.
    Send(u8, u8),
    /// A tenant sends what the chain has.
    SendAgain(u8),
    Migrate(u8, usize),
    Read(u8, bool),
    Finish(u8, Ending),
    Show(u8),
    End(u8),
    Lease(u8),
    Pass(u64),
    /// The process dies; commands under way were carried out, or not.
    Restart(bool),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Done,
    Refused,
    LostAfter,
    LostBefore,
}

fn any_step() -> impl Strategy<Value = Step> {
    let ending = prop_oneof![
        6 => Just(Ending::Done),
        1 => Just(Ending::Refused),
        1 => Just(Ending::LostAfter),
        1 => Just(Ending::LostBefore),
    ];
    let which = || 0..DEPLOYMENTS;
    prop_oneof![
        4 => (which(), 0..8u8).prop_map(|(number, hosts)| Step::Send(number, hosts)),
        1 => which().prop_map(Step::SendAgain),
        3 => (which(), 0..HOSTS.len()).prop_map(|(number, host)| Step::Migrate(number, host)),
        5 => (which(), prop::bool::weighted(0.9)).prop_map(|(number, ok)| Step::Read(number, ok)),
        8 => (which(), ending).prop_map(|(number, ending)| Step::Finish(number, ending)),
        4 => which().prop_map(Step::Show),
        1 => which().prop_map(Step::End),
        1 => which().prop_map(Step::Lease),
        1 => (0..100u64).prop_map(Step::Pass),
        1 => prop::bool::ANY.prop_map(Step::Restart),
    ]
}

#[derive(Clone, Debug)]
enum Command {
    Hold(Arc<Workload>),
    Deploy(Arc<Workload>),
    Teardown,
}

/// What is under way and what waits for one lease, as an engine would have it.
#[derive(Default)]
struct Queue {
    running: Option<Command>,
    hold: Option<Arc<Workload>>,
    deploy: bool,
    teardown: bool,
    /// What the cluster said that it keeps.
    desired: Option<Arc<Workload>>,
}

struct Model {
    world: World,
    requests: u64,
    unanswered: BTreeMap<RequestId, Option<akash_sdl::Version>>,
    chain: BTreeMap<u8, (&'static Sdl, u32, bool)>,
    queues: BTreeMap<LeaseId, Queue>,
    /// What the cluster really has: what it keeps, whether that is deployed, and who has a name.
    kept: BTreeMap<LeaseId, (Arc<Workload>, bool)>,
    leads: BTreeMap<String, LeaseId>,
    /// To whom a name was moved last.
    moved: BTreeMap<String, LeaseId>,
    /// A node answers at this height or later.
    height: u64,
    restarted: bool,
}

impl Model {
    fn new() -> Self {
        let chain = (0..DEPLOYMENTS).map(|number| (number, (&SDLS[0], 1, true)));
        Self {
            world: World::new(),
            requests: 0,
            unanswered: BTreeMap::new(),
            chain: chain.collect(),
            queues: BTreeMap::new(),
            kept: BTreeMap::new(),
            leads: BTreeMap::new(),
            moved: BTreeMap::new(),
            height: 1,
            restarted: false,
        }
    }

    fn lease(&self, number: u8) -> LeaseId {
        lease(nth(number), 1, self.chain[&number].1)
    }

    fn is_alive(&self, lease: LeaseId) -> bool {
        (0..DEPLOYMENTS).any(|number| self.chain[&number].2 && self.lease(number) == lease)
    }

    fn request(&mut self, version: Option<akash_sdl::Version>) -> RequestId {
        self.requests += 1;
        let request = RequestId(self.requests);
        self.unanswered.insert(request, version);
        request
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Send(number, hosts) => {
                self.chain.get_mut(&number).unwrap().0 = &SDLS[usize::from(hosts)];
                self.height += 1;
                self.send(number);
            }
            Step::SendAgain(number) => self.send(number),
            Step::Migrate(number, host) => {
                let id = nth(number);
                let request = self.request(None);
                let (owner, dseq, gseq) = (id.owner(), id.dseq(), 1);
                let hostnames = vec![HOSTS[host].to_owned()];
                let wanted = TenantRequest::MigrateHostnames { hostnames, owner, dseq, gseq };
                self.handle(ManifestInput::Tenant(request, wanted));
            }
            Step::Read(number, ok) => {
                let (sdl, oseq, alive) = &self.chain[&number];
                let mut facts = facts(nth(number), sdl, &[]);
                facts.leases.extend(alive.then(|| lease(nth(number), 1, *oseq)));
                let result = if ok { Ok(Some(facts)) } else { Err(Unavailable(String::new())) };
                let (deployment, height) = (nth(number), self.height);
                self.handle(ManifestInput::Read { deployment, height, result });
            }
            Step::Finish(number, ending) => {
                let id = nth(number);
                let busy = self
                    .queues
                    .iter()
                    .find(|(lease, queue)| lease.deployment_id() == id && queue.running.is_some());
                if let Some(lease) = busy.map(|(lease, _)| *lease) {
                    self.finish(lease, ending);
                }
            }
            Step::Show(number) => {
                let id = nth(number);
                let leases: Vec<LeaseId> =
                    self.queues.keys().copied().filter(|it| it.deployment_id() == id).collect();
                leases.into_iter().for_each(|lease| self.show(lease));
            }
            Step::End(number) => {
                let lease = self.lease(number);
                if std::mem::take(&mut self.chain.get_mut(&number).unwrap().2) {
                    self.end(lease);
                }
            }
            Step::Lease(number) => {
                let (_, oseq, alive) = self.chain.get_mut(&number).unwrap();
                if !*alive {
                    *oseq += 1;
                    *alive = true;
                }
            }
            Step::Pass(seconds) => {
                self.world.now = self.world.now.after(Duration::from_secs(seconds));
                self.handle(ManifestInput::Tick);
            }
            Step::Restart(done) => self.restart(done),
        }
    }

    fn send(&mut self, number: u8) {
        let manifest = Arc::new(self.chain[&number].0.manifest().clone());
        let request = self.request(Some(manifest.version()));
        let (deployment, received) = (nth(number), crate::Received::default());
        let wanted = TenantRequest::Manifest { deployment, manifest, received };
        self.handle(ManifestInput::Tenant(request, wanted));
    }

    fn handle(&mut self, input: ManifestInput) {
        for effect in self.world.handle(input) {
            match effect {
                ManifestAction::Read(_) => {}
                ManifestAction::Hold(workload) => {
                    let queue = self.queues.entry(workload.lease).or_default();
                    queue.hold = Some(workload);
                }
                ManifestAction::Redeploy(lease) => {
                    self.queues.entry(lease).or_default().deploy = true;
                }
                ManifestAction::Reply(request, reply) => {
                    let version = self.unanswered.remove(&request).expect("answered twice");
                    if let Reply::Manifest(ManifestAnswer::Accepted { leases }) = reply {
                        self.check_held(&leases, version.unwrap());
                    }
                }
                ManifestAction::Note(journal::Subject::Order(to), Decision::Moved(hostname)) => {
                    self.moved.insert(hostname, LeaseId::new(to, account(200)));
                }
                ManifestAction::Note(..) => {}
            }
        }
        self.start_commands();
    }

    /// No promise is made that the cluster does not keep.
    fn check_held(&self, leases: &[LeaseId], version: akash_sdl::Version) {
        assert!(!leases.is_empty());
        for lease in leases {
            let (workload, _) = &self.kept[lease];
            assert_eq!(workload.version, Some(version), "{lease} was accepted and is not held");
        }
    }

    /// One command per lease at a time; what is to be deployed is decided when it begins.
    fn start_commands(&mut self) {
        let leases: Vec<LeaseId> = self.queues.keys().copied().collect();
        for lease in leases {
            let alive = self.is_alive(lease);
            let queue = self.queues.get_mut(&lease).unwrap();
            if queue.running.is_some() {
                continue;
            }
            if queue.teardown {
                queue.running = Some(Command::Teardown);
            } else if !alive {
                continue;
            } else if let Some(workload) = queue.hold.take() {
                queue.running = Some(Command::Hold(workload));
            } else if std::mem::take(&mut queue.deploy)
                && let Some(desired) = queue.desired.clone()
            {
                let withheld = self.world.submissions.withheld(
                    lease,
                    &desired.group,
                    &mut self.world.hostnames,
                );
                let workload = Arc::new(Workload { withheld, ..(*desired).clone() });
                self.check_exposed(&workload);
                let queue = self.queues.get_mut(&lease).unwrap();
                queue.running = Some(Command::Deploy(workload));
            }
        }
    }

    /// No name is given to a lease while another has it or may be about to get it, but for one
    /// that its owner moved.
    fn check_exposed(&self, workload: &Workload) {
        for host in exposed(workload) {
            let others = self.queues.iter().filter(|(lease, queue)| {
                let about_to = match &queue.running {
                    Some(Command::Deploy(workload)) => exposed(workload).contains(&host),
                    _ => false,
                };
                let has = self.leads.get(&host) == Some(*lease);
                (about_to || has) && lease.group_id() != workload.lease.group_id()
            });
            for (other, _) in others {
                assert_eq!(other.owner(), workload.lease.owner(), "{host} is taken from another");
                assert_eq!(
                    self.moved.get(&host).map(LeaseId::group_id),
                    Some(workload.lease.group_id()),
                    "{host} is taken from {other} without a migration"
                );
            }
        }
    }

    fn finish(&mut self, lease: LeaseId, ending: Ending) {
        let queue = self.queues.get_mut(&lease).unwrap();
        let command = queue.running.take().unwrap();
        let result = match ending {
            Ending::Done => Ok(()),
            Ending::Refused => Err(CommandFailure::Refused(String::new())),
            _ => Err(CommandFailure::Unavailable(String::new())),
        };
        if matches!(ending, Ending::Done | Ending::LostAfter) {
            self.carry_out(lease, &command);
        }
        let queue = self.queues.get_mut(&lease).unwrap();
        match command {
            Command::Hold(workload) => {
                if result.is_ok() {
                    queue.desired = Some(Arc::clone(&workload));
                    queue.deploy = true;
                }
                let version = workload.version.unwrap();
                self.handle(ManifestInput::HoldEnded { lease, version, result });
            }
            Command::Deploy(workload) => {
                queue.deploy |= result.is_err();
                self.handle(ManifestInput::DeployEnded { workload, result });
            }
            Command::Teardown => {
                if result.is_ok() {
                    self.queues.remove(&lease);
                    self.world.leases.remove(&lease);
                    self.world.hostnames.gone(lease);
                }
                self.start_commands();
            }
        }
    }

    fn carry_out(&mut self, lease: LeaseId, command: &Command) {
        match command {
            Command::Hold(workload) => {
                self.kept.insert(lease, (Arc::clone(workload), false));
            }
            Command::Deploy(workload) => {
                self.kept.insert(lease, (Arc::clone(workload), true));
                let hosts = exposed(workload);
                self.leads.retain(|host, of| *of != lease || hosts.contains(host));
                self.leads.extend(hosts.into_iter().map(|host| (host, lease)));
            }
            Command::Teardown => {
                self.kept.remove(&lease);
                self.leads.retain(|_, of| *of != lease);
            }
        }
    }

    fn view(&self, lease: LeaseId) -> Option<LeaseView> {
        let (workload, deployed) = self.kept.get(&lease)?;
        let mut view = LeaseView::empty(lease);
        view.held = Some(Held {
            version: workload.version,
            group: Arc::clone(&workload.group),
            cards: BTreeMap::new(),
            deployed: *deployed,
            ignored: BTreeMap::new(),
        });
        let names = self.leads.iter().filter(|(_, of)| **of == lease);
        view.hostnames = names.map(|(host, _)| host.clone()).collect();
        Some(view)
    }

    fn show(&mut self, lease: LeaseId) {
        let Some(view) = self.view(lease) else { return };
        self.world.hostnames.see(&view);
        self.world.leases.insert(lease, view);
        // What is kept and not deployed gets deployed, also when nobody heard that it is kept.
        let (workload, deployed) = self.kept[&lease].clone();
        let queue = self.queues.entry(lease).or_default();
        if !deployed && queue.running.is_none() && !queue.teardown {
            (queue.desired, queue.deploy) = (Some(workload), true);
        }
        self.start_commands();
    }

    fn end(&mut self, lease: LeaseId) {
        let queue = self.queues.entry(lease).or_default();
        queue.teardown = true;
        (queue.hold, queue.deploy) = (None, false);
        self.handle(ManifestInput::LeaseEnded { lease });
    }

    fn restart(&mut self, done: bool) {
        self.restarted = true;
        let queues = std::mem::take(&mut self.queues);
        for (lease, queue) in &queues {
            if let Some(command) = queue.running.as_ref().filter(|_| done) {
                self.carry_out(*lease, command);
            }
        }
        let now = self.world.now;
        self.world = World::new();
        self.world.now = now;
        self.unanswered.clear();
        let views: Vec<LeaseView> =
            self.kept.keys().filter_map(|lease| self.view(*lease)).collect();
        self.world.hostnames.see_all(&views);
        for view in views {
            let (workload, deployed) = self.kept[&view.id].clone();
            let queue = self.queues.entry(view.id).or_default();
            (queue.desired, queue.deploy) = (Some(workload), !deployed);
            self.world.leases.insert(view.id, view);
        }
        let ended: Vec<LeaseId> =
            self.kept.keys().copied().filter(|lease| !self.is_alive(*lease)).collect();
        ended.into_iter().for_each(|lease| self.end(lease));
        self.start_commands();
    }

    /// Everybody answers, and nobody asks for more.
    fn come_to_rest(&mut self) {
        for _ in 0..20 {
            for number in 0..DEPLOYMENTS {
                self.step(Step::Read(number, true));
                for _ in 0..4 {
                    self.step(Step::Finish(number, Ending::Done));
                }
                self.step(Step::Show(number));
            }
            self.step(Step::Pass(10));
        }
    }

    fn check_rest(&self) {
        assert!(self.unanswered.is_empty(), "never answered: {:?}", self.unanswered);
        assert_eq!(self.world.submissions.next_deadline(), None);
        assert!(self.queues.values().all(|queue| queue.running.is_none()), "never at rest");
        for (host, lease) in &self.leads {
            assert_eq!(self.world.hostnames.holder(host), Some(*lease), "{host}");
        }
        // What a living lease lists leads somewhere: to it, or to who has it instead. Who waits for
        // a name is not known after a restart, and then it may be free.
        for (lease, (workload, _)) in &self.kept {
            for host in hostnames::declared(&workload.group) {
                let holder = self.world.hostnames.holder(&host);
                assert_eq!(holder, self.leads.get(&host).copied(), "{host} of {lease}");
                assert!(holder.is_some() || self.restarted, "{host} of {lease} leads nowhere");
            }
        }
    }
}

/// The listed names that lead to a lease once it is deployed.
fn exposed(workload: &Workload) -> BTreeSet<String> {
    hostnames::declared(&workload.group).filter(|it| !workload.withheld.contains(it)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if std::env::var_os("AKASH_TEST_FULL").is_some() { 10_000 } else { 400 },
        ..ProptestConfig::default()
    })]

    /// No hostname is held by two leases, no manifest is accepted that is not held, every request
    /// is answered once, and in the end every name leads to its holder.
    #[test]
    fn nothing_is_taken_promised_or_forgotten(steps in prop::collection::vec(any_step(), 0..120)) {
        let mut model = Model::new();
        for step in steps {
            model.step(step);
        }
        model.come_to_rest();
        model.check_rest();
    }
}
