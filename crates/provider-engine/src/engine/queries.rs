//! Questions to the chain that wait for an answer, or for the height at which they can be asked.
//!
//! A question is asked once at a time, and asked again until it is answered by a node that is far
//! enough: the engine never sees a failure, only an answer, late. An answer to a question that was
//! asked anew is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::in_flight::InFlight;
use crate::chain::{ChainQuery, QueryId, Read, Unavailable};
use crate::time::Now;
use akash_types::Backoff;

/// How queries that failed are repeated.
const RETRY: Backoff = Backoff { first: Duration::from_millis(500), most: Duration::from_secs(30) };

/// After this long without a word, a question counts as lost and is asked again.
const LOST_AFTER: Duration = Duration::from_secs(90);

#[derive(Clone, Debug, Default)]
pub(crate) struct PendingQueries {
    /// By question: the height from which on an answer counts.
    asked: InFlight<ChainQuery, u64>,
    /// What is asked once the chain has reached a height.
    later: BTreeMap<u64, BTreeSet<ChainQuery>>,
}

/// What became of a question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum QueryOutcome {
    Answered(ChainQuery, Read),
    /// There was no answer, so often in a row by now; it will be asked again.
    Failed(ChainQuery, u32, Unavailable),
    /// The answer is to nothing that is asked; or not yet, and it will be asked again.
    Ignored,
}

impl PendingQueries {
    /// Asks for what holds at `height` or later, where the chain is at `head`. Gives what is to be
    /// asked now: nothing if it is asked already, or that height is still to come.
    pub(crate) fn ask(
        &mut self,
        now: Now,
        query: ChainQuery,
        height: u64,
        head: u64,
    ) -> Option<QueryId> {
        if height > head {
            self.later.entry(height).or_default().insert(query);
            return None;
        }
        if let Some(asked) = self.asked.get_mut(&query) {
            asked.item = asked.item.max(height);
            return None;
        }
        let number = self.asked.begin(query.clone(), height);
        self.asked.again_at(query, now.after(LOST_AFTER));
        Some(QueryId(number))
    }

    /// The chain is at `head`: gives what waited for it, to be asked now.
    pub(crate) fn reached(&mut self, head: u64) -> impl Iterator<Item = ChainQuery> + use<> {
        let later = self.later.split_off(&head.saturating_add(1));
        std::mem::replace(&mut self.later, later).into_values().flatten()
    }

    /// Drops a question that is asked: its answer is not needed any more.
    pub(crate) fn forget(&mut self, query: &ChainQuery) {
        self.asked.remove(query);
    }

    pub(crate) fn receive(
        &mut self,
        now: Now,
        id: QueryId,
        result: Result<Read, Unavailable>,
    ) -> QueryOutcome {
        let Some(query) = self.asked.answered(id.0) else { return QueryOutcome::Ignored };
        let Some(asked) = self.asked.get_mut(&query) else { return QueryOutcome::Ignored };
        match result {
            Ok(read) if read.height >= asked.item => {
                self.asked.remove(&query);
                QueryOutcome::Answered(query, read)
            }
            // The node is behind what we know: it will be there soon.
            Ok(_) => {
                self.asked.again_at(query, now.after(RETRY.first));
                QueryOutcome::Ignored
            }
            Err(why) => {
                asked.failures = asked.failures.saturating_add(1);
                let failures = asked.failures;
                self.asked.again_at(query.clone(), now.after(RETRY.after(failures, id.0)));
                QueryOutcome::Failed(query, failures, why)
            }
        }
    }

    /// What is to be asked again by now.
    pub(crate) fn due(&mut self, now: Now) -> Vec<(QueryId, ChainQuery)> {
        let mut again = Vec::new();
        while let Some((number, query)) = self.asked.pop_due(now) {
            self.asked.again_at(query.clone(), now.after(LOST_AFTER));
            again.push((QueryId(number), query));
        }
        again
    }

    pub(crate) fn next_due(&self) -> Option<Now> {
        self.asked.next_due()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::ChainAnswer;

    const START: Now = Now::new(Duration::ZERO);

    fn read(height: u64) -> Result<Read, Unavailable> {
        Ok(Read { height, answer: ChainAnswer::OpenOrders(Vec::new()) })
    }

    #[test]
    fn a_question_about_a_height_to_come_is_asked_when_the_chain_is_there() {
        let mut queries = PendingQueries::default();
        assert_eq!(queries.ask(START, ChainQuery::OwnBids, 12, 10), None);
        assert_eq!(queries.ask(START, ChainQuery::OwnLeases, 11, 10), None);
        assert_eq!(queries.next_due(), None);
        assert_eq!(queries.reached(11).collect::<Vec<_>>(), [ChainQuery::OwnLeases]);
        assert_eq!(queries.reached(20).collect::<Vec<_>>(), [ChainQuery::OwnBids]);
        assert_eq!(queries.reached(30).count(), 0);
    }

    #[test]
    fn only_an_answer_at_the_highest_height_that_was_asked_for_counts() {
        let mut queries = PendingQueries::default();
        let first = queries.ask(START, ChainQuery::OpenOrders, 5, 10).unwrap();
        assert_eq!(queries.ask(START, ChainQuery::OpenOrders, 8, 10), None, "it is asked already");
        assert_eq!(queries.receive(START, first, read(7)), QueryOutcome::Ignored);
        let due = queries.next_due().unwrap();
        assert_eq!(due, START.after(RETRY.first));
        let [(second, _)] = queries.due(due)[..] else { panic!("it is asked again, once") };
        assert_eq!(queries.receive(due, first, read(9)), QueryOutcome::Ignored);
        let answer = QueryOutcome::Answered(ChainQuery::OpenOrders, read(8).unwrap());
        assert_eq!(queries.receive(due, second, read(8)), answer);
        assert_eq!(queries.next_due(), None);
    }

    #[test]
    fn failures_are_counted_until_an_answer_comes() {
        let mut queries = PendingQueries::default();
        let mut id = queries.ask(START, ChainQuery::Wallet, 1, 1).unwrap();
        let down = Unavailable("down".to_owned());
        let mut now = START;
        for failures in 1..4 {
            let failed = QueryOutcome::Failed(ChainQuery::Wallet, failures, down.clone());
            assert_eq!(queries.receive(now, id, Err(down.clone())), failed);
            now = queries.next_due().unwrap();
            id = queries.due(now)[0].0;
        }
        queries.forget(&ChainQuery::Wallet);
        assert_eq!(
            (queries.receive(now, id, read(2)), queries.next_due()),
            (QueryOutcome::Ignored, None,)
        );
    }
}
