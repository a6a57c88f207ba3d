//! Which fault met which stage of an order's or a lease's life.
//!
//! A cell counts orders or leases that were in a stage while a fault of a kind struck. One that
//! stays empty over a whole run was not tried, and the run says so.

use std::fmt;

use provider_engine::engine::Stage;
use provider_engine::order;
use provider_engine::{Engine, lease};

use super::faults::FaultKind;

/// Order stages, then lease stages.
const ROWS: usize = order::Stage::NAMES.len() + lease::STAGE_NAMES.len();
const COLUMNS: usize = FaultKind::ALL.len();

/// Counts by stage and fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    cells: [[u64; COLUMNS]; ROWS],
    /// How often each fault struck.
    strikes: [u64; COLUMNS],
}

impl Default for Coverage {
    fn default() -> Self {
        Self { cells: [[0; COLUMNS]; ROWS], strikes: [0; COLUMNS] }
    }
}

impl Coverage {
    pub(crate) fn struck(&mut self, kind: FaultKind, engine: Option<&Engine>) {
        let Some(column) = FaultKind::ALL.iter().position(|other| *other == kind) else { return };
        if let Some(strikes) = self.strikes.get_mut(column) {
            *strikes += 1;
        }
        for record in engine.into_iter().flat_map(Engine::records) {
            let (names, before): (&[&str], usize) = match &record.stage {
                Stage::Order(_) => (&order::Stage::NAMES, 0),
                Stage::Lease(_) => (&lease::STAGE_NAMES, order::Stage::NAMES.len()),
            };
            let row = names.iter().position(|name| *name == record.stage_name());
            let cell = row.and_then(|row| self.cells.get_mut(before + row)?.get_mut(column));
            if let Some(cell) = cell {
                *cell += 1;
            }
        }
    }

    /// Adds what another run covered.
    pub fn add(&mut self, other: &Self) {
        for (row, more) in self.cells.iter_mut().zip(&other.cells) {
            row.iter_mut().zip(more).for_each(|(cell, more)| *cell += more);
        }
        self.strikes.iter_mut().zip(&other.strikes).for_each(|(cell, more)| *cell += more);
    }

    /// How many faults there were.
    pub fn faults(&self) -> u64 {
        self.strikes.iter().sum()
    }

    /// How often a kind of fault struck.
    pub fn strikes(&self, kind: FaultKind) -> u64 {
        let column = FaultKind::ALL.iter().position(|other| *other == kind);
        column.and_then(|column| self.strikes.get(column)).copied().unwrap_or(0)
    }

    /// Stages and faults that never met.
    pub fn empty(&self) -> Vec<(String, &'static str)> {
        let cells = self.cells.iter().zip(rows());
        cells
            .flat_map(|(row, name)| {
                let columns = row.iter().zip(FaultKind::ALL);
                let empty = columns.filter(|(count, _)| **count == 0);
                empty.map(move |(_, kind)| (name.clone(), kind.name())).collect::<Vec<_>>()
            })
            .collect()
    }
}

fn rows() -> impl Iterator<Item = String> {
    let orders = order::Stage::NAMES.iter().map(|name| format!("order {name}"));
    orders.chain(lease::STAGE_NAMES.iter().map(|name| format!("lease {name}")))
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<24}", "stage \\ fault")?;
        for kind in FaultKind::ALL {
            write!(f, "{:>9}", kind.name())?;
        }
        for (name, row) in rows().zip(&self.cells) {
            write!(f, "\n{name:<24}")?;
            for count in row {
                write!(f, "{count:>9}")?;
            }
        }
        write!(f, "\n{:<24}", "strikes")?;
        for count in &self.strikes {
            write!(f, "{count:>9}")?;
        }
        Ok(())
    }
}
