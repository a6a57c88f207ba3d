//! The machine itself: it routes what happens to the lives it concerns, and what they want to the
//! outside. What to do in a given stage is decided in [`order`](crate::order),
//! [`lease`](crate::lease), [`escrow`](crate::escrow) and [`manifest`](crate::manifest).
//!
//! ```text
//!              ┌──────────── Engine ────────────┐
//!  Block ─────►│ events ─► orders ─► evaluate   │─► Query, Submit, Forget
//!  Chain ─────►│ asks   ─► leases ─► breaker    │─► Command
//!  View ──────►│ view   ─► escrow, manifests    │─► Script
//!  Tx, … ─────►│ wishes ─► reconcile ─► journal │─► Record, Publish, Reply, WakeAt
//!              └────────────────────────────────┘
//! ```
//!
//! One owner calls [`Engine::handle`], does what it says, and brings back the answers. Answers may
//! be lost, late or doubled; what waits for one asks again, and what is no longer waited for is
//! dropped. A new engine that is told the chain and the cluster comes to the same state as one
//! that saw everything: nothing here has to survive.

pub(crate) mod asks;
mod commands;
mod in_flight;
mod operator;
mod published;
mod records;
mod status;
mod timers;
pub(crate) mod wishes;

use std::collections::{BTreeMap, BTreeSet};

use akash_types::{MarketParams, OrderId, Provider};

use crate::chain::{ChainClock, ChainQuery};
use crate::cluster::trust::ClusterTrust;
use crate::cluster::view::ClusterView;
use crate::effect::{Effect, Fact};
use crate::escrow::Escrow;
use crate::input::Input;
use crate::inventory::Free;
use crate::journal::{Decision, Entry, Journal, Subject};
use crate::manifest::{Hostnames, Submissions};
use crate::order::facts::Audits;
use crate::order::fees::BidFees;
use crate::order::isolation::IsolationHold;
use crate::reconcile::{Breaker, Drift, Rival};
use crate::settings::Settings;
use crate::time::{BlockTime, Now};

pub use crate::order::engine::{Screened, WouldBid};
pub use published::{
    BidStatus, InventoryStatus, IpStatus, LeaseIndex, NodeStatus, Published, Reserved,
    StorageStatus, VolumeCounts,
};
pub use records::{Record, Stage};
pub use status::{ClusterStatus, LeaseFunds, LeaseStatus, Reservation, Status};

use asks::Asks;
use commands::Commands;
use in_flight::InFlight;
use records::Records;
use timers::Timers;
use wishes::Wishes;

/// Every decision of a provider.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) settings: Settings,
    pub(crate) now: Now,
    pub(crate) head: ChainClock,
    pub(crate) market: Market,
    pub(crate) cluster: ClusterSide,
    pub(crate) records: Records,
    pub(crate) asks: Asks,
    /// What is asked when the chain has reached a height.
    pub(crate) to_ask: BTreeMap<u64, BTreeSet<ChainQuery>>,
    pub(crate) commands: Commands,
    pub(crate) wishes: Wishes,
    pub(crate) alarms: Timers<Now, Alarm>,
    pub(crate) deadlines: Timers<BlockTime, OrderId>,
    /// Orders and leases that wait for the time of a block.
    pub(crate) waiting_for_time: BTreeMap<u64, BTreeSet<OrderId>>,
    /// Orders for which the price script runs.
    pub(crate) scripts: InFlight<OrderId, ()>,
    pub(crate) free: Option<Free>,
    /// Whether `free` may be off because of a booking, though not because of the view.
    pub(crate) free_is_stale: bool,
    /// Whether others have to hear that something is kept, or no longer.
    pub(crate) inventory_changed: bool,
    pub(crate) escrow: Escrow,
    pub(crate) submissions: Submissions,
    pub(crate) hostnames: Hostnames,
    pub(crate) breaker: Breaker,
    pub(crate) trust: ClusterTrust,
    pub(crate) rival: Rival,
    /// Why there are no bids until tenants are known to be kept apart, if there are none.
    pub(crate) isolation: Option<IsolationHold>,
    /// Orders that this process handed a bid on to the lane, with the height then.
    pub(crate) signed: BTreeMap<OrderId, u64>,
    pub(crate) journal: Journal,
    pub(crate) drift: BTreeSet<Drift>,
    pub(crate) start: Start,
    /// Open orders on which our one bid was made and is over: there is nothing to look for.
    pub(crate) spent: BTreeSet<OrderId>,
    /// Orders with a bid or lease of ours that was listed at the start and not looked at yet: until
    /// what they were promised is known, there is nothing to promise to others.
    pub(crate) unlooked: BTreeSet<OrderId>,
    pub(crate) out: Vec<Effect>,
}

/// What the chain says of the market and of us.
#[derive(Clone, Debug, Default)]
pub(crate) struct Market {
    pub(crate) provider: Option<Provider>,
    pub(crate) audits: Audits,
    pub(crate) params: Option<MarketParams>,
    pub(crate) verification_active: bool,
    pub(crate) bid_fees: BidFees,
}

/// What was last seen of the cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClusterSide {
    pub(crate) view: ClusterView,
    /// Whether it was ever seen whole, and is still being told of changes.
    pub(crate) fresh: bool,
}

/// What has to be known before anything is written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Start {
    pub(crate) orders: bool,
    pub(crate) bids: bool,
    pub(crate) leases: bool,
    pub(crate) cluster: bool,
    pub(crate) ready: bool,
    /// The newest block when everything was known, and its time.
    pub(crate) height: u64,
    pub(crate) time: BlockTime,
}

/// What is to be looked at when some time has passed on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    Reconcile,
    /// Count whether a lease is healthy, or gone.
    Check(OrderId),
    /// Look at an order or lease again: something about it failed.
    Again(OrderId),
    /// The balance checker wants to look.
    Escrow,
    /// Manifests that wait for something may have waited too long.
    Manifests,
}

impl Engine {
    /// An engine that knows nothing yet. It asks for what it has to know when it is first told
    /// anything.
    pub fn new(settings: Settings) -> Self {
        let mut engine = Self {
            now: Now::default(),
            head: ChainClock::default(),
            market: Market::default(),
            cluster: ClusterSide::default(),
            records: Records::default(),
            asks: Asks::default(),
            to_ask: BTreeMap::new(),
            commands: Commands::default(),
            wishes: Wishes::default(),
            alarms: Timers::default(),
            deadlines: Timers::default(),
            waiting_for_time: BTreeMap::new(),
            scripts: InFlight::default(),
            free: None,
            free_is_stale: false,
            inventory_changed: false,
            escrow: Escrow::new(settings.escrow.clone()),
            submissions: Submissions::new(settings.manifest.clone()),
            hostnames: Hostnames::default(),
            breaker: Breaker::new(settings.breaker),
            trust: ClusterTrust::default(),
            rival: Rival::default(),
            isolation: settings.require_isolation.then(IsolationHold::before_the_first_probe),
            signed: BTreeMap::new(),
            journal: Journal::default(),
            drift: BTreeSet::new(),
            start: Start::default(),
            unlooked: BTreeSet::new(),
            spent: BTreeSet::new(),
            out: Vec::new(),
            settings,
        };
        engine.alarms.set(Alarm::Reconcile, Now::default());
        engine
    }

    /// What follows from `input` at `now`.
    pub fn handle(&mut self, now: Now, input: Input) -> Vec<Effect> {
        // A clock that jumps back must not hold up what waits for it.
        self.now = self.now.max(now);
        match input {
            Input::Block(block) => self.block(&block),
            Input::Resync { height, time } => self.resync(height, time),
            Input::Chain(reply) => self.chain_reply(reply),
            Input::Tx(end) => self.tx_end(end),
            Input::View(change) => self.view_change(change),
            Input::Command(answer) => self.command_answer(answer),
            Input::Script { id, result } => self.script_answer(id, result),
            Input::Tenant(request, wanted) => self.tenant(request, wanted),
            Input::Operator(request, wanted) => self.operator(request, wanted),
            Input::Tick => {}
        }
        self.ring();
        if std::mem::take(&mut self.inventory_changed) {
            self.publish(Fact::Inventory);
        }
        self.wake();
        std::mem::take(&mut self.out)
    }

    /// Everything whose time has come.
    pub(crate) fn ring(&mut self) {
        while let Some(alarm) = self.alarms.pop(self.now) {
            match alarm {
                Alarm::Reconcile => self.reconcile_begin(),
                Alarm::Check(order) => self.check_lease(order),
                Alarm::Again(order) => self.again(order),
                Alarm::Escrow => self.escrow_tick(),
                Alarm::Manifests => self.manifests_tick(),
            }
        }
        for (id, query) in self.asks.due(self.now) {
            self.out.push(Effect::Query(id, query));
        }
        if self.may_act() {
            for command in self.commands.due(self.now) {
                self.out.push(Effect::Command(command));
            }
        }
    }

    pub(crate) fn wake(&mut self) {
        let command = self.commands.next_due().filter(|_| self.may_act());
        let next = [self.alarms.next(), self.asks.next_due(), command];
        if let Some(moment) = next.into_iter().flatten().min() {
            self.out.push(Effect::WakeAt(moment));
        }
    }

    pub(crate) fn ask(&mut self, query: ChainQuery) {
        self.ask_at_least(query, self.head.height());
    }

    /// Asks for what holds at `height` or later; if that is still to come, then.
    pub(crate) fn ask_at_least(&mut self, query: ChainQuery, height: u64) {
        if height > self.head.height() {
            self.to_ask.entry(height).or_default().insert(query);
            return;
        }
        if let Some(id) = self.asks.want(self.now, query.clone(), height) {
            self.out.push(Effect::Query(id, query));
        }
    }

    pub(crate) fn note(&mut self, subject: Subject, decision: Decision) {
        let entry = Entry { height: self.head.height(), time: self.head.time(), subject, decision };
        if self.journal.is_new(&entry) {
            self.out.push(Effect::Record(entry));
        }
    }

    pub(crate) fn note_order(&mut self, order: OrderId, decision: Decision) {
        self.note(Subject::Order(order), decision);
    }

    pub(crate) fn publish(&mut self, fact: Fact) {
        self.out.push(Effect::Publish(fact));
    }

    /// Looks at an order or lease again, for whatever reason it was put off.
    pub(crate) fn again(&mut self, order: OrderId) {
        self.ask(ChainQuery::Standing(order));
    }

    /// Whether the chain was read, and the cluster seen, whole.
    pub const fn is_ready(&self) -> bool {
        self.start.ready
    }

    pub(crate) fn check_ready(&mut self) {
        let Start { orders, bids, leases, cluster, ready, .. } = self.start;
        let listed = orders && bids && leases && cluster && self.head.is_known();
        if ready || !listed || !self.unlooked.is_empty() {
            return;
        }
        let (height, time) = (self.head.height(), self.head.time());
        self.start = Start { ready: true, height, time, ..self.start };
        self.rival.begin(height);
        self.publish(Fact::Ready);
        self.recognize();
    }

    /// Everything may be written from now on: what was put off is done. First what was sold keeps
    /// its room, then what was offered, and only what is then left is for new bids.
    pub(crate) fn act_on_everything(&mut self) {
        let mut all: Vec<_> = self
            .records
            .iter()
            .map(|record| (record.lease().is_none(), !record.has_bid(), record.id))
            .collect();
        all.sort_unstable();
        for (.., order) in all {
            self.became_ready(order);
        }
    }
}
