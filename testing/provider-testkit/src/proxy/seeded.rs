//! Chance that repeats itself.

/// Numbers that look random and are the same for each seed (SplitMix64).
#[derive(Clone, Debug)]
pub(super) struct Seeded(u64);

impl Seeded {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 up to, not including, `end`; 0 if there is none.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)).checked_rem(end).unwrap_or_default()
    }
}
