//! What must hold, compared with the truth: blocks of the chain, and what the cluster has.
//!
//! | file | invariants |
//! |---|---|
//! | `destruction` | 3: nothing is destroyed without evidence; 10: what runs is not written again |
//! | `absence` | 13: what was deployed is not closed for absence without a second evidence, and nothing is written to a cluster that is unknown |
//! | `capacity` | 4: no node is sold twice, no room counted twice; 5: every reservation has an owner |
//! | `intents` | 6: one effect for each intent; 7: bids within bounds; 12: no withdrawal after the end |
//! | `promises` | 8 and 9: no name taken from another tenant; 11: accepted is held |
//! | `rest` | 1, 2, 5, 6, 10, 12: where everything comes to rest once nothing goes wrong |
//!
//! The first four are looked at after every step that could break them.

mod absence;
mod capacity;
mod destruction;
mod intents;
mod promises;
mod rest;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use akash_chain::follow::BlockEffects;
use akash_chain::tx::TxHash;
use akash_devnet::node::Block;
use akash_sdl::{Manifest, Version};
use akash_types::{
    Action, Address, ChainEvent, DeploymentId, EscrowState, GroupSpec, IntentId, LeaseId, OrderId,
    Outcome,
};
use provider_engine::chain::{ChainAnswer, ChainReply, Read};
use provider_engine::cluster::view::{LeaseView, Name, Node, ViewChange};
use provider_engine::journal::Decision;
use provider_engine::{Effect, Input, RequestId, TenantRequest};
use provider_sim::core::SimCluster;

use super::scenario::Scenario;
use super::world::{Process, World};

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Number of the invariant.
    pub invariant: u8,
    pub what: String,
    /// Seed of the scenario.
    pub seed: u64,
    /// After which step.
    pub step: u64,
    /// When, since the beginning of the world.
    pub at: Duration,
}

/// What is true, and what was seen.
#[derive(Debug)]
pub(crate) struct Watch {
    own: Address,
    pub(crate) violations: Vec<Violation>,
    found: Vec<(u8, String)>,
    /// Own leases and the height at which each ended.
    leases: BTreeMap<LeaseId, Option<u64>>,
    /// Heights at which the engine last read that a lease's payment is open, in an open account.
    open_payments: BTreeMap<LeaseId, u64>,
    specs: BTreeMap<OrderId, GroupSpec>,
    /// Nodes as they were shown to the process.
    nodes: BTreeMap<Name, Node>,
    /// What the cluster has, as long as it can be asked.
    mirror: BTreeMap<LeaseId, LeaseView>,
    names: BTreeMap<String, LeaseId>,
    held_since: BTreeMap<LeaseId, Duration>,
    healthy_since: BTreeMap<LeaseId, Duration>,
    /// Heights at which own leases were made.
    created: BTreeMap<LeaseId, u64>,
    /// Leases that were ever deployed.
    deployed: BTreeSet<LeaseId>,
    /// Since when the cluster has something of a lease.
    present_since: BTreeMap<LeaseId, Duration>,
    /// Whether the process did not know its cluster after the last thing that it was told.
    unknown: bool,
    ended_by_operator: BTreeSet<LeaseId>,
    /// When the operator last accepted a cluster.
    accepted: Option<Duration>,
    /// When somebody else took objects of leases away, or brought them back.
    lost_at: Option<Duration>,
    now: Duration,
    /// What runs since the process started, without a break, and of whom it has heard since.
    ran: BTreeMap<LeaseId, Option<Version>>,
    heard: BTreeSet<DeploymentId>,
    fresh: bool,
    asked: BTreeMap<RequestId, (DeploymentId, Version)>,
    intents: BTreeMap<(u64, IntentId), (Action, Duration)>,
    signed: BTreeMap<TxHash, (u64, Vec<IntentId>)>,
    executed: BTreeSet<(u64, IntentId)>,
    peace: Option<Duration>,
    height: u64,
}

impl Watch {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self {
            own: scenario.provider.address,
            violations: Vec::new(),
            found: Vec::new(),
            leases: BTreeMap::new(),
            open_payments: BTreeMap::new(),
            specs: BTreeMap::new(),
            nodes: BTreeMap::new(),
            mirror: BTreeMap::new(),
            names: BTreeMap::new(),
            held_since: BTreeMap::new(),
            healthy_since: BTreeMap::new(),
            created: BTreeMap::new(),
            deployed: BTreeSet::new(),
            present_since: BTreeMap::new(),
            unknown: false,
            ended_by_operator: BTreeSet::new(),
            accepted: None,
            lost_at: None,
            now: Duration::ZERO,
            ran: BTreeMap::new(),
            heard: BTreeSet::new(),
            fresh: false,
            asked: BTreeMap::new(),
            intents: BTreeMap::new(),
            signed: BTreeMap::new(),
            executed: BTreeSet::new(),
            peace: None,
            height: 0,
        }
    }

    fn found(&mut self, invariant: u8, what: String) {
        self.found.push((invariant, what));
    }

    fn is_over(&self, lease: LeaseId) -> bool {
        self.leases.get(&lease).copied().flatten().is_some()
    }

    /// A tenant orders this.
    pub(crate) fn ordered(&mut self, order: OrderId, spec: GroupSpec) {
        self.specs.insert(order, spec);
    }

    /// A tenant sends this.
    pub(crate) fn asked(&mut self, request: RequestId, of: DeploymentId, manifest: &Manifest) {
        self.asked.insert(request, (of, manifest.version()));
    }

    pub(crate) fn block(&mut self, block: &Block, effects: &BlockEffects) {
        self.height = block.height();
        for event in effects.events.iter().map(|event| &event.event) {
            match event {
                ChainEvent::LeaseCreated { id, .. } if id.provider() == self.own => {
                    self.leases.insert(*id, None);
                    self.created.insert(*id, block.height());
                }
                ChainEvent::LeaseClosed { id, .. } if id.provider() == self.own => {
                    self.leases.insert(*id, Some(block.height()));
                }
                _ => {}
            }
        }
        self.included(block);
    }

    pub(crate) fn started(&mut self) {
        let deployed = |view: &LeaseView| {
            view.held.as_ref().filter(|held| held.deployed).map(|held| held.version)
        };
        self.ran =
            self.mirror.values().filter_map(|view| Some((view.id, deployed(view)?))).collect();
        self.heard.clear();
        self.unknown = false;
        self.fresh = false;
    }

    /// A process ends: nobody waits for its intents any more.
    pub(crate) fn died(&mut self, number: u64) {
        self.intents.retain(|(of, _), _| *of != number);
    }

    /// The engine is told something.
    pub(crate) fn told(&mut self, input: &Input) {
        match input {
            Input::View(ViewChange::Whole(view)) => {
                self.fresh = true;
                self.nodes.clone_from(&view.nodes);
            }
            Input::View(ViewChange::Node(name, node)) => {
                self.nodes.insert(name.clone(), node.clone());
            }
            Input::View(ViewChange::NodeGone(name)) => drop(self.nodes.remove(name)),
            Input::View(ViewChange::Lost) => self.fresh = false,
            Input::Tenant(_, TenantRequest::Manifest { deployment, .. }) => {
                self.heard.insert(*deployment);
            }
            Input::Chain(ChainReply { result: Ok(read), .. }) => self.payments_read(read),
            _ => {}
        }
    }

    fn payments_read(&mut self, read: &Read) {
        let ChainAnswer::Account(found) = &read.answer else { return };
        let Some(account) = &found.account else { return };
        for payment in &found.payments {
            let lease = payment.id.lease_id();
            if (account.state, payment.state) == (EscrowState::Open, EscrowState::Open) {
                self.open_payments.insert(lease, read.height);
            } else {
                self.open_payments.remove(&lease);
            }
        }
    }

    /// True if the engine read after the end of a lease that the chain left its payment open, so that
    /// only a withdrawal pays it out.
    fn is_left_open(&self, lease: LeaseId) -> bool {
        let ended = self.leases.get(&lease).copied().flatten();
        let read = self.open_payments.get(&lease);
        ended.zip(read).is_some_and(|(ended, read)| *read >= ended)
    }

    /// The engine wants this done.
    pub(crate) fn effects(&mut self, effects: &[Effect], process: &Process, now: Duration) {
        self.now = now;
        self.writes_unknown(effects, &process.engine);
        self.bookings(&process.engine);
        self.journal_agrees(effects);
        for (index, effect) in effects.iter().enumerate() {
            match effect {
                Effect::Submit(intent) => {
                    self.submitted(intent, process, now);
                    self.closes(intent, now);
                    self.closes_absent(intent, now);
                }
                Effect::Command(command) => self.commanded(&command.operation),
                // What was let go later in the same turn was not free yet.
                Effect::Record(entry) if !effects.iter().skip(index + 1).any(lets_go) => {
                    self.declined(entry, &process.engine);
                }
                Effect::Reply(request, reply) => self.replied(*request, reply),
                _ => {}
            }
        }
    }

    /// The lane ended an intent.
    pub(crate) fn done(&mut self, number: u64, intent: IntentId, outcome: &Outcome) {
        if self.intents.remove(&(number, intent)).is_none() {
            self.found(6, format!("intent {intent} of process {number} ended again: {outcome:?}"));
        }
    }

    /// The world does not come to its end.
    pub(crate) fn stuck(&mut self) {
        self.found(10, "the scenario turns in circles".to_owned());
    }

    /// How many leases the provider had.
    pub(crate) fn lease_count(&self) -> u64 {
        u64::try_from(self.leases.len()).unwrap_or(u64::MAX)
    }

    /// Nothing goes wrong any more.
    pub(crate) const fn peace(&mut self, now: Duration) {
        self.peace = Some(now);
    }
}

/// Whether room became free.
fn lets_go(effect: &Effect) -> bool {
    let Effect::Record(entry) = effect else { return false };
    matches!(entry.decision, Decision::Ended(_) | Decision::Gone | Decision::CloseBid(_))
}

impl World {
    /// Whatever was found in this step is put down.
    pub(crate) fn after_step(&mut self) {
        for (invariant, what) in std::mem::take(&mut self.watch.found) {
            let (seed, step, at) = (self.scenario.seed, self.steps, self.now);
            self.trace.note(|| format!("VIOLATION of {invariant}: {what}"));
            self.watch.violations.push(Violation { invariant, what, seed, step, at });
        }
    }

    pub(crate) const fn truth(&self) -> &SimCluster {
        &self.cluster
    }
}
