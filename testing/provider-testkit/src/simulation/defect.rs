//! Deliberate mistakes, so that what looks for mistakes can be tested.
//!
//! They are made around the engine: what it receives, or wants, is changed on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

use akash_types::{Action, Intent, IntentId, LeaseClosedReason, LeaseId, LeaseState, OrderId};
use provider_engine::chain::{ChainQuery, QueryId};
use provider_engine::cluster::command::{Command, CommandId, Operation};
use provider_engine::cluster::view::{Amounts, LeaseView, Name, Node, ViewChange};
use provider_engine::journal::{Decision, Subject};
use provider_engine::lease::{Stage, WaitKind};
use provider_engine::reconcile::Evidence;
use provider_engine::time::Now;
use provider_engine::{Effect, Engine, Input, Settings};

/// Ids of intents and commands that the engine does not know begin here.
const FOREIGN: u64 = 1 << 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// What runs is taken off what is free twice: nodes are shown as if others had as much again.
    DoubleCounting,
    /// A lease of which the chain could not be asked is taken for one that is over.
    TeardownOnUnknown,
    /// Some bids are noted and not handed to the lane.
    LostIntent,
    /// What is reserved for some orders is not taken off what is free: nodes are shown as if they
    /// had as much more.
    ForgottenReservation,
    /// Everything found at the start is written again.
    RedeployAtStart,
    /// Money is collected once more when a lease is over.
    WithdrawAfterClose,
    /// The tenant hears yes although the cluster did not keep the manifest.
    EmptyPromise,
    /// A lease that the cluster has nothing of is closed as soon as it is found to be so.
    CloseOnAbsence,
}

impl Defect {
    pub const ALL: [Self; 8] = [
        Self::DoubleCounting,
        Self::TeardownOnUnknown,
        Self::LostIntent,
        Self::ForgottenReservation,
        Self::RedeployAtStart,
        Self::WithdrawAfterClose,
        Self::EmptyPromise,
        Self::CloseOnAbsence,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::DoubleCounting => "double counting",
            Self::TeardownOnUnknown => "teardown on unknown",
            Self::LostIntent => "lost intent",
            Self::ForgottenReservation => "forgotten reservation",
            Self::RedeployAtStart => "redeploy at start",
            Self::WithdrawAfterClose => "withdraw after close",
            Self::EmptyPromise => "empty promise",
            Self::CloseOnAbsence => "close on absence",
        }
    }
}

/// An engine, and the mistake that is made around it, if there is one.
pub(crate) struct FaultyEngine {
    engine: Engine,
    defect: Option<Defect>,
    next: u64,
    /// Orders that the chain is asked about, and commands that hold manifests.
    asked: BTreeMap<QueryId, OrderId>,
    holds: BTreeSet<CommandId>,
    has_redeployed: bool,
    closed: BTreeSet<LeaseId>,
}

impl FaultyEngine {
    pub(crate) fn new(settings: Settings, defect: Option<Defect>) -> Self {
        Self {
            engine: Engine::new(settings),
            defect,
            next: FOREIGN,
            asked: BTreeMap::new(),
            holds: BTreeSet::new(),
            has_redeployed: false,
            closed: BTreeSet::new(),
        }
    }

    pub(crate) fn handle(&mut self, now: Now, mut input: Input) -> Vec<Effect> {
        let Some(defect) = self.defect else { return self.engine.handle(now, input) };
        let mut more = Vec::new();
        match (defect, &mut input) {
            (Defect::TeardownOnUnknown, Input::Chain(reply)) if reply.result.is_err() => {
                more.extend(self.asked.remove(&reply.id).and_then(|order| self.tear_down(order)));
            }
            (Defect::EmptyPromise, Input::Command(answer)) if self.holds.remove(&answer.id) => {
                answer.result = Ok(());
            }
            (_, Input::View(change)) => self.miscount(defect, change),
            _ => {}
        }
        let mut effects = self.engine.handle(now, input);
        match defect {
            Defect::LostIntent => effects.retain(|effect| !is_lost(effect)),
            Defect::RedeployAtStart => more.extend(self.redeploy()),
            Defect::CloseOnAbsence => more.extend(self.close_absent()),
            _ => {}
        }
        for effect in &effects {
            match effect {
                Effect::Query(id, ChainQuery::Standing(order)) => {
                    self.asked.insert(*id, *order);
                }
                Effect::Command(Command { id, operation: Operation::Hold(_) }) => {
                    self.holds.insert(*id);
                }
                Effect::Record(entry) if defect == Defect::WithdrawAfterClose => {
                    if let (Subject::Order(order), Decision::Teardown(_)) =
                        (&entry.subject, &entry.decision)
                    {
                        more.extend(
                            self.lease_of(*order)
                                .map(|lease| Action::Withdraw { lease })
                                .map(|it| self.submit(it)),
                        );
                    }
                }
                _ => {}
            }
        }
        effects.extend(more);
        effects
    }

    /// Shows nodes with less room than they have, or with more.
    fn miscount(&self, defect: Defect, change: &mut ViewChange) {
        match change {
            ViewChange::Whole(view) => {
                let (nodes, leases) = (&mut view.nodes, &view.leases);
                nodes.iter_mut().for_each(|(name, node)| {
                    self.miscount_node(defect, (name, node), leases.values());
                });
            }
            ViewChange::Node(name, node) => {
                let leases = self.engine.cluster_view().leases.values();
                self.miscount_node(defect, (name, node), leases);
            }
            _ => {}
        }
    }

    fn miscount_node<'a>(
        &self,
        defect: Defect,
        (name, node): (&Name, &mut Node),
        leases: impl Iterator<Item = &'a LeaseView>,
    ) {
        match defect {
            Defect::DoubleCounting => {
                let pods = leases.flat_map(|lease| &lease.replicas);
                for pod in pods.filter(|pod| pod.node.as_ref() == Some(name)) {
                    add(&mut node.others, pod.asks, 1);
                }
            }
            Defect::ForgottenReservation => {
                let forgotten =
                    self.engine.records().filter(|record| record.id.dseq().is_multiple_of(3));
                let units = forgotten.filter_map(|it| it.booking.as_ref()).flat_map(|it| &it.units);
                for (unit, (_, count)) in units
                    .flat_map(|unit| unit.plan.iter().map(move |plan| (unit, plan)))
                    .filter(|(_, (planned, _))| planned == name)
                {
                    add(&mut node.others, unit.need.asks, -i64::from(*count));
                }
            }
            _ => {}
        }
    }

    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn lease_of(&self, order: OrderId) -> Option<LeaseId> {
        let record = self.engine.records().find(|record| record.id == order)?;
        record.lease().map(|lease| lease.id)
    }

    fn submit(&mut self, action: Action) -> Effect {
        let height = self.engine.status().height;
        Effect::Submit(Intent::new(IntentId(self.next()), action, height))
    }

    fn command(&mut self, operation: Operation) -> Effect {
        Effect::Command(Command { id: CommandId(self.next()), operation })
    }

    fn tear_down(&mut self, order: OrderId) -> Option<Effect> {
        let lease = self.lease_of(order)?;
        let evidence = Evidence::new(LeaseState::Closed, None, 0, 1)?;
        Some(self.command(Operation::Teardown { lease, evidence }))
    }

    fn redeploy(&mut self) -> Vec<Effect> {
        if self.has_redeployed || !self.engine.may_act() {
            return Vec::new();
        }
        self.has_redeployed = true;
        let leases = self.engine.records().filter_map(|record| record.lease()?.workload.clone());
        let workloads: Vec<_> = leases.collect();
        workloads.into_iter().map(|workload| self.command(Operation::Deploy(workload))).collect()
    }

    fn close_absent(&mut self) -> Vec<Effect> {
        let is_absent = |stage: &Stage| matches!(stage, Stage::AwaitingManifest(wait) if wait.kind != WaitKind::Created);
        let leases = self.engine.records().filter_map(|record| record.lease());
        let absent = leases.filter(|lease| lease.is_alive() && is_absent(&lease.stage));
        let absent: Vec<_> = absent.map(|lease| lease.id).collect();
        let reason = LeaseClosedReason::MANIFEST_TIMEOUT;
        let new: Vec<_> = absent.into_iter().filter(|lease| self.closed.insert(*lease)).collect();
        new.into_iter()
            .map(|lease| self.submit(Action::CloseBid { bid: lease.bid_id(), reason }))
            .collect()
    }
}

const fn add(to: &mut Amounts, each: Amounts, count: i64) {
    to.cpu_milli += each.cpu_milli * count;
    to.memory += each.memory * count;
    to.ephemeral += each.ephemeral * count;
    to.gpu += each.gpu * count;
}

/// Whether the effect is one of the bids that get lost.
fn is_lost(effect: &Effect) -> bool {
    let Effect::Submit(Intent { action: Action::CreateBid(offer), .. }) = effect else {
        return false;
    };
    offer.id.dseq().is_multiple_of(3)
}

impl Deref for FaultyEngine {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl DerefMut for FaultyEngine {
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}
