//! The life of a lease, from the block that made it to the last byte given back.
//!
//! ```text
//!                        accepted               done
//!  AwaitingManifest ───────────────► Deploying ──────► Running ◄──► Degraded
//!        │  ▲ objects gone    resent ▲ ▲  │ update        │           │ budget spent
//!        │  └── ManifestMissing ─────┘ └──┴───────────────┘           │
//!        │ wait is over                                               │
//!        └──────────────► closing (on chain, workload untouched) ◄────┘
//!                              │
//!     the chain says closed, at two heights ──► TearingDown ──► gone
//! ```
//!
//! `ManifestMissing` is entered from every stage but the last when the cluster has objects of the
//! lease and not its Manifest: what should run is not known, so no check counts and nothing is
//! written.
//!
//! Closing lies over the stages: until the chain says that the lease is over, the tenant pays and
//! the workload runs. So does reclamation. Only [`Evidence`] leads to teardown, whoever
//! closed.
//!
//! A lease knows nothing of how its workload is written or its transactions are sent: it says what
//! it wants done ([`LeaseAction`]) and is told how it went ([`LeaseInput`]). Wanting the same
//! twice is harmless; whoever carries it out does it once.

mod engine;
mod health;
mod step;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use akash_types::{DecCoin, Lease, LeaseClosedReason, LeaseId, LeaseState, Order};

pub use health::{Health, LeaseCause, Safeguard, health};
pub use step::{ManifestWait, WaitKind};

use crate::cluster::command::{CommandFailure, Workload};
use crate::cluster::recognition::DeploymentProof;
use crate::cluster::sight::SightTime;
use crate::reconcile::Evidence;
use crate::time::BlockTime;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRecord {
    pub id: LeaseId,
    /// What it pays per block.
    pub price: DecCoin,
    /// Height at which it was made.
    pub created_at: u64,
    /// The order it came from, with what was ordered; `None` if the chain did not say.
    pub order: Option<Arc<Order>>,
    /// What the chain last said.
    pub chain: OnChain,
    pub stage: Stage,
    /// Why it is to be closed, once that is decided.
    pub closing: Option<LeaseCause>,
    /// Checks in a row that found it unhealthy.
    pub failed_checks: u32,
    /// What it shall run, once there is something.
    pub workload: Option<Arc<Workload>>,
    /// What proves that it was deployed, if anything does.
    pub deployed: Option<DeploymentProof>,
    /// Whether the cluster has objects of it, and since when.
    pub presence: Presence,
}

/// Whether the cluster has any object of a lease, as this process sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Present(SightTime),
    /// It has not, since then.
    Absent(SightTime),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnChain {
    Active {
        /// How long before the end we must announce it; `None` if we need not.
        window: Option<Duration>,
    },
    /// Its end was announced; it pays.
    Reclaiming {
        deadline: BlockTime,
        /// Why it was announced.
        reason: LeaseClosedReason,
    },
    /// It was read once as over.
    Over { state: LeaseState, reason: Option<LeaseClosedReason>, height: u64 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The cluster has no object of it; the tenant has to send the manifest.
    AwaitingManifest(ManifestWait),
    /// The cluster has objects of it and not its Manifest; the tenant has to send it again.
    ManifestMissing,
    /// The cluster is being told what to run.
    Deploying,
    Running,
    /// Something does not run.
    Degraded(Health),
    /// The lease is over and the cluster is being told so.
    TearingDown(Evidence),
}

/// Names of everything that [`LeaseRecord::stage_name`] can say.
pub const STAGE_NAMES: [&str; 7] = [
    "awaiting manifest",
    "manifest missing",
    "deploying",
    "running",
    "degraded",
    "closing",
    "tearing down",
];

impl LeaseRecord {
    /// A lease as the chain tells of it, of which the cluster is not known to have anything.
    pub fn new(lease: &Lease, order: Option<Arc<Order>>, wait: ManifestWait) -> Self {
        Self {
            id: lease.id,
            price: lease.price.clone(),
            created_at: lease.created_at,
            order,
            chain: OnChain::of(lease, 0),
            stage: Stage::AwaitingManifest(wait),
            closing: None,
            failed_checks: 0,
            workload: None,
            deployed: None,
            presence: Presence::Absent(wait.since),
        }
    }

    /// The cluster shows objects of it, or none, at `sight`. True if they were not there before.
    pub fn observe(&mut self, present: bool, sight: SightTime) -> bool {
        match (self.presence, present) {
            (Presence::Present(_), true) | (Presence::Absent(_), false) => false,
            (Presence::Absent(_), true) => {
                self.presence = Presence::Present(sight);
                self.deployed = Some(DeploymentProof::Seen);
                true
            }
            (Presence::Present(_), false) => {
                self.presence = Presence::Absent(sight);
                false
            }
        }
    }

    /// Whether the cluster has objects of it.
    pub const fn is_present(&self) -> bool {
        matches!(self.presence, Presence::Present(_))
    }

    /// Whether it pays and is not being torn down.
    pub const fn is_live(&self) -> bool {
        self.is_alive() && !matches!(self.stage, Stage::TearingDown(_))
    }

    pub const fn wait(&self) -> Option<&ManifestWait> {
        match &self.stage {
            Stage::AwaitingManifest(wait) => Some(wait),
            _ => None,
        }
    }

    /// Gives a wait that has begun the length that other settings say; when it ends, if it does.
    pub fn renew_wait(
        &mut self,
        timeout: Option<Duration>,
        patience: &Patience,
    ) -> Option<SightTime> {
        // A lease that ends anyway has another deadline.
        let ends = self.closing.is_some() || matches!(self.chain, OnChain::Reclaiming { .. });
        if ends || !self.is_live() {
            return None;
        }
        let Stage::AwaitingManifest(wait) = &mut self.stage else { return None };
        wait.until = match wait.kind {
            WaitKind::Created | WaitKind::Restarted => timeout.map(|it| wait.since.after(it)),
            WaitKind::Lost | WaitKind::Accepted => Some(wait.since.after(patience.lost_manifest)),
            WaitKind::Found => wait.until,
        };
        wait.until
    }

    /// Whether it waits for its manifest, and may have been deployed before this process began.
    pub const fn waits_unwatched(&self) -> bool {
        match &self.stage {
            Stage::AwaitingManifest(wait) => !matches!(wait.kind, WaitKind::Created),
            _ => false,
        }
    }

    /// Whether the tenant has to send the manifest of a lease again that was probably deployed.
    pub const fn lacks_manifest(&self) -> bool {
        match &self.stage {
            Stage::AwaitingManifest(wait) => wait.is_lost(),
            Stage::ManifestMissing => true,
            _ => false,
        }
    }

    /// Where it is, for people and metrics.
    pub const fn stage_name(&self) -> &'static str {
        match (&self.stage, self.closing) {
            (Stage::TearingDown(_), _) => "tearing down",
            (_, Some(_)) => "closing",
            (Stage::AwaitingManifest(_), None) => "awaiting manifest",
            (Stage::ManifestMissing, None) => "manifest missing",
            (Stage::Deploying, None) => "deploying",
            (Stage::Running, None) => "running",
            (Stage::Degraded(_), None) => "degraded",
        }
    }

    /// Whether the chain said that it pays.
    pub const fn is_alive(&self) -> bool {
        self.chain.is_alive()
    }
}

impl OnChain {
    /// Whether it says that the lease pays.
    pub const fn is_alive(&self) -> bool {
        !matches!(self, Self::Over { .. })
    }

    /// What `lease`, read at `height`, says.
    pub fn of(lease: &Lease, height: u64) -> Self {
        let reclamation = lease.reclamation.as_ref();
        match lease.state {
            LeaseState::Active => Self::Active { window: reclamation.map(|terms| terms.window) },
            LeaseState::Reclaiming => Self::Reclaiming {
                // Announced without a deadline is announced for never: nothing is closed early.
                deadline: BlockTime::from_unix(
                    reclamation.and_then(|terms| terms.deadline).unwrap_or(u64::MAX),
                ),
                reason: reclamation
                    .and_then(|terms| terms.reason)
                    .unwrap_or(LeaseClosedReason::UNSPECIFIED),
            },
            LeaseState::Closed | LeaseState::InsufficientFunds => {
                Self::Over { state: lease.state, reason: lease.reason, height }
            }
        }
    }
}

/// What the cluster shows of a lease, from a view that is fresh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    pub present: bool,
    pub terminating: bool,
    /// What the cluster keeps of its manifest, and whether workloads were written from it.
    pub held: Option<(Arc<Workload>, bool)>,
    pub health: Health,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseInput {
    /// Somebody looked, at a height that counts.
    Looked(Box<Lease>, u64),
    /// The cluster shows something new.
    Seen(Sighting),
    /// It is time to count: the cluster shows this, and it is fresh.
    Checked(Sighting),
    /// The cluster holds a manifest that the tenant sent.
    Accepted(Arc<Workload>),
    Deployed(Result<(), CommandFailure>),
    /// It was found, and the time of its creation is known.
    CreationKnown {
        /// Whether the time for its manifest was over before it was found.
        overdue: bool,
        /// How long a tenant has to send a manifest; `None` for ever.
        timeout: Option<Duration>,
    },
    Deadline {
        /// Whether the wait for its manifest is over, with the cluster in sight and nothing there.
        waited: bool,
    },
    /// The operator accepted a cluster that has no object of it.
    ClusterAccepted,
    /// What was handed to the lane has ended, one way or another.
    IntentEnded,
    /// Something happened that may concern it.
    Hint,
    Close(LeaseCause),
}

/// What a lease wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseAction {
    Look,
    /// Look at the chain, at a later height than this.
    LookAfter(u64),
    /// Make the cluster run it.
    Deploy(Arc<Workload>),
    /// Make the cluster forget it.
    Teardown(Evidence),
    CloseBid(LeaseClosedReason),
    /// Announce its end on chain.
    StartReclaim(LeaseClosedReason),
    /// It ought to be closed for this cause: whoever sees all leases decides.
    ProposeClose(LeaseCause),
    /// Count again after the retry period.
    CheckLater,
    /// Look at deadlines again at this block time.
    WakeAt(BlockTime),
    /// Look at deadlines again when the cluster was in sight until then.
    WaitUntil(SightTime),
    /// Nothing is left of it.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Failed checks in a row after which an unhealthy lease is closed.
    pub unhealthy_checks: u32,
    /// The same for one whose pods find no place, which is not the tenant's fault.
    pub unschedulable_checks: u32,
    /// Failed checks without a pod after which it is deployed again.
    pub redeploy_checks: u32,
    /// How long a lease that was probably deployed waits for its manifest to be sent again.
    pub lost_manifest: Duration,
}

/// What a step depends on beside the lease itself.
#[derive(Clone, Copy, Debug)]
pub struct LeaseContext {
    pub time: BlockTime,
    /// How long the cluster was in sight.
    pub sight: SightTime,
    /// How often it was out of sight.
    pub gaps: u64,
    pub patience: Patience,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            unhealthy_checks: 40,
            unschedulable_checks: 240,
            redeploy_checks: 3,
            lost_manifest: Duration::from_secs(24 * 3_600),
        }
    }
}
