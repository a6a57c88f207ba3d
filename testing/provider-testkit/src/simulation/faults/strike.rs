//! The plan of faults, and what each does to the world.

use std::time::Duration;

use akash_chain::tx::lane::message_for;
use akash_chain::tx::message::bank;
use akash_types::{Action, BidOffer, Deposit, LeaseClosedReason};
use provider_engine::cluster::recognition::Recognition;
use provider_engine::cluster::view::Name;
use provider_engine::order;
use provider_engine::{Input, OperatorRequest, RequestId};
use provider_sim::core::{
    Disturbance, Faults as ApiFaults, Loss, Settings as ClusterSettings, SimCluster, SimInput,
};

use super::{FaultEvent, FaultKind};
use crate::simulation::scenario::TROUBLE;
use crate::simulation::tenants::TenantEvent;
use crate::simulation::world::{Event, World};

/// How often each strikes by itself; the others come with messages or steps.
const PLAN: [(FaultKind, u64); 15] = [
    (FaultKind::ChainLag, 5),
    (FaultKind::ChainHalt, 2),
    (FaultKind::MempoolFull, 5),
    (FaultKind::ApiErrors, 3),
    (FaultKind::ClockJump, 6),
    (FaultKind::ClusterDown, 4),
    (FaultKind::WatchBroken, 4),
    (FaultKind::PodsKilled, 5),
    (FaultKind::NodeLost, 4),
    (FaultKind::ForeignTx, 6),
    (FaultKind::OrderSpam, 6),
    (FaultKind::ContentLost, 3),
    (FaultKind::ClusterSwapped, 2),
    (FaultKind::WrongNamespace, 4),
    (FaultKind::SecondProvider, 2),
];

/// How often, and how many times, a fault that is aimed looks for its stage.
const LOOK_EVERY: Duration = Duration::from_secs(3);
const LOOKS: u32 = 100;

impl World {
    /// Draws what will happen by itself, and lets everything begin.
    pub(crate) fn begin(&mut self) {
        self.later(Duration::ZERO, Event::Block);
        self.later(Duration::from_secs(20), Event::Start);
        for (kind, times) in PLAN {
            for time in 0..times {
                let when = self.dice.span(Duration::from_secs(120), TROUBLE);
                let event = match time {
                    0 => FaultEvent::Aim(kind, LOOKS),
                    _ => FaultEvent::Strike(kind),
                };
                self.later(when, Event::Fault(event));
            }
        }
        for _ in 0..8 {
            let when = self.dice.span(Duration::from_secs(300), TROUBLE);
            self.later(when, Event::Fault(FaultEvent::OperatorCloses));
        }
        for _ in 0..140 {
            let when = self.dice.span(Duration::from_secs(30), TROUBLE);
            self.later(when, Event::Tenant(TenantEvent::Order));
        }
        self.later(TROUBLE, Event::Fault(FaultEvent::Peace));
    }

    /// Something goes wrong, or right again.
    pub(crate) fn fault(&mut self, event: FaultEvent) {
        match event {
            FaultEvent::Strike(kind) => {
                self.trace.note(|| format!("fault: {}", kind.name()));
                self.struck(kind);
                self.strike(kind);
            }
            FaultEvent::Aim(kind, looks) => self.aim(kind, looks),
            FaultEvent::LagEnds => self.faults.lags = [0, 0],
            FaultEvent::NodeBack(name) => self.disturb(Disturbance::NodeBack(name)),
            FaultEvent::MempoolFree => self.faults.mempool_full = false,
            FaultEvent::ApiWorks => self.disturb(Disturbance::Faults(ApiFaults::default())),
            FaultEvent::ClusterBack => self.cluster_back(),
            FaultEvent::RightNamespace => self.look_for_manifests(true),
            FaultEvent::Operator => self.operator_looks(),
            FaultEvent::OperatorCloses => self.operator_closes(),
            FaultEvent::Peace => self.peace(),
        }
    }

    /// Strikes while an order is abandoned, a stage that is over within blocks: left to chance, a
    /// fault that strikes twice meets it in few of many seeds.
    fn aim(&mut self, kind: FaultKind, looks: u32) {
        let is_met = self.process.as_ref().is_some_and(|process| {
            let mut lives = process.engine.records();
            lives.any(|record| matches!(record.order(), Some(order::Stage::Abandoned)))
        });
        if is_met || looks == 0 || self.now + LOOK_EVERY * 2 >= TROUBLE {
            return self.fault(FaultEvent::Strike(kind));
        }
        self.later(LOOK_EVERY, Event::Fault(FaultEvent::Aim(kind, looks - 1)));
    }

    fn strike(&mut self, kind: FaultKind) {
        let short = self.dice.span(Duration::from_secs(20), Duration::from_secs(240));
        match kind {
            FaultKind::ChainLag => {
                self.faults.lags = [self.dice.between(1, 8), self.dice.below(3)];
                self.later(short, Event::Fault(FaultEvent::LagEnds));
            }
            FaultKind::ChainHalt => self.faults.halted_until = self.now + short,
            FaultKind::MempoolFull => {
                self.faults.mempool_full = true;
                self.later(short, Event::Fault(FaultEvent::MempoolFree));
            }
            FaultKind::ApiErrors => {
                let late_by = Duration::from_secs(90);
                let (fail, fail_after) = (150, 100);
                let (lose, double, late) = (50, 50, 100);
                let faults = ApiFaults { fail, fail_after, lose, double, late, late_by };
                self.disturb(Disturbance::Faults(faults));
                self.later(short * 2, Event::Fault(FaultEvent::ApiWorks));
            }
            FaultKind::ClockJump => {
                // Ahead as after a suspension; back only a little, since a monotonic clock never
                // does, and whatever waits for it then waits for it to catch up.
                let jump = self.dice.span(Duration::from_secs(1), Duration::from_secs(600));
                match self.dice.chance(600) {
                    true => self.ahead += jump,
                    false => self.behind += (jump / 10).min(self.clock()),
                }
                self.look_at_clock();
            }
            FaultKind::ClusterDown => {
                let span = match self.dice.below(4) {
                    0 => Duration::from_secs(3_600).min(TROUBLE.saturating_sub(self.now)),
                    _ => short,
                };
                self.disturb(Disturbance::ApiDown(Some(span)));
            }
            FaultKind::WatchBroken => self.break_watch(),
            FaultKind::PodsKilled => self.disturb(Disturbance::KillContainers { per_mille: 700 }),
            FaultKind::NodeLost => {
                let names: Vec<Name> = self.scenario.cluster.nodes.keys().cloned().collect();
                if let Some(name) = self.dice.pick(&names).cloned() {
                    self.disturb(Disturbance::NodeLost(name.clone()));
                    self.later(short * 3, Event::Fault(FaultEvent::NodeBack(name)));
                }
            }
            FaultKind::ForeignTx => {
                let own = self.scenario.provider.address;
                let to = self.scenario.rival.address;
                let coin = "1uakt".parse().ok();
                let message = coin.and_then(|coin| bank::send(own, to, vec![coin]).ok());
                if let Some(message) = message {
                    let wallet = self.scenario.provider.clone();
                    self.chain.send(&wallet, vec![message]);
                }
            }
            FaultKind::OrderSpam => self.tenant(TenantEvent::Spam),
            FaultKind::ContentLost => self.lose_content(),
            FaultKind::ClusterSwapped => {
                self.swap_cluster();
                self.later(short * 2, Event::Fault(FaultEvent::ClusterBack));
                self.somebody_looks();
            }
            FaultKind::WrongNamespace => {
                self.look_for_manifests(false);
                self.later(short * 2, Event::Fault(FaultEvent::RightNamespace));
            }
            FaultKind::SecondProvider => self.second_provider_bids(),
            FaultKind::Crash
            | FaultKind::CrashWithoutStore
            | FaultKind::Lost
            | FaultKind::Doubled
            | FaultKind::Late
            | FaultKind::TxLost => {}
        }
    }

    fn lose_content(&mut self) {
        let per_mille = if self.dice.chance(400) { 1_000 } else { 500 };
        let what = match self.dice.below(3) {
            0 => Loss::Everything,
            1 => Loss::Manifests,
            _ => Loss::Workloads,
        };
        self.watch.content_lost(self.now);
        self.disturb(Disturbance::Lose { what, per_mille });
        self.somebody_looks();
    }

    /// Tenants see that nothing runs, and the operator that nothing is done.
    fn somebody_looks(&mut self) {
        let late = self.dice.span(Duration::from_secs(30), Duration::from_secs(600));
        self.later(late, Event::Fault(FaultEvent::Operator));
        self.tenants_send_again();
    }

    /// The provider is pointed at an empty cluster, mostly by a restart.
    fn swap_cluster(&mut self) {
        if self.aside.is_some() {
            return;
        }
        let settings = ClusterSettings {
            uid: Some("sim-other".into()),
            ..self.scenario.cluster_settings.clone()
        };
        let other = SimCluster::new(self.scenario.cluster.clone(), settings, self.scenario.seed);
        self.watch.content_lost(self.now);
        self.aside = Some(std::mem::replace(&mut self.cluster, other));
        self.see_another_cluster();
    }

    fn cluster_back(&mut self) {
        if let Some(cluster) = self.aside.take() {
            self.watch.content_lost(self.now);
            self.cluster = cluster;
            self.see_another_cluster();
        }
    }

    fn see_another_cluster(&mut self) {
        self.cluster_due = None;
        if self.dice.chance(700) {
            self.crash();
        }
        let view = self.cluster.observed();
        self.watch.shown(&view, self.now);
        self.break_watch();
        self.cluster_step(SimInput::Tick);
    }

    /// The provider is started with the right or the wrong manifest namespace.
    fn look_for_manifests(&mut self, right: bool) {
        self.watch.content_lost(self.now);
        self.crash();
        self.disturb(Disturbance::HideManifests(!right));
    }

    /// Another process signs a bid of ours on an order that nobody of ours bid on.
    fn second_provider_bids(&mut self) {
        let own = self.own();
        let engine = self.process.as_ref().map(|process| &*process.engine);
        let lives = engine.into_iter().flat_map(provider_engine::Engine::records);
        let order = lives.into_iter().find_map(|record| match record.order() {
            Some(stage) if !stage.has_bid() => stage.order().cloned(),
            _ => None,
        });
        let (Some(order), Ok(deposit)) = (order, "500000uakt".parse()) else { return };
        let Ok(price) = order.spec.total_price() else { return };
        let offer = BidOffer {
            id: order.id.bid_id(own),
            price,
            deposit: Deposit::from_balance(deposit),
            resources_offer: vec![],
            reclamation_window: None,
        };
        if let Ok(message) = message_for(&Action::CreateBid(Box::new(offer)), own, own) {
            let wallet = self.scenario.provider.clone();
            self.chain.send(&wallet, vec![message]);
        }
    }

    fn operator_closes(&mut self) {
        let engine = self.process.as_ref().map(|process| &*process.engine);
        let leases: Vec<_> = engine
            .into_iter()
            .flat_map(provider_engine::Engine::leases)
            .filter(|lease| lease.alive)
            .map(|lease| lease.id)
            .collect();
        if let Some(lease) = self.dice.pick(&leases).copied() {
            self.watch.operator_closes(lease);
            let reason = LeaseClosedReason::DECOMMISSION;
            let request = OperatorRequest::CloseLease { lease, reason };
            self.engine(Input::Operator(RequestId(u64::MAX), request));
        }
    }

    /// The operator accepts a cluster that is unknown, and in time of peace always.
    fn operator_looks(&mut self) {
        let process = self.process.as_ref();
        let status = process.map(|process| process.engine.status().cluster.recognition);
        if !matches!(status, Some(Recognition::Unknown(_))) {
            return;
        }
        if self.faults.peace || self.dice.chance(500) {
            self.watch.accepted(self.now);
            self.engine(Input::Operator(RequestId(u64::MAX), OperatorRequest::AcceptCluster));
            self.tenants_send_again();
        }
    }

    fn disturb(&mut self, disturbance: Disturbance) {
        self.cluster_step(SimInput::Disturb(disturbance));
    }

    /// Nothing goes wrong any more.
    fn peace(&mut self) {
        self.faults.peace = true;
        self.dying = None;
        self.faults.lags = [0, 0];
        self.faults.mempool_full = false;
        self.faults.halted_until = self.now;
        self.disturb(Disturbance::Faults(ApiFaults::default()));
        self.disturb(Disturbance::ApiUp);
        let names: Vec<Name> = self.scenario.cluster.nodes.keys().cloned().collect();
        for name in names {
            self.disturb(Disturbance::NodeBack(name));
        }
        self.cluster_back();
        if self.cluster.manifests_hidden() {
            self.look_for_manifests(true);
        }
        self.tenants_send_again();
        for minutes in 1..=18 {
            self.later(Duration::from_secs(60 * minutes), Event::Fault(FaultEvent::Operator));
        }
        self.trace.note(|| "peace".to_owned());
        self.watch.peace(self.now);
    }
}
