//! How long from block to block, from what was seen.

use std::time::{Duration, SystemTime};

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
