//! What reaches the process, and what it does about it.

use std::time::{Duration, UNIX_EPOCH};

use akash_chain::follow::plan;
use akash_chain::tx::lane::{self, Effect as LaneEffect};
use akash_chain::tx::{TxPlan, Unsigned};
use provider_engine::cluster::recognition::{Acceptance, Memory};
use provider_engine::time::{BlockTime, Now};
use provider_engine::{Block, Effect, Fact, Input, TxEnd};

use super::chain::CHAIN_ID;
use super::event::FollowInput;
use super::{Call, Event, Part, Process, Reach, World, decode};
use crate::simulation::faults::{FaultEvent, FaultKind};

impl World {
    /// A process begins, with what the store holds.
    pub(super) fn start_process(&mut self) {
        if self.process.is_some() {
            return;
        }
        self.lives += 1;
        let number = self.lives;
        let (settings, lane) = (self.settings(), self.lane_config());
        let settings = (settings, self.scenario.defect);
        let process = Process::new(number, self.clock(), settings, lane, self.cursor);
        self.watch.started();
        self.process = Some(process);
        if let Some(process) = &mut self.process {
            process.engine.remember(self.memory.clone());
        }
        self.trace.note(|| format!("process {number} starts"));
        self.out(number, Call::Observe);
        self.lane(lane::Input::Tick);
        self.follow(plan::Input::Tick);
        self.engine(Input::Tick);
    }

    /// The process dies: before it could start all of what it wanted to.
    pub(crate) fn crash_soon(&mut self) {
        if self.process.is_some() {
            self.dying = Some(self.dice.below(6));
        }
    }

    /// The process dies now.
    pub(crate) fn crash(&mut self) {
        let Some(process) = self.process.as_ref() else { return };
        let number = process.number;
        self.dying = None;
        let without = self.dice.chance(300);
        self.struck(if without { FaultKind::CrashWithoutStore } else { FaultKind::Crash });
        if without {
            self.cursor = None;
            self.memory = Memory::default();
        }
        self.process = None;
        self.trace
            .note(|| format!("process {number} dies{}", if without { ", store too" } else { "" }));
        self.watch.died(number);
        let pause = self.dice.span(Duration::from_millis(200), Duration::from_secs(60));
        self.later(pause, Event::Start);
    }

    /// The process dies with its store, although nothing goes wrong, and starts again.
    pub(crate) fn crash_at_rest(&mut self) {
        self.cursor = None;
        self.memory = Memory::default();
        if let Some(process) = self.process.take() {
            self.watch.died(process.number);
        }
        for minutes in 1..=5 {
            let looks = Event::Fault(FaultEvent::Operator);
            self.later(Duration::from_secs(60 * minutes), looks);
        }
        self.trace.note(|| "the process dies at rest, store too".to_owned());
        self.start_process();
    }

    /// Something reaches the process it was meant for, or nobody.
    pub(super) fn reach(&mut self, number: u64, reach: Reach) {
        let Some(process) = self.process.as_mut().filter(|process| process.number == number) else {
            return;
        };
        match reach {
            Reach::Engine(input) => self.engine(*input),
            Reach::Watch(watch, input) if watch == process.watch => self.engine(*input),
            Reach::Watch(..) => {}
            Reach::Lane(input) => self.lane(*input),
            Reach::Follow(input) => self.follow(*input),
            Reach::Wake(part, at) => {
                if *process.wake(part) != Some(at) {
                    return;
                }
                if self.clock() < at {
                    let after = self.until(at);
                    return self.later(after, Event::Reach(number, Reach::Wake(part, at)));
                }
                if let Some(process) = &mut self.process {
                    *process.wake(part) = None;
                }
                match part {
                    Part::Engine => self.engine(Input::Tick),
                    Part::Lane => self.lane(lane::Input::Tick),
                    Part::Follow => self.follow(plan::Input::Tick),
                }
            }
        }
    }

    /// Tells the engine something, and starts what it wants done.
    pub(crate) fn engine(&mut self, input: Input) {
        let now = Now::new(self.clock());
        let Some(process) = &mut self.process else { return };
        let number = process.number;
        self.watch.told(&input);
        let effects = process.engine.handle(now, input);
        self.trace.effects(&effects);
        self.watch.effects(&effects, process, self.now);
        for effect in effects {
            if self.dies() {
                return;
            }
            self.start_effect(number, effect);
        }
    }

    /// Whether the process dies before its next effect.
    fn dies(&mut self) -> bool {
        match &mut self.dying {
            None => false,
            Some(0) => {
                self.crash();
                true
            }
            Some(left) => {
                *left -= 1;
                false
            }
        }
    }

    fn start_effect(&mut self, number: u64, effect: Effect) {
        match effect {
            Effect::Query(id, query) => self.out(number, Call::Query(id, query)),
            Effect::Submit(intent) => {
                self.inside(number, lane::Input::Submit(vec![intent]));
            }
            Effect::Forget(intent) => self.inside(number, lane::Input::Forget(intent)),
            Effect::Command(command) => self.out(number, Call::Command(command)),
            Effect::Script(id, _) => self.out(number, Call::Script(id)),
            Effect::Reply(request, reply) => self.replied(request, &reply),
            Effect::WakeAt(moment) => self.wake_at(number, Part::Engine, moment.since_origin()),
            Effect::Publish(fact) => self.store(fact),
            Effect::Record(_) => {}
        }
    }

    /// Keeps what the store of a provider keeps of deployments and of the cluster.
    fn store(&mut self, fact: Fact) {
        let height = self.process.as_ref().map_or(0, |process| process.engine.status().height);
        match fact {
            Fact::LeaseDeployed(lease) => drop(self.memory.deployed.insert(lease, height)),
            Fact::LeaseOver { lease, .. } => drop(self.memory.deployed.remove(&lease)),
            Fact::ClusterKnown { uid } => self.memory.cluster = uid,
            Fact::ClusterAccepted { uid } => {
                self.memory.accepted = uid.map(|cluster| Acceptance { cluster, height });
            }
            _ => {}
        }
    }

    fn inside(&mut self, number: u64, input: lane::Input) {
        self.in_order(number, "inside", Reach::Lane(Box::new(input)));
    }

    fn wake_at(&mut self, number: u64, part: Part, at: Duration) {
        let after = self.until(at);
        let Some(process) = &mut self.process else { return };
        let wake = process.wake(part);
        if *wake != Some(at) {
            *wake = Some(at);
            self.later(after, Event::Reach(number, Reach::Wake(part, at)));
        }
    }

    /// Every alarm clock of the process is looked at: its clock has jumped.
    pub(crate) fn look_at_clock(&mut self) {
        for part in [Part::Engine, Part::Lane, Part::Follow] {
            let Some(process) = &mut self.process else { return };
            let number = process.number;
            if let Some(at) = *process.wake(part) {
                let after = self.until(at);
                self.later(after, Event::Reach(number, Reach::Wake(part, at)));
            }
        }
    }

    /// Tells the lane something.
    pub(super) fn lane(&mut self, input: lane::Input) {
        let clock = self.clock();
        let Some(process) = &mut self.process else { return };
        let number = process.number;
        for effect in process.lane.handle(clock, input) {
            if self.process.as_ref().is_none_or(|process| process.number != number) {
                return;
            }
            self.lane_effect(number, effect);
        }
    }

    fn lane_effect(&mut self, number: u64, effect: LaneEffect) {
        match effect {
            LaneEffect::ReadAccount => self.out(number, Call::Account),
            LaneEffect::Simulate(draft) => self.out(number, Call::Simulate(Box::new(draft))),
            LaneEffect::Broadcast(draft) => self.sign(number, &draft),
            LaneEffect::Rebroadcast { tx, attempt } => {
                let kept = self.process.as_ref().and_then(|process| process.kept.get(&tx).cloned());
                if let Some(signed) = kept {
                    self.out(number, Call::Broadcast(tx, attempt, signed));
                }
            }
            LaneEffect::LookUp { tx } => {
                let kept = self.process.as_ref().and_then(|process| process.kept.get(&tx));
                let hash = kept.map(akash_chain::tx::SignedTx::hash);
                self.out(number, Call::LookUp(tx, hash));
            }
            LaneEffect::Drop { tx } => {
                if let Some(process) = &mut self.process {
                    process.kept.remove(&tx);
                }
            }
            LaneEffect::Verify { intent, wanted } => self.out(number, Call::Verify(intent, wanted)),
            LaneEffect::Done { intent, outcome } => {
                self.watch.done(number, intent, &outcome);
                let fee = self.process.as_mut().and_then(|process| process.fees.remove(&intent));
                let end = TxEnd { intent, outcome, fee };
                self.in_order(number, "outside", Reach::Engine(Box::new(Input::Tx(end))));
            }
            LaneEffect::WakeAt(at) => self.wake_at(number, Part::Lane, at),
        }
    }

    fn sign(&mut self, number: u64, draft: &lane::Draft) {
        let tx = draft.tx;
        let Some(process) = &mut self.process else { return };
        let plan = TxPlan {
            chain_id: CHAIN_ID,
            account_number: process.account_number,
            sequence: draft.sequence,
            messages: &draft.messages,
            fee: &draft.fee,
            memo: &draft.memo,
            timeout_height: draft.timeout_height,
        };
        let Ok(unsigned) = Unsigned::new(&plan, &self.scenario.provider.key) else { return };
        let (signed, signature) = unsigned.sign_with_signature();
        process.kept.insert(tx, signed.clone());
        let share = u128::try_from(draft.intents.len().max(1)).unwrap_or(1);
        if let Some(fee) = draft.fee.amount.first() {
            let each = akash_types::Coin::new(fee.denom().clone(), fee.amount() / share);
            process.fees.extend(draft.intents.iter().map(|intent| (*intent, each.clone())));
        }
        self.watch.signed(number, signed.hash(), &draft.intents);
        self.out(number, Call::Broadcast(tx, 1, signed));
        self.lane(lane::Input::Signed { tx, signature: signature.to_vec() });
    }

    /// Tells the follower something, and takes every block that it has.
    pub(super) fn follow(&mut self, input: FollowInput) {
        self.follow_once(input);
        while self.process.as_ref().is_some_and(|process| process.plan.is_ready()) {
            self.follow_once(plan::Input::Room);
        }
    }

    fn follow_once(&mut self, input: FollowInput) {
        let clock = self.clock();
        let Some(process) = &mut self.process else { return };
        let number = process.number;
        for effect in process.plan.handle(clock, input) {
            match effect {
                plan::Effect::AskStatus { node, ticket, .. } => {
                    self.out(number, Call::Status(node, ticket));
                }
                plan::Effect::FetchHeaders { node, ticket, from, to, .. } => {
                    self.out(number, Call::Headers(node, ticket, from, to));
                }
                plan::Effect::FetchResults { node, ticket, height, .. } => {
                    self.out(number, Call::Results(node, ticket, height));
                }
                plan::Effect::Subscribe { node, ticket, .. } => {
                    self.out(number, Call::Subscribe(node, ticket));
                }
                plan::Effect::Ping { node } => self.out(number, Call::Ping(node)),
                plan::Effect::Unsubscribe { node } => {
                    if let Some(process) = &mut self.process {
                        process.subscriptions.remove(&node);
                    }
                }
                plan::Effect::Deliver { header, block } => {
                    let block_of_lane = decode::lane_block(&header, &block, self.own());
                    self.inside(number, lane::Input::Block(block_of_lane));
                    let since = header.time.duration_since(UNIX_EPOCH).unwrap_or_default();
                    let time = BlockTime::from_unix(since.as_secs());
                    let events = block.events.iter().map(|event| event.event.clone()).collect();
                    let block = Block { height: header.height, time, events };
                    self.blocks(number, header.height, Input::Block(block));
                }
                plan::Effect::Resync(resync) => {
                    let height = resync.to;
                    self.inside(number, lane::Input::Resynced { height });
                    let block = self.chain.node.history().block(height);
                    let nanos = block.map_or(0, |block| block.header.time_unix_nanos);
                    let time = super::read::block_time(nanos);
                    self.blocks(number, height, Input::Resync { height, time });
                }
                plan::Effect::WakeAt(at) => self.wake_at(number, Part::Follow, at),
                plan::Effect::Renew { .. } | plan::Effect::Publish(_) => {}
            }
        }
    }

    fn blocks(&mut self, number: u64, height: u64, input: Input) {
        self.cursor = Some(height);
        self.in_order(number, "outside", Reach::Engine(Box::new(input)));
    }

    /// Sends something out of the process.
    pub(super) fn out(&mut self, number: u64, call: Call) {
        let latency = self.faults.latency();
        match &call {
            // One after the other, in order.
            Call::Broadcast(..) => {
                let last = self.channels.entry((number, "broadcast")).or_default();
                let moment = self.now.saturating_add(latency).max(*last + Duration::from_nanos(1));
                *last = moment;
                self.queue.at(moment, Event::Call(number, call));
            }
            _ => self.later(latency, Event::Call(number, call)),
        }
    }
}
