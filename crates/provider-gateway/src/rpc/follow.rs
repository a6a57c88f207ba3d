//! The status of services, followed: read when something hints at a change, and now and then
//! without a hint, because not everything that changes is told.
//!
//! ```text
//! hint: the engine shows the lease otherwise, or something happened to it
//!   │
//!   ▼
//! read at once ─► after 100 ms ─► 200 ms ─► 400 ms ─► … ─► every 10 s (2 s where nobody hints)
//! ```
//!
//! What follows a hint often comes a moment later, such as that a container that has started is
//! ready. Hints that come fast are taken together.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use akash_proto::akash::provider::lease::v1 as wire;
use akash_types::LeaseId;
use futures_util::FutureExt;
use provider_engine::cluster::port::{
    Cluster, EventQuery, EventStream, LogLines, LogPart, ServiceChoice,
};
use provider_engine::engine::{LeaseStatus, Published};
use tokio::sync::watch;
use tokio::time::Instant;
use tonic::Status;

use super::lease::{Answers, ended, read};
use crate::gateway::StreamPermit;
use crate::port::Provider;
use crate::stream::{Allowed, Lines};
use crate::turns::Turns;

/// Shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(100);
/// Longest, where changes are hinted at.
const LONGEST: Duration = Duration::from_secs(10);
/// Longest, where nobody hints.
const UNAIDED: Duration = Duration::from_secs(2);

/// What a stream of statuses goes on with.
pub(super) struct StatusFollow<P, C: Cluster> {
    pub(super) answers: Answers<P, C>,
    pub(super) allowed: Allowed,
    /// Which services; all if there is none.
    pub(super) named: Vec<String>,
    pub(super) hints: Hints<C::Events>,
    pub(super) pause: Duration,
    pub(super) told: wire::ServiceStatusResponse,
    pub(super) _permit: StreamPermit,
}

impl<P: Provider, C: Cluster> StatusFollow<P, C> {
    /// The pause after the first look.
    pub(super) const FIRST: Duration = SHORTEST;

    /// Waits for a status that is another than the one before.
    pub(super) async fn next(
        follow: Option<Self>,
    ) -> Option<(Result<wire::ServiceStatusResponse, Status>, Option<Self>)> {
        let mut follow = follow?;
        loop {
            let looked = Instant::now();
            let hinted = tokio::select! {
                ending = follow.allowed.watch.ended() => return Some((Err(ended(ending)), None)),
                () = follow.hints.next() => true,
                () = tokio::time::sleep(follow.pause) => false,
            };
            tokio::time::sleep(SHORTEST.saturating_sub(looked.elapsed())).await;
            follow.pause = pause(follow.pause, hinted, follow.hints.events.is_some());
            let Allowed { lease, services, .. } = &follow.allowed;
            match follow.answers.statuses(*lease, services, &follow.named).await {
                Ok(now) if follow.told == now => {}
                Ok(now) => {
                    follow.told = now.clone();
                    return Some((Ok(now), Some(follow)));
                }
                Err(status) => return Some((Err(status), None)),
            }
        }
    }
}

/// How long to wait after the next look.
fn pause(before: Duration, hinted: bool, is_aided: bool) -> Duration {
    let longest = if is_aided { LONGEST } else { UNAIDED };
    if hinted { SHORTEST } else { before.saturating_mul(2).min(longest) }
}

/// What hints at a change of a lease.
pub(super) struct Hints<E> {
    lease: LeaseId,
    published: watch::Receiver<Arc<Published>>,
    /// How the engine showed it last.
    shown: Option<LeaseStatus>,
    /// What happens to it; `None` if that cannot be followed.
    events: Option<E>,
}

impl<E: EventStream> Hints<E> {
    pub(super) async fn of<C: Cluster<Events = E>>(
        lease: LeaseId,
        mut published: watch::Receiver<Arc<Published>>,
        cluster: &C,
    ) -> Self {
        let query = EventQuery { services: ServiceChoice::All, follow: true };
        let events = cluster.events(lease, query).await.ok();
        let shown = published.borrow_and_update().leases.get(lease).cloned();
        let mut hints = Self { lease, published, shown, events };
        hints.skip();
        hints
    }

    /// Waits for a hint. May be dropped and called again.
    async fn next(&mut self) {
        loop {
            let happened = async {
                match &mut self.events {
                    Some(events) => events.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                event = happened => {
                    match event {
                        Ok(Some(_)) => self.skip(),
                        Ok(None) | Err(_) => self.events = None,
                    }
                    return;
                }
                changed = self.published.changed() => {
                    if changed.is_err() {
                        // Nothing is shown any more: the watch of the lease tells.
                        std::future::pending::<()>().await;
                    }
                    let shown = self.published.borrow_and_update().leases.get(self.lease).cloned();
                    if shown != self.shown {
                        self.shown = shown;
                        return;
                    }
                }
            }
        }
    }

    /// Takes what has happened already together.
    fn skip(&mut self) {
        while let Some(events) = &mut self.events {
            match events.next().now_or_never() {
                Some(Ok(Some(_))) => {}
                Some(Ok(None) | Err(_)) => self.events = None,
                None => return,
            }
        }
    }
}

/// Logs that are read line by line.
pub(super) struct Logs<L> {
    parts: L,
    lines: Lines,
    allowed: Allowed,
    /// Lines that can be told, and of which service each.
    waiting: VecDeque<(String, Vec<u8>)>,
    turns: Turns,
    _permit: StreamPermit,
}

impl<L: LogLines> Logs<L> {
    pub(super) const fn new(
        parts: L,
        lines: Lines,
        allowed: Allowed,
        turns: Turns,
        permit: StreamPermit,
    ) -> Self {
        Self { parts, lines, allowed, waiting: VecDeque::new(), turns, _permit: permit }
    }

    pub(super) async fn next(&mut self) -> Result<Option<(String, Vec<u8>)>, Status> {
        loop {
            if let Some(line) = self.waiting.pop_front() {
                return Ok(Some(line));
            }
            let part = tokio::select! {
                ending = self.allowed.watch.ended() => return Err(ended(ending)),
                part = self.parts.next() => part.map_err(read)?,
            };
            let Some(part) = part else { return Ok(None) };
            let (LogPart::Text { service, .. } | LogPart::Break { service, .. }) = &part;
            if !self.allowed.services.include(service) {
                continue;
            }
            let (service, mut bytes) = (service.clone(), 0_usize);
            for frame in self.lines.push(part) {
                let mut line = frame.message.into_bytes();
                if !frame.continues {
                    line.push(b'\n');
                }
                bytes = bytes.saturating_add(line.len());
                self.waiting.push_back((service.clone(), line));
            }
            self.turns.next(bytes).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_something_is_hinted_at() {
        let mut before = SHORTEST;
        let mut pauses = Vec::new();
        for hinted in [false, false, false, true, false] {
            before = pause(before, hinted, true);
            pauses.push(before.as_millis());
        }
        assert_eq!(pauses, [200, 400, 800, 100, 200]);
        assert_eq!(pause(LONGEST, false, true), LONGEST);
        assert_eq!(pause(LONGEST, false, false), UNAIDED);
    }
}
