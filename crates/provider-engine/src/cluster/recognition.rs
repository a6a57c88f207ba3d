//! Whether the cluster in sight is the one that leases were deployed to.
//!
//! Content decides, ids explain. A cluster that holds an object of a live lease is known, whatever
//! its uid; one that holds none although leases are proven deployed is unknown, whatever its uid.
//! While it is unknown nothing is closed, bid, deployed, withdrawn or torn down: another kubeconfig,
//! a restored etcd and a wrong manifest namespace all look like every tenant's workload being gone.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_types::{DecCoin, EscrowPayment, LeaseId};

use crate::order::fees::BidFees;

/// Identity of a cluster, such as the uid of its `kube-system` namespace.
pub type ClusterUid = Arc<str>;

/// Whether the cluster is the one that leases were deployed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recognition {
    /// No complete view yet, or payments that could prove a deployment are still being read.
    #[default]
    Undecided,
    /// It holds an object of a live lease, no live lease is proven deployed, or the operator
    /// accepted it.
    Known,
    /// Leases were deployed, and it does not show it.
    Unknown(UnknownCluster),
}

impl Recognition {
    /// A name for status and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Undecided => "undecided",
            Self::Known => "known",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// Why a cluster is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, derive_more::Display)]
pub enum UnknownCluster {
    /// No object of any live lease is in it.
    #[display(
        "leases were deployed ({deployed} proven) and this cluster holds no object of any; \
                 is it the right kubeconfig?"
    )]
    NoObjects {
        /// Live leases that are proven deployed.
        deployed: usize,
    },
    /// Several leases have objects, and none has its Manifest.
    #[display(
        "{leases} leases have objects here and none has its Manifest; \
                 is --k8s-manifest-ns the namespace that the manifests are in?"
    )]
    NoManifests {
        /// Live leases that have objects.
        leases: usize,
    },
}

/// What a complete view and the proofs of deployment say of all live leases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Whether some lease has its Manifest here.
    pub manifests: bool,
    /// Leases that have any object here.
    pub leases: usize,
    /// Leases that are proven deployed.
    pub deployed: usize,
    /// Whether proofs are still to come.
    pub pending: bool,
}

impl Content {
    /// What follows for the cluster.
    pub const fn recognition(self) -> Recognition {
        let Self { manifests, leases, deployed, pending } = self;
        match (manifests, leases) {
            (true, _) | (false, 1) => Recognition::Known,
            (false, 2..) => Recognition::Unknown(UnknownCluster::NoManifests { leases }),
            (false, 0) if deployed > 0 => {
                Recognition::Unknown(UnknownCluster::NoObjects { deployed })
            }
            (false, 0) if pending => Recognition::Undecided,
            (false, 0) => Recognition::Known,
        }
    }
}

/// What proves that a lease was deployed. Accrued escrow is no proof: it accrues from the block of
/// the lease on, deployed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeploymentProof {
    /// This process saw an object of it.
    Seen,
    /// The store of an earlier run says so.
    Stored,
    /// An earlier run withdrew more than a lease without a manifest lives to earn.
    Withdrawn,
}

/// Whether what was withdrawn from `payment` proves that its lease outlived its manifest deadline,
/// `deadline` blocks after its creation: a provider closes a lease without a manifest then.
pub fn withdrawn_after_deadline(payment: &EscrowPayment, deadline: u64) -> bool {
    let unproven = payment.rate.checked_mul_int(deadline.saturating_add(1));
    // A product that does not fit is more than anything that was withdrawn.
    let withdrawn = DecCoin::try_from(payment.withdrawn.clone());
    unproven.is_ok_and(|unproven| {
        withdrawn.is_ok_and(|withdrawn| {
            withdrawn.denom() == unproven.denom() && withdrawn.amount() > unproven.amount()
        })
    })
}

/// What the store remembers of earlier runs. Without it less is proven, and nothing else is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Leases that were deployed, with the height at which that was recorded.
    pub deployed: BTreeMap<LeaseId, u64>,
    /// The cluster that was known last.
    pub cluster: Option<ClusterUid>,
    /// The newest acceptance of a cluster.
    pub accepted: Option<Acceptance>,
    /// What bids cost in fees on the last day on which one was made.
    pub bid_fees: BidFees,
}

impl Memory {
    /// Whether an earlier run deployed a lease to the cluster that was accepted last.
    pub fn proves(&self, lease: LeaseId, accepted: Option<u64>) -> bool {
        self.deployed.get(&lease).is_some_and(|height| accepted.is_none_or(|by| *height > by))
    }
}

/// The operator said that a cluster is right although it shows nothing of the leases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// Which cluster.
    pub cluster: ClusterUid,
    /// The newest block then: proofs up to it are void.
    pub height: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(manifests: bool, leases: usize, deployed: usize, pending: bool) -> Recognition {
        Content { manifests, leases, deployed, pending }.recognition()
    }

    #[test]
    fn an_object_of_a_live_lease_makes_a_cluster_known() {
        assert_eq!(content(true, 3, 5, false), Recognition::Known);
        assert_eq!(content(false, 1, 5, false), Recognition::Known, "one Manifest may be deleted");
    }

    #[test]
    fn without_a_proven_deployment_an_empty_cluster_is_known_once_all_proofs_are_read() {
        assert_eq!(content(false, 0, 0, true), Recognition::Undecided);
        assert_eq!(content(false, 0, 0, false), Recognition::Known);
    }

    #[test]
    fn a_proven_deployment_makes_an_empty_cluster_unknown_whatever_else_is_to_come() {
        let unknown = Recognition::Unknown(UnknownCluster::NoObjects { deployed: 1 });
        assert_eq!(content(false, 0, 1, false), unknown);
        assert_eq!(content(false, 0, 1, true), unknown);
    }

    #[test]
    fn several_leases_without_any_manifest_name_the_manifest_namespace() {
        let Recognition::Unknown(why) = content(false, 2, 2, false) else { panic!() };
        assert!(why.to_string().contains("--k8s-manifest-ns"), "{why}");
    }

    #[test]
    fn only_a_withdrawal_past_the_manifest_deadline_proves_a_deployment() {
        let owner = akash_types::Address::from_bytes(&[1; 20]).unwrap();
        let deployment = akash_types::DeploymentId::new(owner, 7).unwrap();
        let id = akash_types::EscrowPaymentId::from_xid(
            akash_types::EscrowAccountId::Deployment(deployment),
            &format!("1/1/{owner}"),
        );
        let payment = |withdrawn: &str| EscrowPayment {
            id: id.clone().unwrap(),
            owner,
            state: akash_types::EscrowState::Open,
            rate: "2.5uact".parse().unwrap(),
            balance: "1000uact".parse().unwrap(),
            unsettled: "0uact".parse().unwrap(),
            withdrawn: withdrawn.parse().unwrap(),
        };
        assert!(!withdrawn_after_deadline(&payment("0uact"), 50), "accrued is no proof");
        assert!(!withdrawn_after_deadline(&payment("127uact"), 50), "51 blocks are 127.5");
        assert!(withdrawn_after_deadline(&payment("128uact"), 50));
        assert!(!withdrawn_after_deadline(&payment("128uact"), u64::MAX));
    }
}
