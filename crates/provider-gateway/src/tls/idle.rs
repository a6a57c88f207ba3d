//! Connections that wait for their client: in the handshake, before a request, between two.
//!
//! They take places that others need. When a listener is nearly full, the one that has waited
//! longest is closed for each that comes, so that idle connections, however many there are, keep
//! no client out. A client that reuses a connection makes another one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The idle connections of a listener, those that became idle first first.
#[derive(Clone, Debug, Default)]
pub(super) struct Idle(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    connections: BTreeMap<u64, Arc<Notify>>,
}

impl Idle {
    /// A connection that begins, idle.
    pub(super) fn enter(&self) -> Arc<Presence> {
        let presence =
            Presence { idle: self.clone(), close: Arc::default(), state: Mutex::default() };
        presence.wait(&mut presence.lock());
        Arc::new(presence)
    }

    /// Tells the connection that has been idle longest to close. Returns false if none is idle.
    pub(super) fn close_oldest(&self) -> bool {
        let oldest = self.lock().connections.pop_first();
        oldest.is_some_and(|(_, close)| {
            close.notify_one();
            true
        })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection, idle or not.
#[derive(Debug)]
pub(super) struct Presence {
    idle: Idle,
    close: Arc<Notify>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    requests: usize,
    /// Under which it waits among the idle ones.
    number: Option<u64>,
}

impl Presence {
    /// Waits until the connection has to close.
    pub(super) async fn closed(&self) {
        self.close.notified().await;
    }

    /// A request has arrived: the connection is not idle until the result is dropped.
    pub(super) fn request(self: &Arc<Self>) -> Answering {
        let mut state = self.lock();
        state.requests = state.requests.saturating_add(1);
        if let Some(number) = state.number.take() {
            self.idle.lock().connections.remove(&number);
        }
        Answering(Arc::clone(self))
    }

    fn wait(&self, state: &mut State) {
        let mut idle = self.idle.lock();
        let number = idle.next;
        idle.next = idle.next.wrapping_add(1);
        idle.connections.insert(number, Arc::clone(&self.close));
        state.number = Some(number);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        if let Some(number) = self.lock().number.take() {
            self.idle.lock().connections.remove(&number);
        }
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Answering(Arc<Presence>);

impl Drop for Answering {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.requests = state.requests.saturating_sub(1);
        if state.requests == 0 {
            self.0.wait(&mut state);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn the_one_that_waits_longest_closes_and_none_that_answers() {
        let idle = Idle::default();
        let (one, two, three) = (idle.enter(), idle.enter(), idle.enter());
        let busy = one.request();
        let twice = one.request();
        assert!(idle.close_oldest());
        assert!(two.closed().now_or_never().is_some());
        drop(busy);
        assert!(idle.close_oldest());
        assert!(three.closed().now_or_never().is_some());
        assert!(!idle.close_oldest(), "the first still answers");
        assert!(one.closed().now_or_never().is_none());
        drop(twice);
        assert!(idle.close_oldest());
        assert!(one.closed().now_or_never().is_some());
        drop((one, two, three));
        let gone = idle.enter();
        drop(gone);
        assert!(!idle.close_oldest());
    }
}
