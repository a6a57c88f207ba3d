//! A provider simulated to death: engine, lane and follower between a devnet chain and a simulated
//! cluster, under a virtual clock, with everything going wrong that can.
//!
//! ```text
//! scenario ─► world (time of trouble) ─► peace ─► at rest? ─► crash without store ─► at rest?
//!                  │ every step
//!                  └─► invariants ─► violations, each with its seed
//! ```
//!
//! [`run`] plays one seed. The same seed gives the same steps, bit for bit ([`Report::digest`]).
//! Nothing here is real but the decisions: no socket, no file, no clock.

mod coverage;
mod defect;
mod dice;
mod faults;
mod invariants;
mod scenario;
mod tenants;
mod trace;
mod world;

use std::time::Duration;

pub use coverage::Coverage;
pub use defect::Defect;
pub use faults::FaultKind;
pub use invariants::Violation;

use scenario::{AGAIN, QUIET, Scenario, TROUBLE};
use trace::Trace;
use world::World;

/// More steps than any scenario takes: one that takes more turns in circles.
const MOST_STEPS: u64 = 400_000;

/// How a seed is played.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether every step is printed.
    pub trace: bool,
    /// A deliberate mistake.
    pub defect: Option<Defect>,
}

impl Options {
    /// Without mistakes; with every step printed, if so wanted.
    pub const fn traced(trace: bool) -> Self {
        Self { trace, defect: None }
    }
}

/// How a seed went.
#[derive(Clone, Debug)]
pub struct Report {
    pub seed: u64,
    pub steps: u64,
    /// Orders that tenants made.
    pub orders: u64,
    /// Leases that the provider had.
    pub leases: u64,
    /// How often the process died.
    pub crashes: u64,
    /// What must not be and was.
    pub violations: Vec<Violation>,
    /// Which faults met which stages.
    pub coverage: Coverage,
    /// A number that differs when anything differs.
    pub digest: u64,
}

/// Plays one seed. `None` only if the scenario itself cannot be made.
pub fn run(seed: u64, options: Options) -> Option<Report> {
    let scenario = Scenario { defect: options.defect, ..Scenario::of(seed)? };
    let mut world = World::new(scenario, Trace::new(options.trace))?;
    world.until_then(TROUBLE + QUIET);
    if world.watch.violations.is_empty() {
        world.check_rest();
    }
    if world.watch.violations.is_empty() {
        world.crash_at_rest();
        world.until_then(TROUBLE + QUIET + AGAIN);
        world.check_rest();
    }
    Some(world.report())
}

impl World {
    /// Runs until `end` and until the process has received what the cluster showed by then, or
    /// until something is wrong. A replica that becomes healthy in the last step is not drift.
    fn until_then(&mut self, end: Duration) {
        while (self.now < end || self.has_views_in_flight())
            && self.watch.violations.is_empty()
            && self.steps < MOST_STEPS
        {
            if !self.step() {
                break;
            }
        }
        if self.steps >= MOST_STEPS {
            self.watch.stuck();
            self.after_step();
        }
    }

    fn report(self) -> Report {
        let crashes = self.coverage.strikes(FaultKind::Crash)
            + self.coverage.strikes(FaultKind::CrashWithoutStore);
        Report {
            seed: self.scenario.seed,
            steps: self.steps,
            orders: self.tenants.orders,
            leases: self.watch.lease_count(),
            crashes,
            digest: self.trace.digest(),
            violations: self.watch.violations,
            coverage: self.coverage,
        }
    }
}
