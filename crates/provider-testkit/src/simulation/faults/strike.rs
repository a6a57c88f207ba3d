//! The plan of faults, and what each does to the world.

use std::time::Duration;

use akash_chain::tx::message::bank;
use provider_engine::cluster::view::Name;
use provider_sim::core::{Disturbance, Faults as ApiFaults, SimInput};

use super::{FaultEvent, FaultKind};
use crate::simulation::scenario::TROUBLE;
use crate::simulation::tenants::TenantEvent;
use crate::simulation::world::{Event, World};

/// How often each strikes by itself; the others come with messages or steps.
const PLAN: [(FaultKind, u64); 11] = [
    (FaultKind::ChainLag, 5),
    (FaultKind::ChainHalt, 2),
    (FaultKind::MempoolFull, 2),
    (FaultKind::ApiErrors, 3),
    (FaultKind::ClockJump, 6),
    (FaultKind::ClusterDown, 2),
    (FaultKind::WatchBroken, 4),
    (FaultKind::PodsKilled, 5),
    (FaultKind::NodeLost, 4),
    (FaultKind::ForeignTx, 4),
    (FaultKind::OrderSpam, 6),
];

impl World {
    /// Draws what will happen by itself, and lets everything begin.
    pub(crate) fn begin(&mut self) {
        self.later(Duration::ZERO, Event::Block);
        self.later(Duration::from_secs(20), Event::Start);
        for (kind, times) in PLAN {
            for _ in 0..times {
                let when = self.dice.span(Duration::from_secs(120), TROUBLE);
                self.later(when, Event::Fault(FaultEvent::Strike(kind)));
            }
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
            FaultEvent::LagEnds => self.faults.lags = [0, 0],
            FaultEvent::NodeBack(name) => self.disturb(Disturbance::NodeBack(name)),
            FaultEvent::MempoolFree => self.faults.mempool_full = false,
            FaultEvent::ApiWorks => self.disturb(Disturbance::Faults(ApiFaults::default())),
            FaultEvent::Peace => self.peace(),
        }
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
            FaultKind::Crash
            | FaultKind::CrashWithoutStore
            | FaultKind::Lost
            | FaultKind::Doubled
            | FaultKind::Late
            | FaultKind::TxLost => {}
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
        self.trace.note(|| "peace".to_owned());
        self.watch.peace(self.now);
    }
}
