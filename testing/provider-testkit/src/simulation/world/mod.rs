//! The world: a clock, a queue, and what is between provider, chain, cluster and tenants.
//!
//! ```text
//!  queue ─► Block ──────► chain ─► news to subscribers, truth
//!        ─► ClusterTick ► cluster ─► watch
//!        ─► Tenant ─────► messages to the chain, requests to the process
//!        ─► Fault ──────► anything
//!        ─► Reach ──────► engine, lane, follower ─► effects ─► Call, after a while
//!        ─► Call ───────► chain, cluster, script ─► answer ─► Reach, after a while
//! ```
//!
//! One event is one step. Every moment, delay, loss and tie is drawn from the seed, so a seed is a
//! scenario. A process dies between two steps or in the middle of one; what it had sent arrives all
//! the same, and what was on its way to it is lost.

mod calls;
mod chain;
mod decode;
mod event;
mod process;
mod queue;
pub(crate) mod read;
pub(crate) mod snapshot;
mod tell;

use std::collections::BTreeMap;
use std::time::Duration;

use akash_chain::tx::FeeRule;
use akash_chain::tx::lane::LaneConfig;
use akash_types::Address;
use provider_engine::Settings;
use provider_engine::cluster::command::CommandId;
use provider_engine::cluster::recognition::Memory;
use provider_sim::core::{SimCluster, SimInput, SimOutput};

pub(crate) use chain::{Chain, Wallet};
pub(crate) use event::{Call, Event, Part, Reach};
pub(crate) use process::Process;
use queue::Queue;

use super::coverage::Coverage;
use super::dice::Dice;
use super::faults::{FaultKind, Faults};
use super::invariants::Watch;
use super::scenario::Scenario;
use super::tenants::Tenants;
use super::trace::Trace;

pub(crate) struct World {
    pub(crate) scenario: Scenario,
    pub(crate) now: Duration,
    pub(crate) steps: u64,
    queue: Queue<Event>,
    pub(crate) dice: Dice,
    pub(crate) chain: Chain,
    pub(crate) cluster: SimCluster,
    /// The provider's cluster, while it sees another one.
    pub(crate) aside: Option<SimCluster>,
    pub(crate) cluster_due: Option<Duration>,
    /// Whose commands are under way in the cluster, by the number they have there.
    commands: BTreeMap<CommandId, (u64, CommandId)>,
    next_command: u64,
    pub(crate) process: Option<Process>,
    lives: u64,
    /// By how much the clock of the process is ahead of the world, and behind it.
    pub(crate) ahead: Duration,
    pub(crate) behind: Duration,
    /// What the store of the provider holds: the height that was followed last, and what was
    /// deployed where.
    cursor: Option<u64>,
    memory: Memory,
    /// Effects of the next step that the process may still start before it dies.
    pub(crate) dying: Option<u64>,
    channels: BTreeMap<(u64, &'static str), Duration>,
    pub(crate) tenants: Tenants,
    pub(crate) faults: Faults,
    pub(crate) watch: Watch,
    pub(crate) coverage: Coverage,
    pub(crate) trace: Trace,
}

impl World {
    /// A world at its beginning.
    pub(crate) fn new(scenario: Scenario, trace: Trace) -> Option<Self> {
        let seed = scenario.seed;
        let wallets = scenario.wallets();
        let chain = Chain::new(&wallets)?;
        let cluster =
            SimCluster::new(scenario.cluster.clone(), scenario.cluster_settings.clone(), seed);
        let mut world = Self {
            now: Duration::ZERO,
            steps: 0,
            queue: Queue::new(Dice::new(seed, 1)),
            dice: Dice::new(seed, 2),
            chain,
            cluster,
            aside: None,
            cluster_due: None,
            commands: BTreeMap::new(),
            next_command: 0,
            process: None,
            lives: 0,
            ahead: Duration::ZERO,
            behind: Duration::ZERO,
            cursor: None,
            memory: Memory::default(),
            dying: None,
            channels: BTreeMap::new(),
            tenants: Tenants::new(Dice::new(seed, 3)),
            faults: Faults::new(Dice::new(seed, 4)),
            watch: Watch::new(&scenario),
            coverage: Coverage::default(),
            trace,
            scenario,
        };
        world.begin();
        Some(world)
    }

    /// Lets one thing happen; false when nothing is left to happen.
    pub(crate) fn step(&mut self) -> bool {
        let Some((moment, event)) = self.queue.pop() else { return false };
        self.now = self.now.max(moment);
        self.steps += 1;
        self.trace.step(self.steps, self.now, &event);
        match event {
            Event::Block => self.make_block(),
            Event::ClusterTick(due) => {
                if self.cluster_due == Some(due) {
                    self.cluster_due = None;
                }
                self.cluster_step(SimInput::Tick);
            }
            Event::Tenant(event) => self.tenant(event),
            Event::Fault(event) => self.fault(event),
            Event::Start => self.start_process(),
            Event::Reach(number, reach) => self.reach(number, reach),
            Event::Call(number, call) => self.call(number, call),
        }
        let lives = self.process.is_some() && self.dying.is_none();
        if lives && self.faults.crashes_at(self.steps) {
            self.crash_soon();
        }
        self.after_step();
        true
    }

    /// True while a change of the cluster is on its way to the process.
    pub(crate) fn has_views_in_flight(&self) -> bool {
        let number = self.process.as_ref().map(|process| process.number);
        self.queue
            .any(|event| matches!(event, Event::Reach(to, Reach::Watch(..)) if Some(*to) == number))
    }

    /// Puts an event into the future.
    pub(crate) fn later(&mut self, after: Duration, event: Event) {
        self.queue.at(self.now.saturating_add(after), event);
    }

    /// What the clock of the process shows.
    pub(crate) const fn clock(&self) -> Duration {
        self.now.saturating_add(self.ahead).saturating_sub(self.behind)
    }

    /// After how long the clock of the process will show `moment`.
    const fn until(&self, moment: Duration) -> Duration {
        moment.saturating_sub(self.clock())
    }

    pub(crate) const fn own(&self) -> Address {
        self.scenario.provider.address
    }

    /// The settings of the engine.
    pub(crate) fn settings(&self) -> Settings {
        self.scenario.settings.clone()
    }

    fn make_block(&mut self) {
        let pause = self.dice.span(Duration::from_millis(5_500), Duration::from_millis(6_500));
        self.later(pause, Event::Block);
        if self.faults.is_halted(self.now) {
            return;
        }
        self.tenants_before_block();
        let block = self.chain.make_block(self.now);
        self.trace.block(block.height(), &block.app_hash);
        let effects = self.chain.effects(block.height());
        self.watch.block(&block, &effects);
        self.tenants_after_block(&effects);
        let told: Vec<_> = self
            .process
            .iter()
            .flat_map(|process| {
                process.subscriptions.values().map(|ticket| (process.number, *ticket))
            })
            .collect();
        for (number, ticket) in told {
            let news = akash_chain::follow::plan::News::Block(block.height());
            let input = akash_chain::follow::plan::Input::Subscription { ticket, news };
            self.answer(number, Reach::Follow(Box::new(input)));
        }
    }

    /// Lets the cluster do something, and tells who is to be told.
    pub(crate) fn cluster_step(&mut self, input: SimInput) {
        let outputs = self.cluster.step(self.now, input);
        for output in outputs {
            match output {
                SimOutput::Answer(mut answer) => {
                    let Some((number, id)) = self.commands.get(&answer.id).copied() else {
                        continue;
                    };
                    answer.id = id;
                    let input = provider_engine::Input::Command(answer);
                    self.answer_surely(number, Reach::Engine(Box::new(input)));
                }
                SimOutput::View(change) => {
                    self.watch.shown(&change, self.now);
                    self.show(change);
                }
            }
        }
        if let Some(due) = self.cluster.next_due()
            && self.cluster_due.is_none_or(|set| due < set)
        {
            self.cluster_due = Some(due);
            let after = due.saturating_sub(self.now);
            self.later(after, Event::ClusterTick(due));
        }
    }

    /// Passes a change of the cluster on to who watches. In order, once or twice.
    pub(crate) fn show(&mut self, change: provider_engine::cluster::view::ViewChange) {
        let Some((number, watch)) = self.process.as_ref().map(|p| (p.number, p.watch)) else {
            return;
        };
        if watch == 0 {
            return;
        }
        let twice = self.faults.doubles();
        if twice {
            self.struck(FaultKind::Doubled);
        }
        for _ in 0..=u32::from(twice) {
            let input = Box::new(provider_engine::Input::View(change.clone()));
            self.in_order(number, "watch", Reach::Watch(watch, input));
        }
    }

    /// Sends something to the process that does not overtake what was sent before on its channel.
    pub(crate) fn in_order(&mut self, number: u64, channel: &'static str, reach: Reach) {
        let latency = match channel {
            "inside" | "outside" => Duration::from_micros(50),
            _ => self.faults.latency(),
        };
        let last = self.channels.entry((number, channel)).or_default();
        let moment = self.now.saturating_add(latency).max(*last + Duration::from_nanos(1));
        *last = moment;
        self.queue.at(moment, Event::Reach(number, reach));
    }

    /// Sends an answer, which may be late, doubled or lost.
    pub(crate) fn answer(&mut self, number: u64, reach: Reach) {
        if self.faults.loses() {
            return self.struck(FaultKind::Lost);
        }
        self.answer_surely(number, reach);
    }

    /// Sends an answer, which may be late or doubled: who waits for it notices by itself when it
    /// is lost, and takes that for an answer.
    pub(crate) fn answer_surely(&mut self, number: u64, reach: Reach) {
        let mut latency = self.faults.latency();
        if self.faults.delays() {
            self.struck(FaultKind::Late);
            latency += self.dice.span(Duration::from_secs(5), Duration::from_secs(120));
        }
        if self.faults.doubles() {
            self.struck(FaultKind::Doubled);
            let again = latency + self.dice.span(Duration::ZERO, Duration::from_secs(20));
            self.later(again, Event::Reach(number, reach.clone()));
        }
        self.later(latency, Event::Reach(number, reach));
    }

    /// Notes that a fault struck, and in which stages it met whom.
    pub(crate) fn struck(&mut self, kind: FaultKind) {
        self.coverage.struck(kind, self.process.as_ref().map(|process| &*process.engine));
    }

    /// How the lane is set up.
    pub(crate) fn lane_config(&self) -> LaneConfig {
        let fee = FeeRule::PerGas(self.scenario.gas_price.clone());
        LaneConfig::new(self.own(), fee)
    }
}
