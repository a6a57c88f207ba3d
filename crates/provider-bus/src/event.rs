//! What happened, in order: a log of events beside the topics, which carry state.
//!
//! An event is given to subscribers in this process and, over Redis, to the stream
//! [`STREAM`]. Neither keeps more than a bounded number.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::sync::{Notify, broadcast};

use crate::bus::Closed;
use crate::fact::LeaseState;

/// Key of the Redis stream.
pub const STREAM: &str = "akash.provider.events";

/// About how many entries the Redis stream keeps; Redis trims it in whole nodes.
pub const STREAM_LENGTH: usize = 10_000;

/// Events that wait for Redis at most, and events that a subscriber may be behind.
pub const EVENTS_KEPT: usize = 4_096;

/// Something that happened to an order, a bid, a lease, a manifest or a deployment.
///
/// Fields are added, never renamed, removed or given another meaning. A field that says nothing
/// about an event is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub event: EventKind,
    /// Height of the newest block then.
    pub height: u64,
    pub owner: String,
    pub dseq: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gseq: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oseq: Option<u32>,
    #[serde(default)]
    pub provider: String,
    /// Price per block, with its denomination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// Amount that arrived, with its denomination.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// Hash of the manifest, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<String>,
    /// How a lease ended on chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<LeaseState>,
    /// First height that the escrow account does not pay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dry_at: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

macro_rules! kinds {
    ($($kind:ident: $help:literal;)*) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub enum EventKind {
            $(#[doc = $help] $kind,)*
            /// A word from a newer version.
            #[default]
            #[serde(other)]
            Unknown,
        }

        impl EventKind {
            /// All that this version writes.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => stringify!($kind),)*
                    Self::Unknown => "Unknown",
                }
            }
        }
    };
}

kinds! {
    OrderNoticed: "An order was found, in a block or by reading the chain.";
    OrderDeclined: "No bid is made on it.";
    OrderEnded: "The order is over for this provider, without a lease.";
    BidSubmitted: "A bid was handed to the transaction queue.";
    BidOpened: "The bid is open on chain.";
    BidClosing: "The bid is being closed by this provider.";
    LeaseCreated: "The bid won: there is a lease.";
    LeaseReclaimStarted: "The end of a lease was announced on chain by this provider.";
    LeaseClosing: "The lease is being closed by this provider.";
    LeaseDry: "The escrow account of the lease cannot pay any more.";
    LeaseFunded: "The escrow account of the lease can pay again.";
    LeaseEarned: "Earnings of the lease arrived.";
    LeaseClosed: "The lease is over on chain.";
    LeaseGone: "Nothing of the lease is left in the cluster.";
    ManifestReceived: "A tenant's manifest was accepted and persisted for a lease.";
    ManifestRefused: "A tenant's manifest was refused.";
    DeploymentStarted: "The cluster was told to run the manifest of a lease.";
    DeploymentAdopted: "The workload of a lease was found in the cluster and left as it is.";
    DeploymentFailed: "The cluster did not carry out the manifest.";
    DeploymentHealthy: "Every service of a lease runs.";
    DeploymentUnhealthy: "A service of a lease does not run.";
    DeploymentTeardown: "The workload of a lease that is over is being removed.";
    DeploymentUpdated: "A tenant changed the manifest hash of a deployment with a lease here.";
    DeploymentClosed: "A tenant closed a deployment with a lease here.";
    TransactionFailed: "A transaction for an order or lease did not take effect.";
}

/// What a subscriber is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    Event(Arc<Event>),
    /// So many events were dropped because the subscriber was too far behind.
    Missed(u64),
}

/// Events of this process from the moment of subscribing on, oldest first.
#[derive(Debug)]
pub struct EventSubscription(pub(crate) broadcast::Receiver<Arc<Event>>);

impl EventSubscription {
    /// The next event, or how many were missed. Safe to cancel.
    pub async fn next(&mut self) -> Result<Followed, Closed> {
        match self.0.recv().await {
            Ok(event) => Ok(Followed::Event(event)),
            Err(broadcast::error::RecvError::Lagged(count)) => Ok(Followed::Missed(count)),
            Err(broadcast::error::RecvError::Closed) => Err(Closed),
        }
    }
}

/// An event on its way to the Redis stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Counts from 1 in each process: a gap shows what was dropped, a repetition what was sent twice.
    pub(crate) seq: u64,
    pub(crate) name: &'static str,
    pub(crate) data: String,
}

/// Events that Redis has yet to take, oldest first, at most [`EVENTS_KEPT`].
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    waiting: Mutex<Waiting>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    entries: VecDeque<Arc<Entry>>,
    /// How many of the first were handed to Redis and not confirmed: these are not dropped.
    in_flight: usize,
    last_seq: u64,
}

impl EventQueue {
    /// Adds an event. False if another had to be dropped for it.
    pub(crate) fn push(&self, name: &'static str, data: String) -> bool {
        let mut waiting = self.lock();
        waiting.last_seq = waiting.last_seq.saturating_add(1);
        let seq = waiting.last_seq;
        let full = waiting.entries.len() >= EVENTS_KEPT;
        if full {
            let oldest = waiting.in_flight;
            waiting.entries.remove(oldest);
        }
        waiting.entries.push_back(Arc::new(Entry { seq, name, data }));
        drop(waiting);
        self.filled.notify_one();
        !full
    }

    /// The oldest events, at most `most`, which are in flight from now on.
    pub(crate) fn begin(&self, most: usize) -> Vec<Arc<Entry>> {
        let mut waiting = self.lock();
        let batch: Vec<_> = waiting.entries.iter().take(most).cloned().collect();
        waiting.in_flight = batch.len();
        batch
    }

    /// Redis took what was in flight.
    pub(crate) fn confirm(&self) {
        let mut waiting = self.lock();
        let count = std::mem::take(&mut waiting.in_flight);
        waiting.entries.drain(..count);
    }

    /// Nothing is in flight any more: what was will be sent again.
    pub(crate) fn release(&self) {
        self.lock().in_flight = 0;
    }

    /// Resolves once something was pushed; maybe also when it was taken since.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }

    // Whole even where its holder panicked: every change is one call.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_that_is_not_in_flight_is_dropped_when_too_many_wait() {
        let queue = EventQueue::default();
        for _ in 0..EVENTS_KEPT {
            assert!(queue.push("LeaseGone", String::new()));
        }
        assert!(!queue.push("LeaseGone", String::new()));
        assert_eq!(queue.begin(2).iter().map(|entry| entry.seq).collect::<Vec<_>>(), [2, 3]);
        assert!(!queue.push("LeaseGone", String::new()), "4 goes, 2 and 3 are in flight");
        queue.confirm();
        let left = queue.begin(usize::MAX);
        assert_eq!(left.first().unwrap().seq, 5);
        assert_eq!(left.len(), EVENTS_KEPT - 2);
        queue.release();
        assert_eq!(queue.begin(1).first().unwrap().seq, 5, "what was not confirmed is sent again");
    }

    #[test]
    fn every_kind_reads_back_by_its_name_and_a_newer_one_is_unknown() {
        for kind in EventKind::ALL {
            let json = format!("\"{}\"", kind.name());
            assert_eq!(serde_json::from_str::<EventKind>(&json).unwrap(), *kind);
            assert_eq!(serde_json::to_string(kind).unwrap(), json);
        }
        let newer: EventKind = serde_json::from_str("\"LeaseTeleported\"").unwrap();
        assert_eq!(newer, EventKind::Unknown);
    }
}
