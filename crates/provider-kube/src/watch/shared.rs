//! What the watches, the owner of the view and everybody who reads have in common.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use kube_access::{CachedObject, Failure, ResourceKind};
use provider_engine::cluster::port::Changes;
use provider_engine::cluster::view::ViewChange;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;

use super::api_probe::Health;
use super::cache::ObjectCache;
use super::owner::Ask;

/// What was shown, and whether it is how things are.
#[derive(Debug)]
pub(crate) struct Shared {
    cache: RwLock<ObjectCache>,
    health: Mutex<Health>,
    /// Something changed: the owner of the view looks at it.
    pub(super) changed: Notify,
    /// Somebody got no answer: whether anybody does is found out now.
    pub(super) doubt: Notify,
    /// The API server answers again: nobody waits any longer.
    pub(super) again: Arc<Notify>,
    turns: watch::Sender<u64>,
}

#[cfg(test)]
impl Default for Shared {
    fn default() -> Self {
        Self::new(Health::default())
    }
}

impl Shared {
    pub(super) fn new(health: Health) -> Self {
        Self {
            cache: RwLock::default(),
            health: Mutex::new(health),
            changed: Notify::new(),
            doubt: Notify::new(),
            again: Arc::default(),
            turns: watch::Sender::new(0),
        }
    }

    /// What was shown, if it is how things are.
    pub(crate) fn known(&self) -> Result<RwLockReadGuard<'_, ObjectCache>, Failure> {
        match self.health().unknown(Instant::now()) {
            Some(why) => Err(Failure::unavailable(why)),
            None => Ok(self.cache()),
        }
    }

    /// What was shown last, whether or not it is still so.
    pub(crate) fn cache(&self) -> RwLockReadGuard<'_, ObjectCache> {
        self.cache.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what came of a write.
    pub(crate) fn wrote(&self, kind: ResourceKind, shown: CachedObject) {
        self.change(|cache| cache.wrote(kind, shown));
    }

    /// No answer came: others are told soon if none comes for them either.
    pub(crate) fn doubts(&self, failure: &Failure) {
        if failure.is_silent() {
            self.doubt.notify_one();
        }
    }

    /// Told after every look at what changed.
    pub(crate) fn turns(&self) -> watch::Receiver<u64> {
        self.turns.subscribe()
    }

    pub(super) fn turned(&self) {
        self.turns.send_modify(|turn| *turn = turn.wrapping_add(1));
    }

    pub(super) fn change<T>(&self, change: impl FnOnce(&mut ObjectCache) -> T) -> T {
        let changed = change(&mut self.cache.write().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_one();
        changed
    }

    /// As `change`, for whoever looks at what changed.
    pub(super) fn change_quietly<T>(&self, change: impl FnOnce(&mut ObjectCache) -> T) -> T {
        change(&mut self.cache.write().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What somebody who watches sees. Whoever cannot keep up is given the whole view again.
#[derive(Debug)]
pub struct KubeChanges {
    asks: mpsc::Sender<Ask>,
    receiver: Option<Receiver<ViewChange>>,
    /// The last that was told is that nothing is known.
    is_lost: bool,
}

impl KubeChanges {
    pub(super) const fn new(asks: mpsc::Sender<Ask>) -> Self {
        Self { asks, receiver: None, is_lost: false }
    }

    async fn begin(&mut self) -> Option<ViewChange> {
        let (reply, answer) = oneshot::channel();
        self.asks.send(reply).await.ok()?;
        let (first, receiver) = answer.await.ok()?;
        self.receiver = Some(receiver);
        Some(first)
    }
}

impl Changes for KubeChanges {
    async fn next(&mut self) -> ViewChange {
        loop {
            let change = match &mut self.receiver {
                Some(receiver) => match receiver.recv().await {
                    Ok(change) => change,
                    // Too far behind: beginning again tells.
                    Err(RecvError::Lagged(_) | RecvError::Closed) => {
                        self.receiver = None;
                        continue;
                    }
                },
                None => match self.begin().await {
                    Some(first) => first,
                    // The driver was stopped; nothing will ever be told.
                    None if self.is_lost => std::future::pending().await,
                    None => ViewChange::Lost,
                },
            };
            let was_lost = std::mem::replace(&mut self.is_lost, change == ViewChange::Lost);
            if !(was_lost && self.is_lost) {
                return change;
            }
        }
    }
}
