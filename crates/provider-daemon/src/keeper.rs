//! Who keeps, counts and tells what the engine does. Nothing that convergence needs.

use std::sync::Arc;

use provider_engine::engine::Published;
use provider_engine::escrow::WalletState;
use provider_engine::journal::Decision;
use provider_engine::time::Now;
use provider_engine::{Effect, Fact, Input};

use crate::announce::Announcer;
use crate::engine_task::Witness;
use crate::metrics::Metrics;
use crate::part::Part;
use crate::store::{Batch, Moment, Store};

/// The store, the metrics, the bus and the log, told of everything.
#[derive(Debug)]
pub(crate) struct Keeper {
    store: Arc<Store>,
    metrics: Arc<Metrics>,
    announcer: Announcer,
    part: Part,
    batch: Batch,
    at: Moment,
    failing: bool,
}

impl Keeper {
    pub(crate) fn new(
        store: Arc<Store>,
        metrics: Arc<Metrics>,
        announcer: Announcer,
        part: Part,
    ) -> Self {
        let (batch, at, failing) = (Batch::default(), Moment::default(), false);
        Self { store, metrics, announcer, part, batch, at, failing }
    }
}

impl Witness for Keeper {
    fn told(&mut self, now: Now, input: &Input) {
        self.metrics.observe_input(now, input);
        match input {
            Input::Block(block) => {
                self.at = Moment { height: block.height, time: block.time };
                self.announcer.block(block);
            }
            Input::Resync { height, time } => {
                self.at = Moment { height: *height, time: *time };
            }
            _ => {}
        }
    }

    fn wants(&mut self, now: Now, effect: &Effect) {
        self.metrics.observe(now, effect);
        self.batch.take(self.at, effect);
        match effect {
            Effect::Record(entry) => {
                let (subject, height) = (entry.subject, entry.height);
                match &entry.decision {
                    Decision::ClusterKnown { instead_of: Some(_), .. } | Decision::Rival { .. } => {
                        tracing::warn!(%subject, height, "{}", entry.decision);
                    }
                    decision => tracing::info!(%subject, height, "{decision}"),
                }
            }
            Effect::Publish(fact) => {
                match fact {
                    Fact::Ready => tracing::info!("chain and cluster were read: the provider acts"),
                    Fact::ClusterUnknown(why) => tracing::error!(
                        why,
                        "cluster unknown: closes, bids, deployments, withdrawals and teardowns \
                         suspended; if it is the right cluster, run `provider-services ctl cluster \
                         accept`"
                    ),
                    Fact::Breaker(true) => {
                        tracing::error!(
                            "too many leases look bad: nothing is destroyed until it is better"
                        );
                    }
                    Fact::Breaker(false) => tracing::info!("destruction goes on"),
                    Fact::Wallet(state @ WalletState::Empty(_)) => {
                        tracing::error!(balance = %state, "bidding suspended: balance too low");
                    }
                    Fact::Wallet(state @ WalletState::Low(_)) => {
                        tracing::warn!(balance = %state, "balance below minimum");
                    }
                    _ => {}
                }
                self.announcer.fact(fact, self.at.height);
            }
            _ => {}
        }
    }

    fn keep(&mut self, cursor: Option<u64>) {
        self.batch.cursor = cursor;
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return;
        }
        match self.store.commit(&batch) {
            Ok(()) if self.failing => {
                self.failing = false;
                self.part.is(crate::part::Lifecycle::Running);
                tracing::info!("the store can be written again");
            }
            Ok(()) => {}
            // What was to be kept is history; chain and cluster hold all else.
            Err(error) => {
                self.failing = true;
                self.part.has_problem(error.to_string());
                tracing::error!(%error, "the store cannot be written: the journal has a gap");
            }
        }
    }

    fn published(&mut self, published: &Arc<Published>) {
        self.announcer.published(published);
    }
}
