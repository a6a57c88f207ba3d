//! The machine itself: it routes what happens to the lives it concerns, and what they want to the
//! outside. What to do in a given stage is decided in [`order`](crate::order),
//! [`lease`](crate::lease), [`escrow`](crate::escrow) and [`manifest`](crate::manifest).
//!
//! ```text
//!              ┌──────────── Engine ────────────┐
//!  Block ─────►│ events ─► orders ─► evaluate   │─► Query, Submit, Forget
//!  Chain ─────►│ queries ► leases ─► breaker    │─► Command
//!  View ──────►│ view   ─► escrow, manifests    │─► Script
//!  Tx, … ─────►│ intents ► reconcile ─► journal │─► Record, Publish, Reply, WakeAt
//!              └────────────────────────────────┘
//! ```
//!
//! One owner calls [`Engine::handle`], does what it says, and brings back the answers. Answers may
//! be lost, late or doubled; what waits for one asks again, and what is no longer waited for is
//! dropped. A new engine that is told the chain and the cluster comes to the same state as one
//! that saw everything: nothing here has to survive.
//!
//! Here is what belongs to all nouns alike: routing, time, and what is in flight. So do the records
//! (an order id first has an order's stage, then a lease's), requests of the operator (which reach
//! every noun), and the pictures of the whole that are shown, [`Status`] and [`Published`].

mod commands;
mod in_flight;
pub(crate) mod intents;
mod operator;
mod published;
pub(crate) mod queries;
mod records;
mod schedule;
mod start;
mod status;
mod timers;

use akash_types::{MarketParams, OrderId, Provider};

use crate::chain::{ChainClock, ChainQuery};
use crate::cluster::trust::ClusterTrust;
use crate::cluster::view::ClusterView;
use crate::effect::{Effect, Fact};
use crate::escrow::Escrow;
use crate::input::Input;
use crate::inventory::FreeCache;
use crate::journal::{Decision, Entry, Journal, Subject};
use crate::manifest::Manifests;
use crate::order::facts::Audits;
use crate::order::fees::BidFees;
use crate::order::history::BidHistory;
use crate::order::isolation::IsolationHold;
use crate::reconcile::Reconciliation;
use crate::settings::Settings;
use crate::time::Now;

pub use crate::order::engine::{Screened, WouldBid};
pub use published::{
    BidStatus, CardHolder, InventoryStatus, IpStatus, LeaseIndex, NodeStatus, Published, Reserved,
    StorageStatus, VolumeCounts,
};
pub use records::{Record, Stage};
pub(crate) use schedule::Timer;
pub(crate) use start::Listing;
pub use status::{ClusterStatus, LeaseFunds, LeaseStatus, Reservation, Status};

use commands::Commands;
use in_flight::InFlight;
use intents::InFlightIntents;
use queries::PendingQueries;
use records::Records;
use schedule::Schedule;
use start::Start;

/// Every decision of a provider.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) settings: Settings,
    pub(crate) now: Now,
    pub(crate) head: ChainClock,
    pub(crate) market: Market,
    pub(crate) cluster: ClusterSide,
    pub(crate) records: Records,
    pub(crate) queries: PendingQueries,
    pub(crate) commands: Commands,
    pub(crate) intents: InFlightIntents,
    pub(crate) schedule: Schedule,
    /// Orders for which the price script runs.
    pub(crate) scripts: InFlight<OrderId, ()>,
    pub(crate) free: FreeCache,
    pub(crate) escrow: Escrow,
    pub(crate) manifests: Manifests,
    pub(crate) trust: ClusterTrust,
    pub(crate) reconciliation: Reconciliation,
    /// Why there are no bids until tenants are known to be kept apart, if there are none.
    pub(crate) isolation: Option<IsolationHold>,
    pub(crate) bids: BidHistory,
    pub(crate) journal: Journal,
    pub(crate) start: Start,
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
            queries: PendingQueries::default(),
            commands: Commands::default(),
            intents: InFlightIntents::default(),
            schedule: Schedule::default(),
            scripts: InFlight::default(),
            free: FreeCache::default(),
            escrow: Escrow::new(settings.escrow.clone()),
            manifests: Manifests::new(settings.manifest.clone()),
            trust: ClusterTrust::default(),
            reconciliation: Reconciliation::new(settings.breaker),
            isolation: settings.require_isolation.then(IsolationHold::before_the_first_probe),
            bids: BidHistory::default(),
            journal: Journal::default(),
            start: Start::default(),
            out: Vec::new(),
            settings,
        };
        engine.schedule.timers.set(Timer::Reconcile, Now::default());
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
        self.run_timers();
        self.wake();
        std::mem::take(&mut self.out)
    }

    /// Everything whose time has come.
    fn run_timers(&mut self) {
        while let Some(timer) = self.schedule.timers.pop(self.now) {
            match timer {
                Timer::Reconcile => self.reconcile_begin(),
                Timer::Check(order) => self.check_lease(order),
                Timer::Retry(order) => self.retry(order),
                Timer::Escrow => self.escrow_tick(),
                Timer::Manifests => self.manifests_tick(),
            }
        }
        for (id, query) in self.queries.due(self.now) {
            self.out.push(Effect::Query(id, query));
        }
        if self.may_act() {
            for command in self.commands.due(self.now) {
                self.out.push(Effect::Command(command));
            }
        }
    }

    fn wake(&mut self) {
        let command = self.commands.next_due().filter(|_| self.may_act());
        let next = [self.schedule.timers.next(), self.queries.next_due(), command];
        if let Some(moment) = next.into_iter().flatten().min() {
            self.out.push(Effect::WakeAt(moment));
        }
    }

    pub(crate) fn ask(&mut self, query: ChainQuery) {
        self.ask_at_least(query, self.head.height());
    }

    /// Asks for what holds at `height` or later; if that is still to come, then.
    pub(crate) fn ask_at_least(&mut self, query: ChainQuery, height: u64) {
        let id = self.queries.ask(self.now, query.clone(), height, self.head.height());
        if let Some(id) = id {
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
    pub(crate) fn retry(&mut self, order: OrderId) {
        self.ask(ChainQuery::Standing(order));
    }

    /// Whether the chain was read, and the cluster seen, whole.
    pub const fn is_ready(&self) -> bool {
        self.start.is_ready()
    }

    pub(crate) fn check_ready(&mut self) {
        if !self.head.is_known() || !self.start.end(self.head.head()) {
            return;
        }
        self.reconciliation.rival.begin(self.head.height());
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
