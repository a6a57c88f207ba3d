//! What Redis has yet to take: topics by their newest value, bounded by the number of topics, and a
//! bounded number of events.

use std::collections::BTreeSet;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::event::EventQueue;
use crate::topic::Topic;

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
