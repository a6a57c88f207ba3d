//! Connections that wait for their client: in the handshake, before a request, between two.
//!
//! They take places that others need. When more connections are open than nearly fill a listener,
//! so many of them are closed, so that they keep no client out. Those that were told to close and
//! have not gone yet count as gone: a burst closes no more than that. The victim belongs to the
//! client with the most idle connections, and is the one that has been idle longest; clients with
//! fewer than [`ALIKE`] are equal. So a flood from a few addresses closes its own connections,
//! and one from many addresses those that are idle longest. A connection whose request arrives
//! before it closes stays open.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// Clients are compared by how many times they have so many idle connections.
const ALIKE: usize = 16;

/// The idle connections of a listener.
#[derive(Clone, Debug, Default)]
pub(super) struct Idle(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// Numbers grow with time: the lowest of a client has been idle longest.
    next: u64,
    clients: HashMap<IpAddr, BTreeMap<u64, Arc<Notify>>>,
    /// The same clients, the one to close a connection of last.
    ranks: BTreeSet<Rank>,
    /// How many were told to close and have not gone yet.
    closing: usize,
}

/// How many idle connections a client has, in steps of [`ALIKE`], and its oldest one.
type Rank = (usize, Reverse<u64>, IpAddr);

fn rank(client: IpAddr, connections: &BTreeMap<u64, Arc<Notify>>) -> Option<Rank> {
    let (oldest, _) = connections.first_key_value()?;
    Some((connections.len() / ALIKE, Reverse(*oldest), client))
}

impl Waiting {
    /// Changes the connections of a client, and its rank with them.
    fn change<T>(
        &mut self,
        client: IpAddr,
        change: impl FnOnce(&mut BTreeMap<u64, Arc<Notify>>) -> T,
    ) -> T {
        let connections = self.clients.entry(client).or_default();
        if let Some(before) = rank(client, connections) {
            self.ranks.remove(&before);
        }
        let changed = change(connections);
        match rank(client, connections) {
            Some(after) => drop(self.ranks.insert(after)),
            None => drop(self.clients.remove(&client)),
        }
        changed
    }
}

impl Idle {
    /// Registers a connection of `client`, which begins idle.
    pub(super) fn enter(&self, client: IpAddr) -> Arc<Presence> {
        let presence =
            Presence { idle: self.clone(), client, close: Arc::default(), state: Mutex::default() };
        presence.wait(&mut presence.lock());
        Arc::new(presence)
    }

    /// Tells one idle connection to close if more than `enough` of `open` ones would stay. Returns
    /// false if none was told.
    pub(super) fn close_one(&self, open: usize, enough: usize) -> bool {
        let mut waiting = self.lock();
        if open.saturating_sub(waiting.closing) <= enough {
            return false;
        }
        let Some((_, _, client)) = waiting.ranks.last().copied() else { return false };
        let Some((_, close)) = waiting.change(client, BTreeMap::pop_first) else { return false };
        waiting.closing = waiting.closing.saturating_add(1);
        close.notify_one();
        true
    }

    /// Tells idle connections to close until at most so many stay; how many were told.
    pub(super) fn close_beyond(&self, most: usize) -> usize {
        let idle: usize = self.lock().clients.values().map(BTreeMap::len).sum();
        (most..idle).take_while(|_| self.close_one(usize::MAX, 0)).count()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection, idle or not.
#[derive(Debug)]
pub(super) struct Presence {
    idle: Idle,
    client: IpAddr,
    close: Arc<Notify>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    requests: usize,
    /// Its number among the idle ones.
    number: Option<u64>,
    /// Since when it is idle.
    since: Option<Instant>,
    /// It does not count as idle any more, whatever it does.
    is_exempt: bool,
}

impl Presence {
    /// Waits until the connection has to close. One that was told to and got a request meanwhile
    /// goes on.
    pub(super) async fn closed(&self) {
        loop {
            self.close.notified().await;
            if self.lock().requests == 0 {
                return;
            }
        }
    }

    /// Waits until the connection has been idle for so long.
    pub(super) async fn idle_for(&self, patience: Duration) {
        loop {
            let now = Instant::now();
            let (since, is_exempt) = {
                let state = self.lock();
                (state.since.filter(|_| state.number.is_some()), state.is_exempt)
            };
            if is_exempt {
                return std::future::pending().await;
            }
            let end = since.unwrap_or(now).checked_add(patience).unwrap_or(now);
            if end <= now {
                return;
            }
            tokio::time::sleep_until(end).await;
        }
    }

    /// The connection does not count as idle from now on.
    pub(super) fn exempt(&self) {
        let mut state = self.lock();
        state.is_exempt = true;
        self.leave(&mut state);
    }

    /// A request has arrived: the connection is not idle until the result is dropped.
    pub(super) fn request(self: &Arc<Self>) -> Answering {
        let mut state = self.lock();
        state.requests = state.requests.saturating_add(1);
        self.leave(&mut state);
        Answering(Arc::clone(self))
    }

    fn wait(&self, state: &mut State) {
        if state.is_exempt {
            return;
        }
        state.since = Some(Instant::now());
        let mut idle = self.idle.lock();
        let number = idle.next;
        idle.next = idle.next.wrapping_add(1);
        idle.change(self.client, |connections| {
            connections.insert(number, Arc::clone(&self.close));
        });
        state.number = Some(number);
    }

    fn leave(&self, state: &mut State) {
        if let Some(number) = state.number.take() {
            let mut idle = self.idle.lock();
            let told =
                idle.change(self.client, |connections| connections.remove(&number).is_none());
            idle.closing = idle.closing.saturating_sub(usize::from(told));
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.leave(&mut self.lock());
    }
}

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

    fn client(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    /// Of one listener that has no place left.
    fn close_one(idle: &Idle) -> bool {
        idle.close_one(usize::MAX, 0)
    }

    fn is_closed(presence: &Presence) -> bool {
        presence.closed().now_or_never().is_some()
    }

    #[test]
    fn the_one_that_waits_longest_closes_and_none_that_answers() {
        let idle = Idle::default();
        let (one, two, three) =
            (idle.enter(client(1)), idle.enter(client(2)), idle.enter(client(3)));
        let busy = one.request();
        let twice = one.request();
        assert!(close_one(&idle));
        assert!(is_closed(&two));
        drop(busy);
        assert!(close_one(&idle));
        assert!(is_closed(&three));
        assert!(!close_one(&idle), "the first still answers");
        assert!(!is_closed(&one));
        drop(twice);
        assert!(close_one(&idle));
        assert!(is_closed(&one));
        drop((one, two, three));
        let gone = idle.enter(client(1));
        drop(gone);
        assert!(!close_one(&idle));
        assert!(idle.lock().clients.is_empty() && idle.lock().ranks.is_empty());
    }

    #[test]
    fn a_flood_closes_its_own_connections_first() {
        let idle = Idle::default();
        let honest = idle.enter(client(1));
        let flood: Vec<_> = (0..ALIKE * 3).map(|_| idle.enter(client(2))).collect();
        // Down to as few as are alike, then those that are idle longest.
        let closed = |flood: &[Arc<Presence>]| flood.iter().filter(|it| is_closed(it)).count();
        for _ in 0..ALIKE * 2 + 1 {
            assert!(close_one(&idle));
        }
        assert_eq!(closed(&flood), ALIKE * 2 + 1);
        assert!(!is_closed(&honest));
        assert!(close_one(&idle));
        assert!(is_closed(&honest));
    }

    #[test]
    fn a_burst_closes_no_more_than_make_room() {
        let idle = Idle::default();
        let open: Vec<_> = (0..8).map(|last| idle.enter(client(last))).collect();
        let told = (0..100).filter(|_| idle.close_one(8, 6)).count();
        assert_eq!(told, 2, "those that are told count as gone");
        assert!(is_closed(&open[0]) && is_closed(&open[1]));
        // One goes, the other gets a request and stays: another has to close in its place.
        let open = open.into_iter().skip(1).collect::<Vec<_>>();
        let _busy = open[0].request();
        let told = (0..100).filter(|_| idle.close_one(7, 6)).count();
        assert_eq!(told, 1);
        assert!(is_closed(&open[1]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_idle_for_as_long_as_it_has_no_request_unless_it_is_exempt() {
        let idle = Idle::default();
        let patience = Duration::from_secs(15);
        let one = idle.enter(client(1));
        let asking = async {
            for _ in 0..4 {
                tokio::time::sleep(patience * 2 / 3).await;
                let busy = one.request();
                tokio::time::sleep(patience * 2).await;
                drop(busy);
            }
            Instant::now()
        };
        let ended = async {
            one.idle_for(patience).await;
            Instant::now()
        };
        let (asked, ended) = tokio::join!(asking, ended);
        assert_eq!(ended - asked, patience);

        let known = idle.enter(client(2));
        known.exempt();
        drop(known.request());
        let waited = tokio::time::timeout(patience * 100, known.idle_for(patience)).await;
        assert!(waited.is_err());
        assert_eq!(idle.close_beyond(1), 0, "only one is idle");
        assert_eq!(idle.close_beyond(0), 1);
    }

    #[test]
    fn a_request_that_comes_before_the_end_is_answered() {
        let idle = Idle::default();
        let one = idle.enter(client(1));
        assert!(close_one(&idle));
        let busy = one.request();
        assert!(!is_closed(&one));
        drop(busy);
        assert!(!is_closed(&one), "it waits again, as the newest");
        assert!(close_one(&idle));
        assert!(is_closed(&one));
    }
}
