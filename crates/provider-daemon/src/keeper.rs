//! Who keeps, counts and tells what the engine does. Nothing that convergence needs.
//!
//! What a full disk refuses is held in memory, and written when there is room again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use akash_chain::tx::lane::LaneHandle;
use akash_types::{Action, Intent, IntentId, Outcome};
use futures_util::future::BoxFuture;
use provider_engine::engine::Published;
use provider_engine::escrow::WalletState;
use provider_engine::journal::Decision;
use provider_engine::time::Now;
use provider_engine::{Effect, Fact, Input};
use provider_gateway::certs::Publisher;
use tokio::sync::oneshot;

use crate::announce::Announcer;
use crate::engine_task::Witness;
use crate::metrics::Metrics;
use crate::part::Part;
use crate::store::{Batch, Moment, Store};

/// Entries of the journal that are held in memory while the store cannot be written; older ones are
/// forgotten.
const MOST_ENTRIES: usize = 10_000;
/// Pause between attempts to write a store that cannot be written: each reads its file anew.
const RETRY: Duration = Duration::from_secs(10);

/// The store, the metrics, the bus and the log, told of everything.
#[derive(Debug)]
pub(crate) struct Keeper {
    store: Arc<Store>,
    metrics: Arc<Metrics>,
    announcer: Announcer,
    part: Part,
    batch: Batch,
    at: Moment,
    /// When the store could not be written last; `None` if it could.
    failed: Option<Instant>,
    retry: Duration,
}

impl Keeper {
    pub(crate) fn new(
        store: Arc<Store>,
        metrics: Arc<Metrics>,
        announcer: Announcer,
        part: Part,
    ) -> Self {
        let (batch, at) = (Batch::default(), Moment::default());
        Self { store, metrics, announcer, part, batch, at, failed: None, retry: RETRY }
    }

    /// The same, with another pause between attempts.
    #[cfg(test)]
    pub(crate) fn retrying(self, retry: Duration) -> Self {
        Self { retry, ..self }
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
                self.announcer.decided(entry);
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
        self.batch.cursor = cursor.or(self.batch.cursor);
        if self.batch.is_empty() || self.failed.is_some_and(|at| at.elapsed() < self.retry) {
            return;
        }
        match self.store.commit(&self.batch) {
            Ok(()) => {
                self.batch = Batch::default();
                if self.failed.take().is_some() {
                    self.part.is(crate::part::Lifecycle::Running);
                    tracing::info!("the store can be written again: what was in memory is in it");
                }
            }
            // What was to be kept is history; chain and cluster hold all else.
            Err(error) if error.is_full() => {
                self.failed = Some(Instant::now());
                let forgotten = self.batch.forget_oldest(MOST_ENTRIES);
                self.part.has_problem(format!("kept in memory: {error}"));
                tracing::error!(
                    %error,
                    entries = self.batch.entries.len(),
                    forgotten,
                    "disk full: journal and history are kept in memory, and lost with the process; \
                     free space on the disk of --store-path"
                );
            }
            Err(error) => {
                self.failed = Some(Instant::now());
                self.batch = Batch::default();
                self.part.has_problem(error.to_string());
                tracing::error!(%error, "the store cannot be written: the journal has a gap");
            }
        }
    }

    fn published(&mut self, published: &Arc<Published>) {
        self.announcer.published(published);
    }
}

/// Intents from here on are not the engine's, which counts from zero.
const FIRST: u64 = 1 << 62;

/// Hands intents to the lane and waits for their end. Clones share it.
#[derive(Clone, Debug)]
pub struct Errands {
    lane: LaneHandle,
    waiting: Waiting,
}

/// Who waits for the end of an intent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    next: u64,
    waiting: HashMap<IntentId, oneshot::Sender<Outcome>>,
}

impl Waiting {
    fn begin(&self) -> (IntentId, oneshot::Receiver<Outcome>) {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = IntentId(FIRST.saturating_add(table.next));
        table.next = table.next.saturating_add(1);
        let (end, ended) = oneshot::channel();
        table.waiting.insert(id, end);
        (id, ended)
    }

    /// Tells whoever waits that an intent has ended. False if nobody does: then it is the engine's.
    pub(crate) fn ended(&self, intent: IntentId, outcome: &Outcome) -> bool {
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(end) = table.waiting.remove(&intent) else { return intent.0 >= FIRST };
        // Who gave up waiting needs no answer.
        let _ = end.send(outcome.clone());
        true
    }
}

impl Errands {
    pub(crate) const fn new(lane: LaneHandle, waiting: Waiting) -> Self {
        Self { lane, waiting }
    }
}

impl Publisher for Errands {
    fn submit(&self, action: Action) -> BoxFuture<'_, Outcome> {
        Box::pin(async move {
            let (id, ended) = self.waiting.begin();
            let height = self.lane.status().height;
            if self.lane.submit(vec![Intent::new(id, action, height)]).await.is_err() {
                return Outcome::Forgotten;
            }
            ended.await.unwrap_or(Outcome::Forgotten)
        })
    }
}
