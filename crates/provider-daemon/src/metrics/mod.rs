//! What is counted and measured, in the text that Prometheus reads.
//!
//! ```text
//!  engine task ── input, effect ──► Metrics (counters, histograms)
//!                                       │
//!  scrape ────── Snapshot (gauges) ─────┴──► text
//! ```
//!
//! Counters follow from what the engine is told and what it wants: whoever drives it shows each
//! input and each effect to [`Metrics`]. Gauges are not kept at all; a scrape brings a [`Snapshot`]
//! of how things are.
//!
//! The names, labels and units of the first half of [`table`] are those of the Go program, which
//! dashboards and alerts know; the rest are ours. `docs/metrics.md` lists all of them, and a test
//! compares. Why no crate is used for this stands in `docs/adr/0009-metrics-by-hand.md`.
//!
//! Must not know: who scrapes, and what a value means for the provider.

mod decisions;
mod metric;
mod observe;
mod process;
mod snapshot;
pub mod table;
#[cfg(test)]
mod tests;
mod text;

use std::sync::{Mutex, PoisonError};

use provider_engine::time::Now;
use provider_engine::{Effect, Input};

pub use metric::{Description, Kind};
pub use process::ProcessStats;
pub use snapshot::{EngineGauges, Reserved, Snapshot};
pub use text::Format;

use metric::Page;
use observe::Observer;

/// Everything that is counted. Shared; every call is short.
#[derive(Debug, Default)]
pub struct Metrics {
    observer: Mutex<Observer>,
}

impl Metrics {
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts what the engine is told.
    pub fn observe_input(&self, now: Now, input: &Input) {
        self.with(|observer| observer.input(now, input));
    }

    /// Counts what the engine wants.
    pub fn observe(&self, now: Now, effect: &Effect) {
        self.with(|observer| observer.effect(now, effect));
    }

    /// Counts a call of the Kubernetes driver, such as `manifests-get`.
    pub fn kube_call(&self, action: &str, success: bool) {
        let result = if success { "success" } else { "fail" };
        self.with(|observer| observer.series.count(&table::KUBE_CALLS, [action, result]));
    }

    /// All of it, with how things are at the moment.
    pub fn render(&self, snapshot: &Snapshot<'_>, format: Format) -> String {
        self.page(snapshot).render(format, false)
    }

    /// Only what was counted or is told: for a process that is a part of a provider.
    pub fn render_part(&self, snapshot: &Snapshot<'_>, format: Format) -> String {
        self.page(snapshot).render(format, true)
    }

    fn page(&self, snapshot: &Snapshot<'_>) -> Page {
        let mut page = Page::default();
        self.with(|observer| page.take_series(&observer.series));
        snapshot.fill(&mut page);
        page
    }

    fn with<T>(&self, act: impl FnOnce(&mut Observer) -> T) -> T {
        // A panic elsewhere leaves counts as they are, which is better than none.
        act(&mut self.observer.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
