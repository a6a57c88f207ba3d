//! Leases: their steps, and what they want done.

use std::sync::Arc;
use std::time::Duration;

use akash_types::{Action, Class, Intent, Lease, LeaseClosedReason, LeaseId, Order, OrderId};

use crate::chain::ChainQuery;
use crate::cluster::command::{Operation, Workload};
use crate::cluster::sight::SightTime;
use crate::effect::{Effect, Fact};
use crate::engine::intents::{Begun, IntentKey};
use crate::engine::{Engine, Stage, Timer};
use crate::escrow::EscrowInput;
use crate::journal::{Decision, SpareReason};
use crate::lease::{
    self, Health, LeaseAction, LeaseCause, LeaseContext, LeaseInput, LeaseRecord, OnChain,
    Presence, Safeguard, Sighting, WaitKind,
};
use crate::manifest::ManifestInput;
use crate::reconcile::{Evidence, Verdict};

/// How long a lease whose wait is over and that is not closed is left alone, in block time.
const RECHECK: Duration = Duration::from_secs(60);

impl Engine {
    /// An order is a lease of ours from now on.
    pub(crate) fn become_lease(
        &mut self,
        order: OrderId,
        lease: &Lease,
        known: Option<Arc<Order>>,
    ) {
        let Some(Stage::Order(_)) = self.records.stage(order) else { return };
        let wait = self.first_wait(order, lease.created_at);
        let stage = Stage::Lease(Box::new(LeaseRecord::new(lease, known, wait)));
        self.records.update(order, |record| record.stage = stage);
        self.schedule.deadlines.clear(&order);
        self.note_order(order, Decision::Won(lease.price.clone()));
        self.publish(Fact::LeaseStarted(lease.id));
        // Found after its end, because the cluster still has something of it.
        if let OnChain::Over { state, reason, .. } = OnChain::of(lease, 0) {
            self.publish(Fact::LeaseOver { lease: lease.id, state, reason });
        }
        self.book_lease(order);
        let started = EscrowInput::LeaseStarted { lease: lease.id, created_at: lease.created_at };
        self.escrow(started);
        match wait.until {
            Some(until) => self.wait_until(order, until),
            None if wait.kind == WaitKind::Found => self.ask_time(order, lease.created_at),
            None => {}
        }
        // Announced before a restart: its deadline is on chain.
        let looked = LeaseInput::Looked(Box::new(lease.clone()), 0);
        if lease.state == akash_types::LeaseState::Reclaiming {
            self.step_lease(order, looked);
        }
        if self.cluster.fresh {
            self.lease_in_view(lease.id);
        }
    }

    /// Steps a lease of ours by what a fresh view shows of it.
    pub(crate) fn lease_in_view(&mut self, id: LeaseId) {
        self.observe_lease(id);
        self.step_lease(id.order_id(), LeaseInput::Seen(self.sighting(id)));
    }

    pub(crate) fn step_lease(&mut self, order: OrderId, input: LeaseInput) {
        let context = self.lease_context();
        let Some(lease) = self.records.lease_mut(order) else { return };
        let (was_alive, before) = (lease.is_alive(), lease.stage_name());
        let is_sighting = matches!(input, LeaseInput::Seen(_)) && lease.workload.is_none();
        let actions = lease.step(input, &context);
        let (id, chain, alive) = (lease.id, lease.chain, lease.is_alive());
        let is_deploying = matches!(lease.stage, lease::Stage::Deploying);
        let adopted = lease.workload.as_ref().filter(|_| is_sighting && !is_deploying);
        let adopted = adopted.map(|workload| Decision::Adopted { version: workload.version });
        let shown = (lease.stage_name() != before).then(|| noted(lease)).flatten();
        let healthy = matches!(lease.stage, lease::Stage::Running);
        for decision in adopted.into_iter().chain(shown) {
            self.note_order(order, decision);
        }
        if let (true, OnChain::Over { state, reason, .. }) = (was_alive, chain) {
            self.publish(Fact::LeaseOver { lease: id, state, reason });
            self.recognize();
        }
        if healthy || !alive {
            self.clear_breaker(order);
        }
        for action in actions {
            self.act_for_lease(order, id, action);
        }
    }

    fn act_for_lease(&mut self, order: OrderId, id: LeaseId, action: LeaseAction) {
        match action {
            LeaseAction::Look => self.ask(ChainQuery::Standing(order)),
            LeaseAction::LookAfter(height) => {
                self.ask_at_least(ChainQuery::Standing(order), height.saturating_add(1));
            }
            LeaseAction::Deploy(workload) => self.deploy(order, &workload),
            LeaseAction::Teardown(evidence) => self.tear_down(order, id, evidence),
            LeaseAction::CloseBid(reason) => self.close_lease(order, id, reason),
            LeaseAction::StartReclaim(reason) => self.reclaim(order, id, reason),
            LeaseAction::ProposeClose(cause) => self.propose_close(order, cause),
            LeaseAction::CheckLater => self.check_later(order),
            LeaseAction::WakeAt(time) => self.schedule.deadlines.set(order, time),
            LeaseAction::WaitUntil(until) => self.wait_until(order, until),
            LeaseAction::End => self.end_lease(order, id),
        }
    }

    /// Until when checks wait: the retry period, and a share of the jitter that is the lease's.
    pub(crate) fn check_later(&mut self, order: OrderId) {
        let jitter = self.settings.check_jitter / 64;
        let share = u32::try_from(order.dseq().wrapping_mul(0x9E37_79B9) % 64).unwrap_or(0);
        let wait = self.settings.check_period.saturating_add(jitter.saturating_mul(share));
        self.schedule.timers.set_if_unset(Timer::Check(order), self.now.after(wait));
    }

    pub(crate) fn check_lease(&mut self, order: OrderId) {
        let Some(lease) = self.records.lease(order) else { return };
        let id = lease.id;
        // Nothing is counted while the cluster is out of sight, nor while a command that would bring
        // back what is missing has no answer: unknown is not bad.
        let is_deploying = !lease.is_present() && lease.is_live() && self.commands.is_busy(id);
        if !self.cluster.fresh || !self.may_act() || is_deploying {
            return self.check_later(order);
        }
        self.step_lease(order, LeaseInput::Checked(self.sighting(id)));
    }

    pub(crate) fn lease_deadline(&mut self, order: OrderId) {
        let Some(lease) = self.records.lease(order) else { return };
        let until = lease.wait().and_then(|wait| wait.until);
        let in_sight = self.cluster.fresh && self.may_act();
        let nothing = !lease.is_present() && !self.commands.is_busy(lease.id);
        let waited = until.is_some_and(|until| until <= self.lease_context().sight);
        let waited = waited && in_sight && nothing;
        self.step_lease(order, LeaseInput::Deadline { waited });
        let still = self.records.lease(order).and_then(|lease| lease.wait());
        if let Some(until) = still.and_then(|wait| wait.until) {
            self.wait_until(order, until);
        }
    }

    /// Looks at the wait of a lease when it may be over; if it is and the lease is still there,
    /// a little later.
    fn wait_until(&mut self, order: OrderId, until: SightTime) {
        let left = until.since(self.lease_context().sight);
        let wait = if left.is_zero() { RECHECK } else { left };
        self.schedule.deadlines.set_if_unset(order, self.head.time().after(wait));
    }

    /// What a fresh view shows of a lease.
    pub(crate) fn sighting(&self, id: LeaseId) -> Sighting {
        let wanted = self.records.lease(id.order_id());
        let wanted = wanted.and_then(|lease| lease.workload.as_ref());
        let Some(view) = self.cluster.view.leases.get(&id) else {
            let service = wanted.and_then(|workload| workload.group.services.first());
            let service = service.map(|service| service.name.clone()).unwrap_or_default();
            let health = Health::Missing { service };
            return Sighting { present: false, terminating: false, held: None, health };
        };
        let held = view.held.as_ref().map(|held| {
            let workload = Workload {
                lease: id,
                version: held.version,
                group: Arc::clone(&held.group),
                cards: held.cards.clone(),
                withheld: Vec::new(),
                endpoints_to_take: Vec::new(),
                ignored: held.ignored.clone(),
            };
            (Arc::new(workload), held.deployed)
        });
        let group = wanted.map(|workload| &workload.group);
        let group = group.or(view.held.as_ref().map(|held| &held.group));
        let health = group.map_or_else(
            || Health::Missing { service: String::new() },
            |group| lease::health(group, &view.replicas),
        );
        Sighting { present: true, terminating: view.terminating, held, health }
    }

    fn deploy(&mut self, order: OrderId, workload: &Arc<Workload>) {
        if !self.may_act() {
            return;
        }
        self.note_order(order, Decision::Deploy);
        let workload = self.with_promises(order, workload);
        self.command(Operation::Deploy(workload));
    }

    /// The workload with what only we know: the cards that were sold, the hostnames that another
    /// lease has, and the endpoints that are being moved to this one.
    pub(crate) fn with_promises(
        &mut self,
        order: OrderId,
        workload: &Arc<Workload>,
    ) -> Arc<Workload> {
        let mut filled = self.manifests.complete(workload);
        if let Some(booking) = self.records.get(order).and_then(|record| record.booking.as_ref()) {
            for service in &workload.group.services {
                let unit = booking.unit(service.resources.id);
                if let Some(card) = unit.and_then(|unit| unit.card.clone()) {
                    filled.cards.insert(service.name.clone(), card);
                }
            }
        }
        if filled == **workload { Arc::clone(workload) } else { Arc::new(filled) }
    }

    fn tear_down(&mut self, order: OrderId, id: LeaseId, evidence: Evidence) {
        self.note_order(order, Decision::Teardown(evidence));
        self.manifests.end(id);
        self.manifest(ManifestInput::LeaseEnded { lease: id });
        let height = evidence.heights().1;
        self.escrow(EscrowInput::LeaseEnded { lease: id, height });
        let nothing = self.cluster.fresh
            && !self.cluster.view.leases.contains_key(&id)
            && !self.commands.is_busy(id);
        if nothing {
            return self.end_lease(order, id);
        }
        self.command(Operation::Teardown { lease: id, evidence });
        self.check_later(order);
    }

    fn end_lease(&mut self, order: OrderId, id: LeaseId) {
        // What is under way could still bring something back.
        if self.commands.is_busy(id) {
            return self.check_later(order);
        }
        self.note_order(order, Decision::Gone);
        self.publish(Fact::LeaseGone(id));
        self.manifests.gone(id);
        self.clear_breaker(order);
        self.remove(order);
    }

    fn propose_close(&mut self, order: OrderId, cause: LeaseCause) {
        if self.cluster.view.maintenance || !self.may_act() {
            return self.check_later(order);
        }
        if let Some(why) = self.spare_reason(order, cause) {
            return self.note_order(order, Decision::Spared { cause, why });
        }
        self.decide_close(order, cause);
    }

    /// Closes a lease: the decision is journaled once, and carried out until the chain says that the
    /// lease is over.
    pub(crate) fn decide_close(&mut self, order: OrderId, cause: LeaseCause) {
        let lease = self.records.lease(order);
        if lease.is_some_and(|lease| lease.is_live() && lease.closing.is_none()) {
            self.note_order(order, Decision::Close(cause));
        }
        self.step_lease(order, LeaseInput::Close(cause));
    }

    /// Why a lease is not closed although it ought to be.
    fn spare_reason(&mut self, order: OrderId, cause: LeaseCause) -> Option<SpareReason> {
        let LeaseContext { time, gaps, .. } = self.lease_context();
        let lease = self.records.lease(order)?;
        if self.reconciliation.rival.is_active(time) {
            return Some(SpareReason::Rival);
        }
        let is_absent = match lease.safeguard(cause, gaps) {
            Safeguard::None => return None,
            Safeguard::Breaker => false,
            Safeguard::Witness(since) if self.has_witness(lease, since) => true,
            Safeguard::Witness(_) => return Some(SpareReason::NoWitness),
        };
        let live = self.live_leases();
        let verdict = self.reconciliation.breaker.propose(order, live, is_absent, time);
        self.tell_breaker();
        (verdict == Verdict::Spare).then_some(SpareReason::Breaker)
    }

    /// Whether a lease created earlier had objects in the cluster all the time since then.
    fn has_witness(&self, lease: &LeaseRecord, since: SightTime) -> bool {
        self.records.leases().any(|other| {
            let throughout = matches!(other.presence, Presence::Present(from) if from <= since);
            other.is_live() && throughout && other.created_at < lease.created_at
        })
    }

    fn live_leases(&self) -> usize {
        self.records.leases().filter(|lease| lease.is_live()).count()
    }

    fn clear_breaker(&mut self, order: OrderId) {
        let breaker = &self.reconciliation.breaker;
        if breaker.is_open() || breaker.has(order) {
            let live = self.live_leases();
            self.reconciliation.breaker.clear(order, live, self.head.time());
            self.tell_breaker();
        }
    }

    pub(crate) fn tell_breaker(&mut self) {
        let Some(is_open) = self.reconciliation.breaker_change() else { return };
        self.publish(Fact::Breaker(is_open));
        let decision = if is_open {
            Decision::BreakerOpen { why: self.reconciliation.breaker.to_string() }
        } else {
            Decision::BreakerShut
        };
        self.note(crate::journal::Subject::Provider, decision);
    }

    fn close_lease(&mut self, order: OrderId, id: LeaseId, reason: LeaseClosedReason) {
        let action = Action::CloseBid { bid: id.bid_id(), reason };
        self.tell_chain(order, IntentKey::Close(order), action);
    }

    fn reclaim(&mut self, order: OrderId, id: LeaseId, reason: LeaseClosedReason) {
        self.tell_chain(
            order,
            IntentKey::Reclaim(order),
            Action::StartReclaim { lease: id, reason },
        );
    }

    fn tell_chain(&mut self, order: OrderId, key: IntentKey, action: Action) {
        let lease = self.records.lease(order);
        let closing = lease.and_then(|lease| lease.closing);
        let by_operator = matches!(closing, Some(LeaseCause::Operator(_))) && self.start.is_ready();
        if !self.may_act() && !by_operator {
            return;
        }
        match self.intents.begin(self.now, key) {
            Begun::Now(id) => {
                if let IntentKey::Reclaim(_) = key {
                    self.note_order(order, Decision::Reclaim);
                }
                let intent = Intent::new(id, action, self.head.height());
                self.out.push(Effect::Submit(intent.of_class(Class::Deadline)));
            }
            Begun::Already => {}
            Begun::NotBefore(moment) => self.schedule.timers.set(Timer::Retry(order), moment),
        }
    }

    /// Everything is known now: what was put off is done.
    pub(crate) fn lease_ready(&mut self, order: OrderId) {
        let lease = self.records.lease(order);
        let Some((id, created_at)) = lease.map(|lease| (lease.id, lease.created_at)) else {
            return;
        };
        self.book_lease(order);
        if self.cluster.fresh {
            self.lease_in_view(id);
        }
        if let Some(created) = self.head.time_of(created_at) {
            self.lease_created(order, created);
        }
        self.retry(order);
        let soon = self.head.time();
        self.schedule.deadlines.set(order, soon);
        let deploying = self.records.lease(order);
        let deploying = deploying.filter(|lease| matches!(lease.stage, lease::Stage::Deploying));
        if let Some(workload) = deploying.and_then(|lease| lease.workload.clone()) {
            self.deploy(order, &workload);
        }
    }
}

/// What a change of stage says.
fn noted(lease: &LeaseRecord) -> Option<Decision> {
    match &lease.stage {
        lease::Stage::Running => Some(Decision::Healthy),
        lease::Stage::Degraded(health) => Some(Decision::Unhealthy(health.clone())),
        _ => None,
    }
}
