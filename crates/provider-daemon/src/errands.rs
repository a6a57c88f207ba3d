//! What somebody besides the engine has brought to the chain.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use akash_chain::tx::lane::LaneHandle;
use akash_types::{Action, Intent, IntentId, Outcome};
use futures_util::future::BoxFuture;
use provider_gateway::certs::Publisher;
use tokio::sync::oneshot;

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
