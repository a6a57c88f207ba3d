//! Whether what is seen is how things are.
//!
//! ```text
//!                    listed            fails
//! Starting ─────────────────▶ Live ◀─────────▶ Broken
//! ```
//!
//! Each watch is in one of these states, and the API server answers or does not. What is seen is
//! known while every watch is live, or broken for no longer than it takes to begin again, and the
//! API server answers. A plain state: whoever asks brings the time.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// How long a watch may be broken before what it showed counts as history.
const GRACE: Duration = Duration::from_secs(3);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Watch {
    Starting(Option<String>),
    Live,
    Broken { since: Instant, why: String },
}

/// Whether what is seen is how things are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health {
    watches: BTreeMap<&'static str, Watch>,
    silence: Option<String>,
}

impl Health {
    /// Nothing was seen yet of these.
    pub(crate) fn new(watches: impl Iterator<Item = &'static str>) -> Self {
        let watches = watches.map(|name| (name, Watch::Starting(None))).collect();
        Self { watches, silence: None }
    }

    /// A watch shows what is there, and what changes.
    pub(crate) fn is_live(&mut self, watch: &'static str) {
        self.watches.insert(watch, Watch::Live);
    }

    pub(crate) fn was_live(&self, watch: &'static str) -> bool {
        !matches!(self.watches.get(watch), None | Some(Watch::Starting(_)))
    }

    /// A watch shows nothing any more. Whether that, or why, is new.
    pub(crate) fn is_broken(&mut self, watch: &'static str, now: Instant, why: &str) -> bool {
        let state = self.watches.entry(watch).or_insert(Watch::Starting(None));
        match state {
            Watch::Starting(last) => last.replace(why.to_owned()).as_deref() != Some(why),
            Watch::Live => {
                *state = Watch::Broken { since: now, why: why.to_owned() };
                true
            }
            Watch::Broken { why: last, .. } => {
                std::mem::replace(last, why.to_owned()).as_str() != why
            }
        }
    }

    /// The API server answers. Whether it did not before.
    pub(crate) fn answers(&mut self) -> bool {
        self.silence.take().is_some()
    }

    /// Whether the API server did not answer when it was last asked.
    pub(crate) const fn is_silenced(&self) -> bool {
        self.silence.is_some()
    }

    /// The API server does not answer.
    pub(crate) fn is_silent(&mut self, why: &str) {
        self.silence = Some(why.to_owned());
    }

    /// Why what is seen is not known to be how things are, if it is not.
    pub(crate) fn unknown(&self, now: Instant) -> Option<String> {
        if let Some(why) = &self.silence {
            return Some(why.clone());
        }
        self.watches.iter().find_map(|(watch, state)| match state {
            Watch::Starting(Some(why)) => Some(format!("cannot watch {watch}: {why}")),
            Watch::Starting(None) => Some(format!("{watch} were not read yet")),
            Watch::Broken { since, why } if now.duration_since(*since) >= GRACE => {
                Some(format!("cannot watch {watch}: {why}"))
            }
            Watch::Broken { .. } | Watch::Live => None,
        })
    }

    /// When that may change although nothing is told.
    pub(crate) fn due(&self) -> Option<Instant> {
        let broken = self.watches.values().filter_map(|state| match state {
            Watch::Broken { since, .. } => Some(*since + GRACE),
            Watch::Starting(_) | Watch::Live => None,
        });
        broken.min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_known_once_every_watch_has_listed() {
        let now = Instant::now();
        let mut health = Health::new(["pods", "nodes"].into_iter());
        assert_eq!(health.unknown(now).as_deref(), Some("nodes were not read yet"));
        health.is_live("nodes");
        assert!(health.is_broken("pods", now, "forbidden"));
        assert!(!health.is_broken("pods", now, "forbidden"));
        assert_eq!(health.unknown(now).as_deref(), Some("cannot watch pods: forbidden"));
        health.is_live("pods");
        assert_eq!(health.unknown(now), None);
    }

    #[test]
    fn a_watch_that_begins_again_soon_is_no_loss() {
        let now = Instant::now();
        let mut health = Health::new(["pods"].into_iter());
        health.is_live("pods");
        assert!(health.is_broken("pods", now, "reset"));
        assert_eq!(health.unknown(now), None);
        assert_eq!(health.due(), Some(now + GRACE));
        assert!(health.is_broken("pods", now + GRACE / 2, "refused"));
        assert_eq!(health.unknown(now + GRACE).as_deref(), Some("cannot watch pods: refused"));
        health.is_live("pods");
        assert_eq!((health.unknown(now + GRACE), health.due()), (None, None));
    }

    #[test]
    fn silence_is_a_loss_at_once() {
        let now = Instant::now();
        let mut health = Health::default();
        assert!(!health.answers());
        health.is_silent("connection refused");
        assert_eq!(health.unknown(now).as_deref(), Some("connection refused"));
        assert!(health.answers());
        assert_eq!(health.unknown(now), None);
    }
}
