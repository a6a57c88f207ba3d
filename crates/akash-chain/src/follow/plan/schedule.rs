//! What to ask for next, and of whom.

use std::time::Duration;

use super::Plan;
use super::answer::Question;
use super::input::Effect;
use super::window::Part;

/// Most headers that a node gives at once.
const HEADERS: u64 = 20;

impl<B> Plan<B> {
    /// Questions whose time is over count as answered by silence.
    pub(super) fn expire(&mut self, now: Duration, out: &mut Vec<Effect<B>>) {
        use super::input::Problem::Silent;
        while let Some(ticket) = self.asks.overdue(now) {
            // Each of these closes the question if it is of its kind.
            match self.asks.question(ticket) {
                Some(Question::Status) => self.on_status(now, ticket, Err(Silent), out),
                Some(Question::Headers | Question::Probe(_)) => {
                    self.on_headers(now, ticket, Err(Silent), out);
                }
                Some(Question::Results(_)) => self.on_results(now, ticket, Err(Silent), out),
                None => return,
            }
        }
    }

    pub(super) fn ask_statuses(&mut self, now: Duration, out: &mut Vec<Effect<B>>) {
        for index in 0..self.nodes.len() {
            let is_due = self.nodes.get(index).is_some_and(|node| node.next_ask <= now);
            if is_due && !self.asks.any(index, |question| question == Question::Status) {
                let (ticket, within) = self.ask(now, index, Question::Status);
                out.push(Effect::AskStatus { node: index, ticket, within });
            }
        }
    }

    /// Asks for headers and results, lowest height first, as far as bounds allow.
    pub(super) fn fetch(&mut self, now: Duration, out: &mut Vec<Effect<B>>) {
        self.window.extend(self.best(), self.config.window);
        while let Some((index, from, to)) = self.next_headers(now) {
            let (ticket, within) = self.ask(now, index, Question::Headers);
            for height in from..=to {
                if let Some(slot) = self.window.slot(height) {
                    slot.header = Part::Asked { ticket, tries: slot.header.tries() };
                }
            }
            out.push(Effect::FetchHeaders { node: index, ticket, from, to, within });
        }
        while let Some((index, height)) = self.next_results(now) {
            let (ticket, within) = self.ask(now, index, Question::Results(height));
            if let Some(slot) = self.window.slot(height) {
                slot.results = Part::Asked { ticket, tries: slot.results.tries() };
            }
            out.push(Effect::FetchResults { node: index, ticket, height, within });
        }
    }

    /// The lowest heights in a row whose headers are due, and who has them.
    fn next_headers(&self, now: Duration) -> Option<(usize, u64, u64)> {
        let due = self.window.slots().filter_map(|(height, slot)| {
            let not_from = slot.header.due(now)?;
            Some((height, self.pick(height, not_from)?))
        });
        let mut due = due.peekable();
        let (from, index) = due.next()?;
        let node = self.nodes.get(index)?;
        let mut to = from;
        while let Some((height, _)) = due.next_if(|(height, _)| *height == to + 1)
            && height < from + HEADERS
            && node.has(height)
        {
            to = height;
        }
        Some((index, from, to))
    }

    fn next_results(&self, now: Duration) -> Option<(usize, u64)> {
        let asked =
            self.window.slots().filter(|(_, slot)| matches!(slot.results, Part::Asked { .. }));
        let room = self.window.room(asked.count(), self.config.window_bytes);
        let next = self.window.next_height();
        let mut due = self.window.slots().filter_map(|(height, slot)| {
            let not_from = slot.results.due(now)?;
            Some((self.pick(height, not_from)?, height))
        });
        // The next height is fetched whatever it weighs, or nothing would ever move again.
        due.find(|(_, height)| room > 0 || *height == next)
    }

    /// Who to ask for a height: whoever has least to do, rather not the one given.
    fn pick(&self, height: u64, not_from: Option<usize>) -> Option<usize> {
        let best = self.best();
        let able = self.nodes.iter().enumerate().filter(|(index, node)| {
            node.is_usable(best, self.config.max_lag)
                && node.has(height)
                && self.asks.load(*index) < self.config.requests_per_node
        });
        let order = |index: usize| (Some(index) == not_from, self.asks.load(index), index);
        able.map(|(index, _)| index).min_by_key(|index| order(*index))
    }

    pub(super) fn fetch_next(&self, now: Duration) -> Option<Duration> {
        let times = self.window.slots().flat_map(|(_, slot)| {
            [slot.header.not_before(), slot.results.not_before()].into_iter().flatten()
        });
        // What is due and was not asked for waits for a node, not for the clock.
        times.filter(|time| *time > now).min()
    }
}
