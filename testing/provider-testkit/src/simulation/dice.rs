//! Chance, all of it from one seed.

use std::time::Duration;

use provider_sim::core::Random;

/// Numbers that follow from a seed.
#[derive(Clone, Debug)]
pub(super) struct Dice(Random);

impl Dice {
    /// The numbers of `seed` for one purpose: those of another purpose are others, so that one
    /// more draw here changes nothing there.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let mut mixed = Random::new(seed ^ purpose.wrapping_mul(0xA076_1D64_78BD_642F));
        Self(Random::new(mixed.next()))
    }

    pub(super) const fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A number from 0, below `bound`.
    pub(super) const fn below(&mut self, bound: u64) -> u64 {
        self.0.below(bound)
    }

    /// A number from `least` to `most`.
    pub(super) const fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least).saturating_add(1))
    }

    /// Whether something happens that happens `per_mille` times in a thousand.
    pub(super) const fn chance(&mut self, per_mille: u32) -> bool {
        self.0.chance(per_mille)
    }

    /// A span between two spans.
    pub(super) fn span(&mut self, least: Duration, most: Duration) -> Duration {
        let micros = |span: Duration| u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        Duration::from_micros(self.between(micros(least), micros(most)))
    }

    /// One of several; the first has the index 0.
    pub(super) fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let index = self.below(u64::try_from(of.len()).unwrap_or(u64::MAX));
        of.get(usize::try_from(index).unwrap_or(usize::MAX))
    }
}
