//! Numbers that look random and are the same for the same seed.

/// SplitMix64: small, fast, and good enough to play fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// The numbers that follow from `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 if there is none.
    pub const fn below(&mut self, bound: u64) -> u64 {
        match self.next().checked_rem(bound) {
            Some(number) => number,
            None => 0,
        }
    }

    /// Whether something happens that happens `per_mille` times in a thousand.
    pub const fn chance(&mut self, per_mille: u32) -> bool {
        // Nothing is drawn for what never happens: switching a fault off changes nothing else.
        per_mille > 0 && self.below(1000) < per_mille as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_reference() {
        // First outputs of Vigna's splitmix64.c for seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn chances_are_met_about_as_often_as_they_say() {
        let mut random = Random::new(1);
        let met = (0..10_000).filter(|_| random.chance(250)).count();
        assert!((2_300..2_700).contains(&met), "{met}");
        assert!((0..1000).all(|_| !random.chance(0) && random.chance(1000)));
        assert_eq!(random.below(0), 0);
    }
}
