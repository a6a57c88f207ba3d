//! A lease without any object in the cluster, waiting for its manifest.
//!
//! Such a lease may be new, or its workload may be lost: the two look alike. How long it waits and
//! what must be true before it is closed depends on what this process knows of it.

use super::LeaseCause;
use crate::cluster::sight::SightTime;

/// The wait of one lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestWait {
    /// What is known of the lease.
    pub kind: WaitKind,
    pub since: SightTime,
    /// When it ends; `None` for never, or as long as that is not known.
    pub until: Option<SightTime>,
    /// How often the cluster had been out of sight when it began.
    pub gaps: u64,
}

/// What is known of a lease that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitKind {
    /// This process signed its bid and follows it from its creation on: it was never deployed.
    Created,
    /// It was found, and it is not known yet whether its deadline had passed.
    Found,
    /// It was found before its deadline: the tenant gets the manifest timeout anew.
    Restarted,
    /// It was found after its deadline, or lost its objects: it was probably deployed.
    Lost,
    /// The operator accepted a cluster that does not have its objects.
    Accepted,
}

impl ManifestWait {
    /// Why the lease is closed when the wait is over.
    pub const fn cause(&self) -> LeaseCause {
        match self.kind {
            WaitKind::Created | WaitKind::Found | WaitKind::Restarted => {
                LeaseCause::ManifestTimeout
            }
            WaitKind::Lost | WaitKind::Accepted => LeaseCause::ManifestLost,
        }
    }

    /// Whether the lease was probably deployed, so that the tenant has to send its manifest again.
    pub const fn is_lost(&self) -> bool {
        matches!(self.kind, WaitKind::Lost | WaitKind::Accepted)
    }
}
