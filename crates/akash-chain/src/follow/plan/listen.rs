//! Subscriptions: made, kept awake, and dropped when nothing is heard.
//!
//! ```text
//!            ┌──────────── news: down, or too late ───────────┐
//!            ▼                                                │
//!   Down ── not_before reached ──► Connecting ── news: up ──► Up ── silent for 2½ block times,
//!    ▲                                                        │     or deaf to new blocks
//!    └────────────────────────────────────────────────────────┘
//! ```

use std::time::{Duration, SystemTime};

use super::Plan;
use super::input::{Effect, News, Ticket};
use super::node::Subscription;

/// Blocks that a node has and a subscription to it did not tell of, before it counts as deaf.
const DEAF: u64 = 3;

impl<B> Plan<B> {
    pub(super) fn on_news(&mut self, now: Duration, ticket: Ticket, news: News) {
        let found = |node: &&mut super::node::Node| node.subscription.ticket() == Some(ticket);
        let Some(node) = self.nodes.iter_mut().find(found) else { return };
        let (pinged, block) = match node.subscription {
            Subscription::Up { pinged, block, .. } => (pinged, block),
            Subscription::Connecting { .. } | Subscription::Down { .. } => (now, node.height),
        };
        node.subscription = match news {
            News::Up | News::Alive => Subscription::Up { ticket, heard: now, pinged, block },
            News::Block(height) => {
                // A height beyond all measure is no hint; what the node is at, its status says.
                match node.height.saturating_add(self.config.max_gap) {
                    _ if !node.is_sound() => {}
                    most if height <= most => node.height = node.height.max(height),
                    _ => node.next_ask = now,
                }
                Subscription::Up { ticket, heard: now, pinged, block: block.max(height) }
            }
            News::Down => {
                let failures = node.subscription.failures().saturating_add(1);
                let wait = self.config.backoff_after(failures);
                Subscription::Down { not_before: now.saturating_add(wait), failures }
            }
        };
    }

    pub(super) fn listen(&mut self, now: Duration, out: &mut Vec<Effect<B>>) {
        let block_time = self.pulse.block_time();
        for (index, node) in self.nodes.iter_mut().enumerate() {
            if !node.is_sound() {
                if node.subscription.ticket().is_some() {
                    out.push(Effect::Unsubscribe { node: index });
                    node.subscription = Subscription::NEW;
                }
                continue;
            }
            match &mut node.subscription {
                Subscription::Down { not_before, failures } if *not_before <= now => {
                    let (failures, ticket) = (*failures, self.asks.ticket());
                    let within = node.patience(block_time, &self.config);
                    let deadline = now.saturating_add(within).saturating_add(within / 2);
                    node.subscription = Subscription::Connecting { ticket, deadline, failures };
                    out.push(Effect::Subscribe { node: index, ticket, within });
                }
                Subscription::Connecting { deadline, failures, .. } if *deadline <= now => {
                    let failures = failures.saturating_add(1);
                    let not_before = now.saturating_add(self.config.backoff_after(failures));
                    out.push(Effect::Unsubscribe { node: index });
                    node.subscription = Subscription::Down { not_before, failures };
                }
                Subscription::Up { heard, block, .. }
                    if silence_ends(*heard, block_time) <= now
                        || node.reported >= block.saturating_add(DEAF) =>
                {
                    let is_silent = silence_ends(*heard, block_time) <= now;
                    out.push(Effect::Unsubscribe { node: index });
                    if is_silent {
                        // Other connections to it may be in the same state.
                        out.push(Effect::Renew { node: index });
                        node.next_ask = now;
                    }
                    let not_before = now.saturating_add(self.config.backoff_after(1));
                    node.subscription = Subscription::Down { not_before, failures: 1 };
                }
                Subscription::Up { heard, pinged, .. }
                    if ping_at(*heard, *pinged, block_time) <= now =>
                {
                    *pinged = now;
                    out.push(Effect::Ping { node: index });
                }
                Subscription::Down { .. }
                | Subscription::Connecting { .. }
                | Subscription::Up { .. } => {}
            }
        }
    }

    /// When there is next something to do here.
    pub(super) fn listen_next(&self) -> Option<Duration> {
        let block_time = self.pulse.block_time();
        let sound = self.nodes.iter().filter(|node| node.is_sound());
        let next = sound.map(|node| match node.subscription {
            Subscription::Down { not_before, .. } => not_before,
            Subscription::Connecting { deadline, .. } => deadline,
            Subscription::Up { heard, pinged, .. } => {
                silence_ends(heard, block_time).min(ping_at(heard, pinged, block_time))
            }
        });
        next.min()
    }
}

fn silence_ends(heard: Duration, block_time: Duration) -> Duration {
    heard.saturating_add(block_time.saturating_mul(5) / 2)
}

fn ping_at(heard: Duration, pinged: Duration, block_time: Duration) -> Duration {
    heard.max(pinged).saturating_add(block_time)
}

/// An estimate of the block time.
#[derive(Clone, Debug)]
pub(super) struct Pulse {
    floor: Duration,
    ceiling: Duration,
    estimate: Option<Duration>,
    last: Option<(u64, SystemTime)>,
}

impl Pulse {
    pub(super) const fn new(floor: Duration, ceiling: Duration) -> Self {
        Self { floor, ceiling, estimate: None, last: None }
    }

    /// A block was delivered.
    pub(super) fn beat(&mut self, height: u64, time: SystemTime) {
        let before = self.last.replace((height, time));
        let Some((last, since)) = before else { return };
        if last.checked_add(1) != Some(height) {
            return;
        }
        // Chain time never goes back; if it does here, nothing is learnt.
        let Ok(sample) = time.duration_since(since) else { return };
        self.estimate = Some(match self.estimate {
            None => sample,
            // One halt of the chain must not make us patient for hours.
            Some(estimate) => {
                let sample = sample.min(estimate.saturating_mul(4).max(self.floor));
                (estimate.saturating_mul(7) + sample) / 8
            }
        });
    }

    /// The block time to reckon with.
    pub(super) fn block_time(&self) -> Duration {
        let ceiling = self.ceiling.max(self.floor);
        self.estimate.unwrap_or(self.floor).clamp(self.floor, ceiling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(times: &[u64]) -> Duration {
        let mut pulse = Pulse::new(Duration::from_secs(1), Duration::from_secs(30));
        for (height, seconds) in times.iter().enumerate() {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(*seconds);
            pulse.beat(u64::try_from(height).unwrap(), time);
        }
        pulse.block_time()
    }

    #[test]
    fn the_estimate_follows_the_chain_within_bounds() {
        assert_eq!(after(&[]), Duration::from_secs(1));
        assert_eq!(after(&[100]), Duration::from_secs(1));
        assert_eq!(after(&[100, 106]), Duration::from_secs(6));
        assert_eq!(after(&[100, 106, 112, 118]), Duration::from_secs(6));
        assert_eq!(after(&[100, 100, 100]), Duration::from_secs(1));
        assert_eq!(after(&[100, 9_000]), Duration::from_secs(30));
        // A halt of an hour among blocks of six seconds moves it by a few seconds only.
        assert_eq!(after(&[0, 6, 3_606]), Duration::from_millis(8_250));
        // Time that goes back teaches nothing.
        assert_eq!(after(&[100, 106, 50]), Duration::from_secs(6));
    }

    #[test]
    fn a_gap_in_heights_is_no_block_time() {
        let mut pulse = Pulse::new(Duration::from_secs(1), Duration::from_secs(30));
        pulse.beat(1, SystemTime::UNIX_EPOCH);
        pulse.beat(9, SystemTime::UNIX_EPOCH + Duration::from_secs(20));
        assert_eq!(pulse.block_time(), Duration::from_secs(1));
    }
}
