//! One life of the provider's process: its three machines and what they wait for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use akash_chain::follow::plan::{Plan, Ticket};
use akash_chain::follow::{BlockEffects, PlanConfig};
use akash_chain::tx::SignedTx;
use akash_chain::tx::lane::{Lane, LaneConfig, TxRef};
use akash_types::{Coin, IntentId};
use provider_engine::Settings;

use super::chain::CHAIN_ID;
use super::event::Part;
use crate::simulation::Defect;
use crate::simulation::defect::FaultyEngine;

/// Nodes that the follower knows.
pub(super) const NODES: [&str; 2] = ["near", "far"];

/// One life of the provider's process.
pub(crate) struct Process {
    pub(crate) number: u64,
    pub(crate) engine: FaultyEngine,
    pub(super) lane: Lane,
    pub(super) plan: Plan<Arc<BlockEffects>>,
    pub(super) account_number: u64,
    /// Signed transactions that may be given to a node again.
    pub(super) kept: BTreeMap<TxRef, SignedTx>,
    /// What each intent's share of its newest transaction cost.
    pub(super) fees: BTreeMap<IntentId, Coin>,
    pub(super) subscriptions: BTreeMap<usize, Ticket>,
    /// Which watch on the cluster counts.
    pub(super) watch: u64,
    wakes: [Option<Duration>; 3],
}

impl Process {
    pub(super) fn new(
        number: u64,
        clock: Duration,
        (settings, defect): (Settings, Option<Defect>),
        lane: LaneConfig,
        cursor: Option<u64>,
    ) -> Self {
        let config = PlanConfig { max_gap: 60, window: 16, ..PlanConfig::new(CHAIN_ID) };
        let names = NODES.iter().map(|name| Arc::from(*name));
        Self {
            number,
            engine: FaultyEngine::new(settings, defect),
            lane: Lane::new(lane),
            plan: Plan::new(config, names, cursor, clock),
            account_number: 0,
            kept: BTreeMap::new(),
            fees: BTreeMap::new(),
            subscriptions: BTreeMap::new(),
            watch: 0,
            wakes: [None; 3],
        }
    }

    /// When a part wants to be woken, by the clock of the process.
    pub(super) fn wake(&mut self, part: Part) -> &mut Option<Duration> {
        let [engine, lane, follow] = &mut self.wakes;
        match part {
            Part::Engine => engine,
            Part::Lane => lane,
            Part::Follow => follow,
        }
    }
}
