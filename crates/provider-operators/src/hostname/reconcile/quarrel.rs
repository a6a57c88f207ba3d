//! Hosts that somebody else changes back.
//!
//! Two operators with different settings would write in turn, for ever and as fast as they can. So
//! writes of a host are counted, and one too many is a failure, after which it waits.

use std::collections::BTreeMap;
use std::time::Duration;

/// Writes that a change of what is wanted may take: a move is a delete and a create, and a route of
/// the other kind may have to go.
const USUAL: u32 = 4;
/// After so long without a write, nobody quarrels.
const PEACE: Duration = Duration::from_mins(10);

/// How often hosts were written since what is wanted changed, and when last.
#[derive(Clone, Debug, Default)]
pub(super) struct Quarrels(BTreeMap<String, (u32, Duration)>);

impl Quarrels {
    /// A host was written; by how many writes that is too often, if it is.
    pub(super) fn wrote(&mut self, host: &str, now: Duration) -> Option<u32> {
        let (writes, last) = self.0.entry(host.to_owned()).or_insert((0, now));
        if now.saturating_sub(*last) >= PEACE {
            *writes = 0;
        }
        (*writes, *last) = (writes.saturating_add(1), now);
        writes.checked_sub(USUAL).filter(|above| *above > 0)
    }

    /// What is wanted of a host changed.
    pub(super) fn forget(&mut self, host: &str) {
        self.0.remove(host);
    }
}
