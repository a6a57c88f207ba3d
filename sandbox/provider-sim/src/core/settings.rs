//! How the simulated cluster behaves.

use std::time::Duration;

use provider_engine::cluster::recognition::ClusterUid;

/// How the simulated cluster behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Its identity; `None` for a cluster that does not tell it.
    pub uid: Option<ClusterUid>,
    pub delays: Delays,
    /// By what requests are divided before the scheduler sees them; 1 for not at all.
    pub commit: CommitLevels,
    /// Domain of hostnames that are made for services; `None` makes none.
    pub domain: Option<String>,
    /// Name at which forwarded ports are reached.
    pub public_host: Option<String>,
    /// How many events of a lease are remembered.
    pub events_kept: usize,
}

/// How long things take. What depends on chance takes up to half as long again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// From a place on a node to a container that can start: image and volumes.
    pub pull: Duration,
    /// From a container's start to being ready.
    pub start: Duration,
    /// From being told to end to the end of a pod.
    pub grace: Duration,
    /// From the end of the pods to the end of a lease's last object.
    pub teardown: Duration,
    /// From the loss of a node to new pods elsewhere.
    pub evict: Duration,
    /// Before the first restart of a container; doubles up to thirty times as much.
    pub backoff: Duration,
    /// From room becoming free to another look at what waits for it.
    pub reschedule: Duration,
    /// How long an image whose name says so runs before it crashes.
    pub crash_after: Duration,
    pub log_line: Duration,
}

/// By what requests are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitLevels {
    pub cpu: u64,
    pub memory: u64,
    /// Storage that lives with the pod.
    pub storage: u64,
}

impl Default for CommitLevels {
    fn default() -> Self {
        Self { cpu: 1, memory: 1, storage: 1 }
    }
}

impl Default for Delays {
    fn default() -> Self {
        Self {
            pull: Duration::from_secs(2),
            start: Duration::from_secs(1),
            grace: Duration::from_secs(3),
            teardown: Duration::from_secs(2),
            evict: Duration::from_secs(300),
            backoff: Duration::from_secs(10),
            reschedule: Duration::from_secs(1),
            crash_after: Duration::from_secs(2),
            log_line: Duration::from_secs(1),
        }
    }
}

impl Delays {
    /// Everything so many times as fast; never less than a millisecond.
    pub fn faster(self, times: u32) -> Self {
        let faster =
            |span: Duration| span.checked_div(times).unwrap_or(span).max(Duration::from_millis(1));
        Self {
            pull: faster(self.pull),
            start: faster(self.start),
            grace: faster(self.grace),
            teardown: faster(self.teardown),
            evict: faster(self.evict),
            backoff: faster(self.backoff),
            reschedule: faster(self.reschedule),
            crash_after: faster(self.crash_after),
            log_line: faster(self.log_line),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            uid: None,
            delays: Delays::default(),
            commit: CommitLevels::default(),
            domain: Some("sim.localhost".to_owned()),
            public_host: Some("localhost".to_owned()),
            events_kept: 32,
        }
    }
}

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
