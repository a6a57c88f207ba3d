//! Deliberate mistakes, so that what looks for mistakes can be tested.
//!
//! Most are made around the engine: what it is told, or wants, is changed on the way. Two are about
//! what it counts, and are switched on in it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

use akash_types::{Action, Intent, IntentId, LeaseClosedReason, LeaseId, LeaseState, OrderId};
use provider_engine::chain::{ChainQuery, QueryId};
use provider_engine::cluster::command::{Command, CommandId, Operation};
use provider_engine::defect::Miscount;
use provider_engine::journal::{Decision, Subject};
use provider_engine::lease::{Stage, WaitKind};
use provider_engine::reconcile::Evidence;
use provider_engine::time::Now;
use provider_engine::{Effect, Engine, Input, Settings};

/// Ids of intents and commands that the engine does not know begin here.
const FOREIGN: u64 = 1 << 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// What runs and what is booked for it are both taken off what is free.
    DoubleCounting,
    /// A lease of which the chain could not be asked is taken for one that is over.
    TeardownOnUnknown,
    /// Some bids are noted and not handed to the lane.
    LostIntent,
    /// Nothing is kept for some orders that get a bid.
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
        let mut engine = Engine::new(settings);
        match defect {
            Some(Defect::DoubleCounting) => engine.miscount(Miscount::Twice),
            Some(Defect::ForgottenReservation) => engine.miscount(Miscount::Forgotten),
            _ => {}
        }
        Self {
            engine,
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
