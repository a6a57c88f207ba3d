//! Questions to the chain that wait for an answer.
//!
//! A question is asked once at a time, and asked again until it is answered by a node that is far
//! enough: whoever wants to know never sees a failure, only an answer, late. An answer to a
//! question that was asked anew is dropped.

use std::time::Duration;

use super::in_flight::InFlight;
use crate::chain::{ChainQuery, QueryId, Read, Unavailable};
use crate::time::Now;
use akash_types::Backoff;

/// How queries that failed are repeated.
const RETRY: Backoff = Backoff { first: Duration::from_millis(500), most: Duration::from_secs(30) };

/// After this long without a word, a question counts as lost and is asked again.
const LOST_AFTER: Duration = Duration::from_secs(90);

/// By question: the height from which on an answer counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asks(InFlight<ChainQuery, u64>);

/// What became of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It answers the question.
    Answer(ChainQuery, Read),
    /// There was none, so often in a row by now; it will be asked again.
    Failed(ChainQuery, u32, Unavailable),
    /// It answers nothing that is asked; or not yet, and it will be asked again.
    Nothing,
}

impl Asks {
    /// Wants to know, from a node that has reached `at_least`. Gives what is to be asked now, if
    /// it is not asked already.
    pub(crate) fn want(&mut self, now: Now, query: ChainQuery, at_least: u64) -> Option<QueryId> {
        if let Some(ask) = self.0.get_mut(&query) {
            ask.item = ask.item.max(at_least);
            return None;
        }
        let number = self.0.begin(query.clone(), at_least);
        self.0.again_at(query, now.after(LOST_AFTER));
        Some(QueryId(number))
    }

    /// Nobody wants to know any more.
    pub(crate) fn drop(&mut self, query: &ChainQuery) {
        self.0.remove(query);
    }

    /// An answer came, or the news that none will.
    pub(crate) fn hear(
        &mut self,
        now: Now,
        id: QueryId,
        result: Result<Read, Unavailable>,
    ) -> Heard {
        let Some(query) = self.0.answered(id.0) else { return Heard::Nothing };
        let Some(ask) = self.0.get_mut(&query) else { return Heard::Nothing };
        match result {
            Ok(read) if read.height >= ask.item => {
                self.0.remove(&query);
                Heard::Answer(query, read)
            }
            // The node is behind what we know: it will be there soon.
            Ok(_) => {
                self.0.again_at(query, now.after(RETRY.first));
                Heard::Nothing
            }
            Err(why) => {
                ask.failures = ask.failures.saturating_add(1);
                let failures = ask.failures;
                self.0.again_at(query.clone(), now.after(RETRY.after(failures, id.0)));
                Heard::Failed(query, failures, why)
            }
        }
    }

    /// What is to be asked again by now.
    pub(crate) fn due(&mut self, now: Now) -> Vec<(QueryId, ChainQuery)> {
        let mut again = Vec::new();
        while let Some((number, query)) = self.0.pop_due(now) {
            self.0.again_at(query.clone(), now.after(LOST_AFTER));
            again.push((QueryId(number), query));
        }
        again
    }

    pub(crate) fn next_due(&self) -> Option<Now> {
        self.0.next_due()
    }
}
