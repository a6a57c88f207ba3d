//! The task that owns a core.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use provider_engine::cluster::command::{Command, CommandFailure, CommandId};
use provider_engine::cluster::view::ViewChange;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::Instant;

use super::Ask;
use crate::core::{SimCluster, SimInput, SimOutput};
use crate::store::{Store, StoreError};

/// Longest time without a look at the clock.
const IDLE: Duration = Duration::from_secs(3600);

type Reply = oneshot::Sender<Result<(), CommandFailure>>;

pub(super) struct Owner {
    cluster: SimCluster,
    clock: Clock,
    store: Option<Store>,
    changes: broadcast::Sender<ViewChange>,
    /// Who waits for the answer to which command.
    replies: HashMap<CommandId, Reply>,
    next_id: u64,
}

impl Owner {
    pub(super) fn new(
        cluster: SimCluster,
        clock: Clock,
        store: Option<Store>,
        changes: broadcast::Sender<ViewChange>,
    ) -> Self {
        Self { cluster, clock, store, changes, replies: HashMap::new(), next_id: 0 }
    }

    /// Runs until nobody can ask any more, or what happened cannot be kept.
    pub(super) async fn run(mut self, mut asks: mpsc::Receiver<Ask>) -> Result<(), StoreError> {
        loop {
            let due = self.cluster.next_due();
            let pause = due.map_or(IDLE, |due| self.clock.until(due).min(IDLE));
            tokio::select! {
                ask = asks.recv() => match ask {
                    Some(ask) => self.answer(ask)?,
                    None => return Ok(()),
                },
                () = tokio::time::sleep(pause) => self.step(SimInput::Tick)?,
            }
        }
    }

    fn answer(&mut self, ask: Ask) -> Result<(), StoreError> {
        match ask {
            Ask::Command(operation, reply) => {
                let id = CommandId(self.next_id);
                self.next_id = self.next_id.wrapping_add(1);
                // Those whose answer was lost have stopped waiting meanwhile.
                self.replies.retain(|_, reply| !reply.is_closed());
                self.replies.insert(id, reply);
                self.step(SimInput::Command(Command { id, operation }))?;
            }
            Ask::Observe(reply) => {
                self.step(SimInput::Tick)?;
                let _ = reply.send((self.cluster.observed(), self.changes.subscribe()));
            }
            Ask::Disturb(disturbance, reply) => {
                self.step(SimInput::Disturb(disturbance))?;
                let _ = reply.send(());
            }
            Ask::Read(question) => {
                self.step(SimInput::Tick)?;
                question(&self.cluster);
            }
        }
        Ok(())
    }

    /// A step: kept first, told then.
    fn step(&mut self, input: SimInput) -> Result<(), StoreError> {
        let outputs = self.cluster.step(self.clock.now(), input);
        if let Some(store) = &mut self.store {
            store.keep(&self.cluster)?;
        }
        for output in outputs {
            match output {
                // Nobody may watch, and nobody may wait for the answer any more.
                SimOutput::View(change) => drop(self.changes.send(change)),
                SimOutput::Answer(answer) => {
                    if let Some(reply) = self.replies.remove(&answer.id) {
                        let _ = reply.send(answer.result);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Moments of a core, from an origin on.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    started: Instant,
    offset: Duration,
}

impl Clock {
    pub fn from_zero() -> Self {
        Self { started: Instant::now(), offset: Duration::ZERO }
    }

    /// Counts from 1970, so that a moment means the same after a restart.
    pub fn of_day() -> Self {
        let offset = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { started: Instant::now(), offset }
    }

    /// The moment that it is. It never goes back, whatever is done to the machine's clock.
    pub fn now(&self) -> Duration {
        self.offset.saturating_add(self.started.elapsed())
    }

    /// How long it is until `due`.
    pub(super) fn until(&self, due: Duration) -> Duration {
        due.saturating_sub(self.now())
    }
}
