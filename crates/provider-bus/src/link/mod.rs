//! The same facts in Redis, standalone or behind Sentinel.
//!
//! ```text
//!            find + dial            subscribe, read the keys
//! waiting ───────────────▶ opening ──────────────────────────▶ connected
//!    ▲                        │                                    │
//!    └──── back off ──────────┴──────── any failure, any silence ──┘
//! ```
//!
//! A topic's newest message is in the key of its name, and every new one is announced on the
//! channel of its name. Announcements may get lost, and Redis may forget: so the keys are read
//! again at every connect and every beat, and whoever published a message that is missing there
//! sends it again. Nobody waits for any of this.
//!
//! - `target`: the URL, parsed.
//! - `dial`: which server to use, and a connection to it, TLS or not, within a bounded time.
//! - `session`: one connection's life.

mod dial;
mod session;
mod target;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use akash_net::Trust;
use akash_types::{Backoff, with_causes};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::bus::Shared;
use crate::event::EventQueue;
use crate::message::Topic;
use crate::status::Connection;

pub use target::{Target, TargetError};

/// How long the parts of a connection may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// For a connection to be made, handshakes and password included.
    pub dial: Duration,
    pub answer: Duration,
    /// Between two looks at the keys, which also show that the server is alive.
    pub beat: Duration,
    /// Before the second try; doubled before each further one.
    pub first_wait: Duration,
    /// The longest wait between tries.
    pub longest_wait: Duration,
}

impl Default for Timing {
    /// A server that stops answering is noticed within eight seconds, and tried every five.
    fn default() -> Self {
        Self {
            dial: Duration::from_secs(5),
            answer: Duration::from_secs(3),
            beat: Duration::from_secs(5),
            first_wait: Duration::from_millis(100),
            longest_wait: Duration::from_secs(5),
        }
    }
}

/// What connects a bus to Redis. Does nothing until it is run.
#[derive(Debug)]
#[must_use = "facts stay in this process unless the link is run"]
pub struct Link {
    target: Target,
    timing: Timing,
    trust: Trust,
    shared: Arc<Shared>,
}

impl Link {
    pub(crate) fn new(target: Target, shared: Arc<Shared>) -> Self {
        Self { target, timing: Timing::default(), trust: Trust::default(), shared }
    }

    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = timing;
        self
    }

    /// Trusting these authorities where the target names none.
    pub fn trusting(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Keeps the bus connected for as long as it is polled.
    pub async fn run(self) -> Infallible {
        let mut attempts = 0_u32;
        loop {
            let end =
                session::run(&self.target, (&self.timing, &self.trust), attempts, &self.shared)
                    .await;
            if end.was_connected {
                attempts = 0;
            }
            attempts = attempts.saturating_add(1);
            let reason = with_causes(&end.error);
            self.shared.change_status(|status| {
                let since = match status.connection {
                    Connection::Reconnecting { since, .. } => since,
                    _ => SystemTime::now(),
                };
                status.lost_connections += u64::from(end.was_connected);
                status.connection = Connection::Reconnecting { since, attempts, reason };
            });
            let Timing { first_wait: first, longest_wait: most, .. } = self.timing;
            let salt = getrandom::u64().unwrap_or_default();
            sleep(Backoff { first, most }.within(attempts, salt)).await;
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Mutex<BTreeSet<Topic>>,
    filled: Notify,
    /// Events, which go to the stream.
    pub(crate) events: EventQueue,
}

impl Outbox {
    /// Adds a topic; false where it waits already, and its older value will never be sent.
    pub(crate) fn put(&self, topic: Topic) -> bool {
        let added = self.lock().insert(topic);
        self.filled.notify_one();
        added
    }

    /// What waits, which it then no longer does.
    pub(crate) fn take(&self) -> Vec<Topic> {
        mem::take(&mut *self.lock()).into_iter().collect()
    }

    /// Resolves once something was put; maybe also when it was taken since.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }

    // A set of plain values is whole even where its holder panicked.
    fn lock(&self) -> MutexGuard<'_, BTreeSet<Topic>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
