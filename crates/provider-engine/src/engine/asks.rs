//! Questions to the chain that wait for an answer.
//!
//! A question is asked once at a time, and asked again until it is answered by a node that is far
//! enough: whoever wants to know never sees a failure, only an answer, late. An answer to a
//! question that was asked anew is dropped.

use std::collections::BTreeMap;
use std::time::Duration;

use super::timers::Timers;
use crate::chain::{ChainQuery, QueryId, Read, Unavailable};
use crate::time::Now;
use akash_types::Backoff;

/// How queries that failed are repeated.
const RETRY: Backoff = Backoff { first: Duration::from_millis(500), most: Duration::from_secs(30) };

/// After this long without a word, a question counts as lost and is asked again.
const LOST_AFTER: Duration = Duration::from_secs(90);

#[derive(Clone, Debug)]
struct Ask {
    id: QueryId,
    at_least: u64,
    failures: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Asks {
    next: u64,
    asks: BTreeMap<ChainQuery, Ask>,
    by_id: BTreeMap<QueryId, ChainQuery>,
    /// When each is asked again: because it was lost, or because it failed.
    again: Timers<Now, ChainQuery>,
}

/// What became of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Answer(ChainQuery, Read),
    /// There was none, so often in a row by now; it will be asked again.
    Failed(ChainQuery, u32, Unavailable),
    /// It answers nothing that is asked; or not yet, and it will be asked again.
    Nothing,
}

impl Asks {
    /// Wants to know, from a node that has reached `at_least`. Gives what is to be asked now, if
    /// it is not asked already.
    pub(super) fn want(&mut self, now: Now, query: ChainQuery, at_least: u64) -> Option<QueryId> {
        if let Some(ask) = self.asks.get_mut(&query) {
            ask.at_least = ask.at_least.max(at_least);
            return None;
        }
        let id = self.name(&query);
        self.again.set(query.clone(), now.after(LOST_AFTER));
        self.asks.insert(query, Ask { id, at_least, failures: 0 });
        Some(id)
    }

    /// Nobody wants to know any more.
    pub(super) fn drop(&mut self, query: &ChainQuery) {
        if let Some(ask) = self.asks.remove(query) {
            self.by_id.remove(&ask.id);
            self.again.clear(query);
        }
    }

    /// An answer came, or the news that none will.
    pub(super) fn hear(
        &mut self,
        now: Now,
        id: QueryId,
        result: Result<Read, Unavailable>,
    ) -> Heard {
        let Some(query) = self.by_id.remove(&id) else { return Heard::Nothing };
        let Some(ask) = self.asks.get_mut(&query) else { return Heard::Nothing };
        match result {
            Ok(read) if read.height >= ask.at_least => {
                self.asks.remove(&query);
                self.again.clear(&query);
                Heard::Answer(query, read)
            }
            // The node is behind what we know: it will be there soon.
            Ok(_) => {
                self.again.set(query, now.after(RETRY.first));
                Heard::Nothing
            }
            Err(why) => {
                ask.failures = ask.failures.saturating_add(1);
                let failures = ask.failures;
                self.again.set(query.clone(), now.after(RETRY.after(failures, id.0)));
                Heard::Failed(query, failures, why)
            }
        }
    }

    pub(super) fn due(&mut self, now: Now) -> Vec<(QueryId, ChainQuery)> {
        let mut again = Vec::new();
        while let Some(query) = self.again.pop(now) {
            let id = self.name(&query);
            if let Some(ask) = self.asks.get_mut(&query) {
                self.by_id.remove(&ask.id);
                ask.id = id;
                self.again.set(query.clone(), now.after(LOST_AFTER));
                again.push((id, query));
            }
        }
        again
    }

    pub(super) fn next_due(&self) -> Option<Now> {
        self.again.next()
    }

    fn name(&mut self, query: &ChainQuery) -> QueryId {
        self.next = self.next.wrapping_add(1);
        let id = QueryId(self.next);
        self.by_id.insert(id, query.clone());
        id
    }
}
