//! One run over the state: what a transaction reads, changes, reports and uses.

use std::sync::Arc;

use super::error::Outcome;
use super::events::Event;
use super::gas::{Gas, Step};
use super::genesis::Params;
use super::tables::Tables;

/// The block that is being made, or was made last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockInfo {
    pub height: u64,
    /// Its time, in nanoseconds since 1970.
    pub time_unix_nanos: i64,
    pub proposer: [u8; 20],
}

impl BlockInfo {
    pub(crate) const fn unix(&self) -> i64 {
        self.time_unix_nanos.div_euclid(1_000_000_000)
    }
}

/// What never changes after genesis.
#[derive(Debug)]
pub(crate) struct Env {
    pub(crate) chain_id: String,
    pub(crate) params: Params,
    pub(crate) initial_height: u64,
}

/// A copy of the tables to run on. Dropping it undoes the run.
pub(crate) struct Exec {
    pub(crate) tables: Tables,
    pub(crate) env: Arc<Env>,
    pub(crate) block: BlockInfo,
    pub(crate) events: Vec<Event>,
    pub(crate) gas: Gas,
}

impl Exec {
    pub(crate) fn new(tables: &Tables, env: &Arc<Env>, block: BlockInfo, gas: Gas) -> Self {
        Self { tables: tables.clone(), env: Arc::clone(env), block, events: Vec::new(), gas }
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(crate) fn step(&mut self, step: Step) -> Outcome {
        self.gas.step(step)
    }

    pub(crate) fn params(&self) -> &Params {
        &self.env.params
    }
}
