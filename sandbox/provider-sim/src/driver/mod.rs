//! The port over a core that lives in this process, with real time.
//!
//! ```text
//! SimDriver (clones) ── Ask ──► owner task: core, clock, store ── ViewChange ──► watchers
//! ```
//!
//! One task owns the core. What a step changed is kept before anybody hears of it. Whoever cannot
//! keep up with the changes is given the whole view again.
//!
//! Nothing here decides anything: the core does.

mod exec;
mod owner;

use std::time::Duration;

use akash_types::LeaseId;
use owner::Owner;
use provider_engine::cluster::command::{CommandFailure, Operation};
use provider_engine::cluster::port::{
    Changes, EventQuery, Exec, ExecFailure, ExecRequest, Execute, Inspect, LeaseStatus, LogQuery,
    Logs, Observe, ReadFailure, ServiceStatus,
};
use provider_engine::cluster::view::{Held, ViewChange};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::core::{Disturbance, EventCursor, LogCursor, Page, SimCluster};
use crate::store::{Store, StoreError};

pub use exec::{SimEvents, SimInputEnd, SimLines, SimOutputEnd};
pub use owner::Clock;

/// Asks that may wait for the owner; who sends more waits too.
const ASKS: usize = 256;
/// Changes that a watcher may be behind before it is given the whole view again.
const CHANGES: usize = 4096;
/// How long to wait for an answer that a fault may have eaten.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the owner of a core is asked for.
enum Ask {
    Command(Operation, oneshot::Sender<Result<(), CommandFailure>>),
    Observe(oneshot::Sender<(ViewChange, broadcast::Receiver<ViewChange>)>),
    Disturb(Disturbance, oneshot::Sender<()>),
    Read(Box<dyn FnOnce(&SimCluster) + Send>),
}

/// A simulated cluster in this process. Every clone is the same cluster.
#[derive(Clone, Debug)]
pub struct SimDriver {
    asks: mpsc::Sender<Ask>,
}

/// The owner of a core has ended; so has the cluster, for this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the simulated cluster has stopped")]
pub struct Stopped;

impl SimDriver {
    /// Starts a cluster whose state lasts as long as this process.
    pub fn start(cluster: SimCluster) -> Self {
        Self::start_kept(cluster, Clock::from_zero(), None).0
    }

    /// Starts a cluster whose state is kept. The task ends when the last driver is dropped, or with
    /// why the state could not be kept.
    pub fn start_kept(
        cluster: SimCluster,
        clock: Clock,
        store: Option<Store>,
    ) -> (Self, JoinHandle<Result<(), StoreError>>) {
        let (asks, receiver) = mpsc::channel(ASKS);
        let (changes, _) = broadcast::channel(CHANGES);
        let task = tokio::spawn(Owner::new(cluster, clock, store, changes).run(receiver));
        (Self { asks }, task)
    }

    /// Makes something go wrong, or right again.
    pub async fn disturb(&self, disturbance: Disturbance) -> Result<(), Stopped> {
        let (reply, answer) = oneshot::channel();
        self.asks.send(Ask::Disturb(disturbance, reply)).await.map_err(|_| Stopped)?;
        answer.await.map_err(|_| Stopped)
    }

    pub async fn page(&self, hostname: String) -> Result<Option<Page>, Stopped> {
        self.read(move |cluster| cluster.page(&hostname)).await
    }

    async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&SimCluster) -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        let (reply, answer) = oneshot::channel();
        let question = move |cluster: &SimCluster| drop(reply.send(question(cluster)));
        self.asks.send(Ask::Read(Box::new(question))).await.map_err(|_| Stopped)?;
        answer.await.map_err(|_| Stopped)
    }
}

impl From<Stopped> for ReadFailure {
    fn from(stopped: Stopped) -> Self {
        Self::Unavailable(stopped.to_string())
    }
}

impl Execute for SimDriver {
    async fn execute(&self, operation: Operation) -> Result<(), CommandFailure> {
        let unavailable = |why: &str| CommandFailure::Unavailable(why.to_owned());
        let (reply, answer) = oneshot::channel();
        let sent = self.asks.send(Ask::Command(operation, reply)).await;
        sent.map_err(|_| unavailable("the simulated cluster has stopped"))?;
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(unavailable("the simulated cluster has stopped")),
            Err(_) => Err(unavailable("no answer came in time")),
        }
    }
}

impl Observe for SimDriver {
    type Changes = SimChanges;

    fn observe(&self) -> SimChanges {
        SimChanges::new(self.clone())
    }
}

impl Inspect for SimDriver {
    type Events = SimEvents;

    async fn status(&self, lease: LeaseId) -> Result<LeaseStatus, ReadFailure> {
        self.read(move |cluster| cluster.status(lease)).await?
    }

    async fn service(&self, lease: LeaseId, service: &str) -> Result<ServiceStatus, ReadFailure> {
        let service = service.to_owned();
        self.read(move |cluster| cluster.service(lease, &service)).await?
    }

    async fn manifest(&self, lease: LeaseId) -> Result<Held, ReadFailure> {
        self.read(move |cluster| cluster.manifest(lease)).await?
    }

    async fn events(&self, lease: LeaseId, query: EventQuery) -> Result<SimEvents, ReadFailure> {
        let follow = query.follow;
        let cursor = self.read(move |cluster| EventCursor::new(cluster, lease, &query)).await??;
        Ok(SimEvents::new(self.clone(), cursor, follow))
    }
}

impl Logs for SimDriver {
    type Lines = SimLines;

    async fn logs(&self, lease: LeaseId, query: LogQuery) -> Result<SimLines, ReadFailure> {
        let cursor = self.read(move |cluster| LogCursor::new(cluster, lease, query)).await??;
        Ok(SimLines::new(self.clone(), cursor))
    }
}

impl Exec for SimDriver {
    type Input = SimInputEnd;
    type Output = SimOutputEnd;

    async fn exec(
        &self,
        lease: LeaseId,
        request: ExecRequest,
    ) -> Result<(SimInputEnd, SimOutputEnd), ExecFailure> {
        let started = self.read(move |cluster| cluster.shell(lease, &request)).await;
        let (shell, said) = started.map_err(|why| ExecFailure::Unavailable(why.to_string()))??;
        Ok(exec::run(self.clone(), shell, said))
    }
}

#[derive(Debug)]
pub struct SimChanges {
    driver: SimDriver,
    receiver: Option<Receiver<ViewChange>>,
    is_over: bool,
}

impl SimChanges {
    const fn new(driver: SimDriver) -> Self {
        Self { driver, receiver: None, is_over: false }
    }

    async fn begin(&mut self) -> Option<ViewChange> {
        let (reply, answer) = oneshot::channel();
        self.driver.asks.send(Ask::Observe(reply)).await.ok()?;
        let (first, receiver) = answer.await.ok()?;
        self.receiver = Some(receiver);
        Some(first)
    }
}

impl Changes for SimChanges {
    async fn next(&mut self) -> ViewChange {
        if let Some(receiver) = &mut self.receiver {
            match receiver.recv().await {
                Ok(change) => return change,
                // Too far behind, or over: whichever it is, beginning again tells.
                Err(RecvError::Lagged(_) | RecvError::Closed) => self.receiver = None,
            }
        }
        match self.begin().await {
            Some(first) => first,
            // A cluster in this process that has ended does not come back.
            None if self.is_over => std::future::pending().await,
            None => {
                self.is_over = true;
                ViewChange::Lost
            }
        }
    }
}
