//! When each lease of an account shall be withdrawn, and why.
//!
//! Made anew from every reading. Heights only: whether it is time is a comparison.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use akash_types::LeaseId;

use super::effect::WithdrawReason;
use super::forecast::Forecast;
use super::settings::Settings;
use crate::chain::Head;

/// What is due first, for one account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// The first height that is not covered.
    pub(super) dry_at: Option<u64>,
    pub(super) next: Option<Due>,
}

/// A withdrawal to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) lease: LeaseId,
    pub(super) at: u64,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Worth,
    Age { since: u64 },
    NearlyDry { dry_at: u64 },
}

impl Plan {
    /// The plan for our leases `own` (each with the number that spreads it) of an account.
    pub(super) fn new(
        forecast: &Forecast,
        own: &[(LeaseId, u64)],
        settings: &Settings,
        pace: &Pace,
    ) -> Self {
        let dry_at = forecast.dry_at();
        // What would be due this shortly before the end is collected with it.
        let last = dry_at.map_or(u64::MAX, |dry| dry.saturating_sub(settings.dry_lead));
        let dues = own
            .iter()
            .flat_map(|own| {
                [worth(forecast, own, settings, pace), age(forecast, own, settings, pace)]
            })
            .flatten()
            .filter(|due| due.at < last);
        let before_dry = dry_at.and_then(|dry_at| nearly_dry(forecast, own, settings, dry_at));
        Self { dry_at, next: dues.chain(before_dry).min_by_key(|due| due.at) }
    }

    /// Whether the account cannot pay at `height`.
    pub(super) fn is_dry(&self, height: u64) -> bool {
        self.dry_at.is_some_and(|dry| dry <= height)
    }
}

impl Due {
    /// The reason in full, at `height`.
    pub(super) fn why(&self, forecast: &Forecast, height: u64) -> Option<WithdrawReason> {
        let accrued = forecast.accrued(self.lease, height)?;
        Some(match self.kind {
            Kind::Worth => WithdrawReason::Worth { accrued },
            Kind::Age { since } => WithdrawReason::Age { accrued, since },
            Kind::NearlyDry { dry_at } => WithdrawReason::NearlyDry { accrued, dry_at },
        })
    }
}

/// When the lease has earned many times the fee. Not more often than accounts are read: a lease so
/// dear that every block is worth its fee is not withdrawn in every block.
fn worth(
    forecast: &Forecast,
    &(lease, _): &(LeaseId, u64),
    settings: &Settings,
    pace: &Pace,
) -> Option<Due> {
    let reached = forecast.reaches(lease, |denom| settings.fees(settings.worth_factor, denom))?;
    let gap = forecast.unpaid_since(lease)?.saturating_add(pace.blocks(settings.check_every));
    Some(Due { lease, at: reached.max(gap), kind: Kind::Worth })
}

/// When the lease has waited for the longest time allowed, and is worth a fee at all.
fn age(
    forecast: &Forecast,
    &(lease, seed): &(LeaseId, u64),
    settings: &Settings,
    pace: &Pace,
) -> Option<Due> {
    if settings.withdraw_every.is_zero() {
        return None;
    }
    let since = forecast.unpaid_since(lease)?;
    let period = pace.blocks(settings.withdraw_every);
    // Early by up to an eighth, each lease by its own part, so that leases found together at a
    // start are not due together ever after.
    let wait = period.saturating_sub(seed % (period / 8).saturating_add(1));
    let least = forecast.reaches(lease, |denom| settings.fees(settings.least_factor, denom))?;
    Some(Due { lease, at: since.saturating_add(wait).max(least), kind: Kind::Age { since } })
}

/// When our part is to be secured before the account runs dry.
///
/// Needed only where others are paid from it as well: who settles after it ran dry pays in the
/// order of keys, and the last get nothing. Settling for one lease secures all of them, so the one
/// that brings most is taken. Alone, we lose nothing: closing pays what is there.
fn nearly_dry(
    forecast: &Forecast,
    own: &[(LeaseId, u64)],
    settings: &Settings,
    dry_at: u64,
) -> Option<Due> {
    let at = dry_at.saturating_sub(settings.dry_lead);
    if forecast.payees() <= own.len() || forecast.settled_at() >= at {
        return None;
    }
    let amount = |lease: LeaseId| Some(forecast.accrued(lease, at)?.amount());
    let (lease, _) = *own.iter().max_by_key(|(lease, _)| amount(*lease))?;
    let least = forecast.reaches(lease, |denom| settings.fees(settings.least_factor, denom))?;
    let at = at.max(least);
    (at < dry_at).then_some(Due { lease, at, kind: Kind::NearlyDry { dry_at } })
}

/// Blocks between two measurements.
const SAMPLE: u64 = 100;

/// How fast blocks come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    per_block: Duration,
    anchor: Option<Head>,
}

impl Default for Pace {
    /// 6.5 s, the average that the network's own tools assume.
    fn default() -> Self {
        Self { per_block: Duration::from_millis(6_500), anchor: None }
    }
}

impl Pace {
    /// Looks at a new head.
    pub(super) fn see(&mut self, head: Head) {
        let Some(anchor) = self.anchor else {
            self.anchor = Some(head);
            return;
        };
        let blocks = head.height.saturating_sub(anchor.height);
        if blocks < SAMPLE {
            return;
        }
        let elapsed = head.time.since(anchor.time);
        let per_block = elapsed / u32::try_from(blocks).unwrap_or(u32::MAX);
        // A chain that stood still, or a replay of old blocks, says little about the next ones.
        self.per_block = per_block.clamp(self.per_block / 2, self.per_block * 2);
        self.per_block = self.per_block.clamp(Duration::from_millis(100), Duration::from_secs(60));
        self.anchor = Some(head);
    }

    /// How many blocks `time` is, at least one.
    pub(super) fn blocks(&self, time: Duration) -> u64 {
        let blocks = time.as_millis() / self.per_block.as_millis().max(1);
        u64::try_from(blocks).unwrap_or(u64::MAX).max(1)
    }
}

/// A number that belongs to `id`: the same in every run, different for different ids.
pub(super) fn seed(id: &impl Hash) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    id.hash(&mut hasher);
    // The low bits of the sum are the weakest.
    hasher.finish() ^ (hasher.finish() >> 32)
}

/// FNV-1a; the standard library's hasher may change with its version.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
