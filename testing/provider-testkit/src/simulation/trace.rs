//! What happened, for people, and a digest of it, for comparing runs.

use std::time::Duration;

use provider_engine::Effect;

use super::world::Event;

#[derive(Clone, Debug)]
pub(crate) struct Trace {
    digest: u64,
    prints: bool,
}

impl Trace {
    /// A trace that is only a digest, or one that is printed as well.
    pub(crate) const fn new(prints: bool) -> Self {
        Self { digest: 0xcbf2_9ce4_8422_2325, prints }
    }

    /// The digest of everything so far.
    pub(crate) const fn digest(&self) -> u64 {
        self.digest
    }

    fn fold(&mut self, number: u64) {
        self.digest = (self.digest ^ number).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }

    pub(crate) fn step(&mut self, step: u64, now: Duration, event: &Event) {
        self.fold(step);
        self.fold(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX));
        if self.prints {
            let text = format!("{event:?}");
            let short: String = text.chars().take(300).collect();
            self.print(&format!("{step} {:.3} {short}", now.as_secs_f64()));
        }
    }

    pub(crate) fn block(&mut self, height: u64, app_hash: &[u8; 32]) {
        self.fold(height);
        for part in app_hash.chunks(8) {
            self.fold(part.iter().fold(0, |word, byte| (word << 8) | u64::from(*byte)));
        }
        if self.prints {
            self.print(&format!("  block {height}"));
        }
    }

    pub(crate) fn effects(&mut self, effects: &[Effect]) {
        self.fold(u64::try_from(effects.len()).unwrap_or(u64::MAX));
        if !self.prints {
            return;
        }
        for effect in effects {
            match effect {
                Effect::Record(entry) => self.print(&format!("  {}: {entry}", entry.subject)),
                Effect::Publish(_) | Effect::WakeAt(_) => {}
                other => {
                    let text = format!("{other:?}");
                    let short: String = text.chars().take(240).collect();
                    self.print(&format!("  -> {short}"));
                }
            }
        }
    }

    pub(crate) fn note(&self, text: impl FnOnce() -> String) {
        if self.prints {
            self.print(&format!("  * {}", text()));
        }
    }

    #[allow(clippy::print_stdout, reason = "a trace is asked for in order to be read")]
    fn print(&self, line: &str) {
        println!("{line}");
    }
}
