//! Submissions, from the request to the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use akash_sdl::manifest::Group;
use akash_sdl::{Manifest, Version};
use akash_types::{DeploymentId, GroupId, LeaseId};

use super::check::{Plan, check, fits};
use super::hostnames::{declared, generated_hosts};
use super::input::{Turn, requests};
use super::migration::Migration;
use super::subject::{Holding, Reading, Subject, Submission, Waiter};
use super::{
    Hostnames, ManifestAction, ManifestInput, ManifestRefusal, ManifestSettings, RequestId,
};
use crate::chain::{DeploymentRead, Unavailable};
use crate::cluster::command::{CommandFailure, Workload};
use crate::cluster::view::{IgnoredOptions, LeaseView};
use crate::input::{Received, TenantRequest};
use crate::journal::Decision;
use crate::time::Now;

/// All submissions and migrations that are under way.
#[derive(Clone, Debug)]
pub struct Submissions {
    settings: ManifestSettings,
    subjects: BTreeMap<DeploymentId, Subject>,
    /// The newest workload that the cluster was given for a lease, until it shows it.
    pub(super) told: BTreeMap<LeaseId, Told>,
    pub(super) migrations: Vec<Migration>,
    /// How many inputs there were: tells what came before what.
    turns: u64,
}

/// A workload that the cluster was given.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) workload: Arc<Workload>,
    pub(super) answer: HoldAnswer,
    /// The one before it, unless the cluster refused that.
    pub(super) earlier: Option<Version>,
}

/// What the cluster said to a workload that it should keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HoldAnswer {
    None,
    Held,
    /// It may keep it or not, since then.
    Unknown(Now),
}

impl Submissions {
    /// None yet.
    pub fn new(settings: ManifestSettings) -> Self {
        Self {
            settings,
            subjects: BTreeMap::new(),
            told: BTreeMap::new(),
            migrations: Vec::new(),
            turns: 0,
        }
    }

    pub fn configure(&mut self, settings: ManifestSettings) {
        self.settings = settings;
    }

    /// What is to be done about `input`. `leases` is what the cluster showed last; `hostnames` has
    /// seen the same.
    pub fn handle(
        &mut self,
        now: Now,
        input: ManifestInput,
        leases: &BTreeMap<LeaseId, LeaseView>,
        hostnames: &mut Hostnames,
    ) -> Vec<ManifestAction> {
        self.turns += 1;
        let mut turn = Turn { now, leases, hostnames, actions: Vec::new() };
        match input {
            ManifestInput::Tenant(request, wanted) => self.tenant(request, wanted, &mut turn),
            ManifestInput::Read { deployment, height, result } => {
                self.on_subject(deployment, &mut turn, |this, subject, turn| {
                    this.read(deployment, subject, height, result, turn);
                });
            }
            ManifestInput::HoldEnded { lease, version, result } => {
                self.hold_ended(lease, version, result, &mut turn);
            }
            ManifestInput::DeployEnded { workload, result } => {
                self.deploy_ended(&workload, &result, &mut turn);
            }
            ManifestInput::LeaseEnded { lease } => self.lease_ended(lease, &mut turn),
            ManifestInput::Tick => self.tick(&mut turn),
        }
        turn.actions
    }

    /// When the next request will have waited long enough, or something can be forgotten; a
    /// [`ManifestInput::Tick`] is due then.
    pub fn next_deadline(&self) -> Option<Now> {
        let age = self.settings.cached_result_max_age;
        let subjects = self.subjects.values().filter_map(|subject| subject.deadline(age));
        let migrations = self.migrations.iter().map(|migration| migration.waiter.deadline);
        subjects.chain(migrations).min()
    }

    /// Which of the hostnames that `group` lists the lease may not have, now that it is to be
    /// deployed; those that it may have are its own from here on. Every deployment asks.
    pub fn withheld(
        &self,
        lease: LeaseId,
        group: &Group,
        hostnames: &mut Hostnames,
    ) -> Vec<String> {
        hostnames.ask(lease, self.hosts(lease, group))
    }

    /// All hostnames of a lease: those it lists and those it gets without asking.
    pub(super) fn hosts(&self, lease: LeaseId, group: &Group) -> BTreeSet<String> {
        let mut hosts: BTreeSet<String> = declared(group).collect();
        if let Some(domain) = &self.settings.generated_under {
            hosts.extend(generated_hosts(lease, group, domain));
        }
        hosts
    }

    pub(super) fn waiter(&self, request: RequestId, now: Now) -> Waiter {
        Waiter { request, deadline: now.after(self.settings.submit_timeout) }
    }

    /// Lends out a subject, which is remembered as long as something is under way.
    fn on_subject(
        &mut self,
        deployment: DeploymentId,
        turn: &mut Turn<'_>,
        act: impl FnOnce(&mut Self, &mut Subject, &mut Turn<'_>),
    ) {
        let Some(mut subject) = self.subjects.remove(&deployment) else { return };
        act(self, &mut subject, turn);
        if !subject.is_idle() {
            self.subjects.insert(deployment, subject);
        }
    }

    fn tenant(&mut self, request: RequestId, wanted: TenantRequest, turn: &mut Turn<'_>) {
        // Numbers that no group has name none.
        let group =
            |owner, dseq, gseq| GroupId::new(DeploymentId::new(owner, dseq).ok()?, gseq).ok();
        match wanted {
            TenantRequest::Manifest { deployment, manifest, received } => {
                self.submit(request, deployment, (manifest, received), turn);
            }
            TenantRequest::MigrateHostnames { hostnames, owner, dseq, gseq } => {
                self.migrate_hostnames(request, &hostnames, group(owner, dseq, gseq), turn);
            }
            TenantRequest::MigrateEndpoints { endpoints, owner, dseq, gseq } => {
                self.migrate_endpoints(request, endpoints, group(owner, dseq, gseq), turn);
            }
        }
    }

    fn submit(
        &mut self,
        request: RequestId,
        deployment: DeploymentId,
        (manifest, received): (Arc<Manifest>, Received),
        turn: &mut Turn<'_>,
    ) {
        let version = manifest.version();
        let checked = fits(&manifest).and_then(|()| Ok(manifest.validate()?));
        if let Err(refusal) = checked {
            turn.refuse(deployment, [request], &refusal);
            return;
        }
        let waiter = self.waiter(request, turn.now);
        let submission = Submission { waiter, manifest, version, received, arrived: self.turns };
        self.subjects.entry(deployment).or_default().waiting.push(submission);
        let age = self.settings.cached_result_max_age;
        self.on_subject(deployment, turn, |this, subject, turn| {
            if subject.known.as_ref().is_some_and(|known| turn.now.since(known.at) <= age) {
                this.judge(deployment, subject, turn);
            } else {
                this.read_if_needed(deployment, subject, turn);
            }
        });
    }

    /// Begins a read if submissions wait for one; those that wait share it.
    fn read_if_needed(&self, deployment: DeploymentId, subject: &mut Subject, turn: &mut Turn<'_>) {
        if subject.reading.is_none() && !subject.waiting.is_empty() {
            subject.reading = Some(Reading { begun: self.turns, since: turn.now });
            turn.actions.push(ManifestAction::Read(deployment));
        }
    }

    fn read(
        &mut self,
        deployment: DeploymentId,
        subject: &mut Subject,
        height: u64,
        result: Result<Option<DeploymentRead>, Unavailable>,
        turn: &mut Turn<'_>,
    ) {
        // Nobody asked, or asks any more.
        let Some(reading) = subject.reading.take() else { return };
        match result {
            Ok(Some(facts)) => {
                subject.learn(facts, height, reading.begun, turn.now);
                self.judge(deployment, subject, turn);
            }
            Ok(None) => {
                subject.known = None;
                let refusal = ManifestRefusal::UnknownDeployment(deployment);
                let asked = |submission: &mut Submission| submission.arrived <= reading.begun;
                turn.refuse_waiting(deployment, subject, asked, &refusal);
                self.read_if_needed(deployment, subject, turn);
            }
            Err(unavailable) => {
                let refusal = ManifestRefusal::Chain(unavailable);
                turn.refuse_waiting(deployment, subject, |_| true, &refusal);
            }
        }
    }

    /// Judges all that wait by what is known. A refusal stands only if the chain was asked after
    /// the submission came.
    fn judge(&mut self, deployment: DeploymentId, subject: &mut Subject, turn: &mut Turn<'_>) {
        let Some(known) = subject.known.take() else { return };
        for submission in std::mem::take(&mut subject.waiting) {
            let Submission { waiter, manifest, version, received, arrived } = &submission;
            let version = received.version(*version, known.facts.deployment.hash);
            let plan = check(manifest, version, &known.facts, &self.settings, turn.hostnames);
            match plan {
                Ok(plan) => {
                    self.hold(deployment, subject, (*waiter, version, received), plan, turn);
                }
                Err(refusal) if *arrived <= known.begun => {
                    turn.refuse(deployment, [waiter.request], &refusal);
                }
                Err(_) => subject.waiting.push(submission),
            }
        }
        subject.known = Some(known);
        self.read_if_needed(deployment, subject, turn);
    }

    /// Has the cluster keep a valid manifest, which is the newest there is: only one can have the
    /// hash that stands on chain.
    fn hold(
        &mut self,
        deployment: DeploymentId,
        subject: &mut Subject,
        (waiter, version, received): (Waiter, Version, &Received),
        plan: Plan,
        turn: &mut Turn<'_>,
    ) {
        if let Some(older) = subject.holding.take_if(|holding| holding.version != version) {
            let on_chain = *version.as_bytes();
            let refusal = ManifestRefusal::Version { sent: older.version, on_chain };
            turn.refuse(deployment, requests(&older.waiters), &refusal);
        }
        let holding = subject.holding.get_or_insert_with(|| Holding {
            version,
            waiters: Vec::new(),
            leases: BTreeSet::new(),
            left: BTreeSet::new(),
        });
        holding.waiters.push(waiter);
        for (lease, group) in plan {
            if holding.leases.insert(lease) && !self.runs(lease, version, turn.leases) {
                holding.left.insert(lease);
                let ignored = received.ignored_in(&group.name);
                self.hold_one(lease, version, (group, ignored), turn);
            }
        }
        turn.accept_if_held(subject);
    }

    fn hold_one(
        &mut self,
        lease: LeaseId,
        version: Version,
        (group, ignored): (Arc<Group>, IgnoredOptions),
        turn: &mut Turn<'_>,
    ) {
        let withheld = self.withheld(lease, &group, turn.hostnames);
        if !withheld.is_empty() {
            turn.note_lease(lease, Decision::Withheld(withheld.clone()));
        }
        let cards = BTreeMap::new();
        let version = Some(version);
        let workload = Workload {
            lease,
            version,
            group,
            cards,
            withheld,
            endpoints_to_take: Vec::new(),
            ignored,
        };
        let workload = Arc::new(workload);
        let earlier = self.told.get(&lease).and_then(|told| told.workload.version);
        let (given, answer) = (Arc::clone(&workload), HoldAnswer::None);
        self.told.insert(lease, Told { workload: given, answer, earlier });
        turn.actions.push(ManifestAction::Hold(workload));
    }

    /// Whether the lease runs this manifest, and nothing else was sent to the cluster since.
    fn runs(
        &self,
        lease: LeaseId,
        version: Version,
        leases: &BTreeMap<LeaseId, LeaseView>,
    ) -> bool {
        let held = leases.get(&lease).and_then(|view| view.held.as_ref());
        held.is_some_and(|held| held.deployed && held.version == Some(version))
            && self.told.get(&lease).is_none_or(|told| told.workload.version == Some(version))
    }

    fn hold_ended(
        &mut self,
        lease: LeaseId,
        version: Version,
        result: Result<(), CommandFailure>,
        turn: &mut Turn<'_>,
    ) {
        let Some(told) = self.told.get_mut(&lease) else { return };
        if told.workload.version != Some(version) {
            // An older one than the newest says nothing any more, but that it is not held.
            let is_refused = matches!(result, Err(CommandFailure::Refused(_)));
            told.earlier.take_if(|earlier| is_refused && *earlier == version);
            return;
        }
        let refusal = match result {
            Ok(()) => {
                told.answer = HoldAnswer::Held;
                None
            }
            Err(CommandFailure::Unavailable(why)) => {
                told.answer = HoldAnswer::Unknown(turn.now);
                Some(ManifestRefusal::ClusterUnavailable(why))
            }
            Err(CommandFailure::Refused(why)) => {
                self.forget_told(lease, turn);
                Some(ManifestRefusal::ClusterRefused(why))
            }
        };
        let deployment = lease.deployment_id();
        self.on_subject(deployment, turn, |_, subject, turn| {
            let Some(holding) = subject.holding.as_mut().filter(|it| it.version == version) else {
                return;
            };
            match refusal {
                None => {
                    holding.left.remove(&lease);
                }
                Some(refusal) => {
                    turn.refuse(deployment, requests(&holding.waiters), &refusal);
                    subject.holding = None;
                }
            }
            turn.accept_if_held(subject);
        });
    }

    /// The cluster does not keep what it was told: the lease has what it had before.
    fn forget_told(&mut self, lease: LeaseId, turn: &mut Turn<'_>) {
        let earlier = self.told.remove(&lease).and_then(|told| told.earlier);
        let before = turn.leases.get(&lease).and_then(|view| view.held.as_ref());
        let before = before.map(|held| self.hosts(lease, &held.group)).unwrap_or_default();
        turn.hostnames.refuse(lease, &before);
        // Nothing older can come up in the cluster any more.
        if earlier.is_none() {
            turn.hostnames.stop_lingering(lease, &before);
        }
    }

    fn lease_ended(&mut self, lease: LeaseId, turn: &mut Turn<'_>) {
        self.told.remove(&lease);
        turn.hostnames.end(lease);
        self.abandon_migrations_to(lease, turn);
        let deployment = lease.deployment_id();
        self.on_subject(deployment, turn, |_, subject, turn| {
            subject.known = None;
            subject.ended.insert(lease);
            let Some(holding) = &mut subject.holding else { return };
            holding.leases.remove(&lease);
            holding.left.remove(&lease);
            if holding.leases.is_empty() {
                let requests = requests(&holding.waiters);
                turn.refuse(deployment, requests, &ManifestRefusal::NoLease);
                subject.holding = None;
            }
            turn.accept_if_held(subject);
        });
        turn.give_freed_names();
    }

    fn tick(&mut self, turn: &mut Turn<'_>) {
        let now = turn.now;
        let (timeout, age) = (self.settings.submit_timeout, self.settings.cached_result_max_age);
        let deployments: Vec<DeploymentId> = self.subjects.keys().copied().collect();
        for deployment in deployments {
            self.on_subject(deployment, turn, |this, subject, turn| {
                turn.expire(deployment, subject);
                subject.known.take_if(|known| now.since(known.at) > age);
                // A read that never came back does not hold up those who came later.
                subject.reading.take_if(|reading| now.since(reading.since) >= timeout);
                this.read_if_needed(deployment, subject, turn);
            });
        }
        self.expire_migrations(turn);
        self.review_told(turn);
        turn.give_freed_names();
    }

    /// Drops what the cluster shows by now, and what it still does not show long after it was
    /// unknown whether it keeps it: the tenant heard that it was not accepted.
    fn review_told(&mut self, turn: &mut Turn<'_>) {
        let mut never = Vec::new();
        self.told.retain(|lease, told| {
            let held = turn.leases.get(lease).and_then(|view| view.held.as_ref());
            let shown = held.is_some_and(|held| held.version == told.workload.version);
            match told.answer {
                HoldAnswer::None => true,
                HoldAnswer::Held => !shown,
                HoldAnswer::Unknown(since) => {
                    if turn.now.since(since) >= self.settings.submit_timeout && !shown {
                        never.push(*lease);
                    }
                    !shown
                }
            }
        });
        never.into_iter().for_each(|lease| self.forget_told(lease, turn));
    }
}
