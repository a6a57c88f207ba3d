//! How a lease does, from what the cluster shows. Three answers: healthy, unhealthy, and no view,
//! which is no [`Health`] at all and counts for nothing.

use std::collections::BTreeMap;

use akash_sdl::manifest::Group;
use akash_types::LeaseClosedReason;

use super::{LeaseAction, LeaseRecord, OnChain, Presence, Stage, WaitKind};
use crate::cluster::sight::SightTime;
use crate::cluster::view::{Condition, Replica};
use crate::time::BlockTime;

#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
pub enum Health {
    /// Every service has as many ready pods as it asks for.
    #[display("healthy")]
    Healthy,
    /// A service has fewer.
    #[display("service {service:?} has {ready} of {wanted} pods ready: {why}")]
    Unhealthy {
        service: String,
        ready: u32,
        /// Pods that it asks for.
        wanted: u32,
        why: String,
    },
    /// A service has fewer, because pods of it find no place.
    #[display("service {service:?} finds no place: {why}")]
    Unschedulable {
        service: String,
        /// What the scheduler says.
        why: String,
    },
    /// Nothing of a service is there at all.
    #[display("nothing of service {service:?} is there")]
    Missing { service: String },
}

impl Health {
    /// Whether nothing is wrong.
    pub const fn is_healthy(&self) -> bool {
        matches!(self, Self::Healthy)
    }
}

/// How the services of `group` do with these `replicas`.
pub fn health(group: &Group, replicas: &[Replica]) -> Health {
    let mut by_service = BTreeMap::<&str, Vec<&Replica>>::new();
    for replica in replicas {
        by_service.entry(&replica.service).or_default().push(replica);
    }
    let bad = group.services.iter().filter(|service| service.count > 0).find_map(|service| {
        let pods = by_service.get(service.name.as_str()).map_or(&[][..], Vec::as_slice);
        let ready = pods.iter().filter(|pod| pod.condition == Condition::Ready).count();
        let ready = u32::try_from(ready).unwrap_or(u32::MAX);
        (ready < service.count).then(|| ail(&service.name, ready, service.count, pods))
    });
    bad.unwrap_or(Health::Healthy)
}

fn ail(service: &str, ready: u32, wanted: u32, pods: &[&Replica]) -> Health {
    let service = service.to_owned();
    let living = || pods.iter().filter(|pod| pod.condition != Condition::Ending);
    if living().next().is_none() {
        return Health::Missing { service };
    }
    let placeless = living().find_map(|pod| match &pod.condition {
        Condition::Unschedulable(why) => Some(why.clone()),
        _ => None,
    });
    if let Some(why) = placeless {
        return Health::Unschedulable { service, why };
    }
    let failing = living().find_map(|pod| match &pod.condition {
        Condition::Failing(why) => Some(why.clone()),
        _ => None,
    });
    let why = failing.unwrap_or_else(|| "the others are starting".to_owned());
    Health::Unhealthy { service, ready, wanted, why }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
pub enum LeaseCause {
    /// The tenant sent no manifest in time.
    #[display("no manifest came in time")]
    ManifestTimeout,
    /// What was deployed is lost, and the tenant did not send the manifest again in time.
    #[display("its lost manifest was not sent again in time")]
    ManifestLost,
    /// The workload stayed unhealthy for longer than the budget allows.
    #[display("the workload stayed unhealthy")]
    Unhealthy,
    /// Its pods found no place for longer than the budget allows.
    #[display("its pods found no place")]
    Unschedulable,
    /// The operator said so, with a reason of the provider's range.
    #[display("the operator asked for it ({_0})")]
    Operator(LeaseClosedReason),
}

impl LeaseCause {
    /// What the chain is told.
    pub const fn reason(self) -> LeaseClosedReason {
        match self {
            Self::ManifestTimeout | Self::ManifestLost => LeaseClosedReason::MANIFEST_TIMEOUT,
            Self::Unhealthy | Self::Unschedulable => LeaseClosedReason::UNSTABLE,
            Self::Operator(reason) => reason,
        }
    }
}

/// What a proposed close has to pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Safeguard {
    /// Nothing: this process knows that the lease was never deployed, or the operator decided.
    None,
    Breaker,
    /// The circuit breaker, and a lease created earlier whose objects were in the cluster all the
    /// time since then: only that shows that the absence is the lease's and not the cluster's.
    Witness(SightTime),
}

impl LeaseRecord {
    /// What closing it for `cause` has to pass. `gaps` is how often the cluster was out of sight.
    pub const fn safeguard(&self, cause: LeaseCause, gaps: u64) -> Safeguard {
        match (cause, &self.stage) {
            (LeaseCause::Operator(_), _) => Safeguard::None,
            (_, Stage::AwaitingManifest(wait)) => match wait.kind {
                WaitKind::Accepted => Safeguard::None,
                WaitKind::Created if wait.gaps == gaps => Safeguard::None,
                WaitKind::Created => Safeguard::Breaker,
                WaitKind::Found | WaitKind::Restarted | WaitKind::Lost => {
                    Safeguard::Witness(wait.since)
                }
            },
            _ => match self.presence {
                Presence::Present(_) => Safeguard::Breaker,
                Presence::Absent(since) => Safeguard::Witness(since),
            },
        }
    }

    /// What the chain has to be told next, if anything. Asked again whenever something about the
    /// lease changes, until the chain says that it is over: an attempt that failed is made again.
    pub fn drive_close(&self, time: BlockTime) -> Option<LeaseAction> {
        match (self.chain, self.closing) {
            (OnChain::Over { .. }, _) | (OnChain::Active { .. }, None) => None,
            (OnChain::Active { window: None }, Some(cause)) => {
                Some(LeaseAction::CloseBid(cause.reason()))
            }
            // The chain refuses to close a lease whose end was not announced.
            (OnChain::Active { window: Some(_) }, Some(cause)) => {
                Some(LeaseAction::StartReclaim(cause.reason()))
            }
            (OnChain::Reclaiming { deadline, reason }, _) if deadline <= time => {
                Some(LeaseAction::CloseBid(reason))
            }
            (OnChain::Reclaiming { deadline, .. }, _) => Some(LeaseAction::WakeAt(deadline)),
        }
    }
}
