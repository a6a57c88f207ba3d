//! What happens to manifests.

use std::sync::Arc;

use akash_sdl::{Manifest, Version};
use akash_types::{Address, Deployment, DeploymentId, Group, GroupId, LeaseId};

use crate::cluster::command::{CommandFailure, Workload};
use crate::input::Received;

/// Names a request, so that its answer finds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// What happened.
#[derive(Clone, Debug)]
pub enum ManifestInput {
    /// A tenant sent a manifest for its own deployment.
    Submit {
        /// To be answered.
        request: RequestId,
        /// What for.
        deployment: DeploymentId,
        /// As it was decoded.
        manifest: Arc<Manifest>,
        /// How it came.
        received: Received,
    },
    /// The chain was asked about a deployment.
    Read {
        /// Which.
        deployment: DeploymentId,
        /// Height of the answer.
        height: u64,
        /// What it said; `None` if there is no such deployment.
        result: Result<Option<DeploymentFacts>, ChainUnavailable>,
    },
    /// A manifest was to be kept in the cluster.
    HoldEnded {
        /// For which lease.
        lease: LeaseId,
        /// Of which manifest.
        version: Version,
        /// How it went.
        result: Result<(), CommandFailure>,
    },
    /// A lease was to run what its manifest says, for whatever reason.
    DeployEnded {
        /// As it was given to the cluster.
        workload: Arc<Workload>,
        /// How it went.
        result: Result<(), CommandFailure>,
    },
    /// The chain says that a lease is over.
    LeaseEnded {
        /// Which.
        lease: LeaseId,
    },
    /// A tenant wants hostnames to lead to another of its leases.
    MigrateHostnames {
        /// To be answered.
        request: RequestId,
        /// Which names.
        hostnames: Vec<String>,
        /// Where to.
        destination: MigrationDestination,
    },
    /// A tenant wants leased addresses to lead to another of its leases.
    MigrateEndpoints {
        /// To be answered.
        request: RequestId,
        /// Names of the endpoints.
        endpoints: Vec<String>,
        /// Where to.
        destination: MigrationDestination,
    },
    /// Time passed.
    Tick,
}

/// The group that names shall lead to, as a tenant writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MigrationDestination {
    /// The tenant.
    pub owner: Address,
    /// Number of the deployment.
    pub dseq: u64,
    /// Number of the group.
    pub gseq: u32,
}

impl MigrationDestination {
    /// The group, unless the numbers cannot be those of one.
    pub(crate) fn group(self) -> Option<GroupId> {
        let deployment = DeploymentId::new(self.owner, self.dseq).ok()?;
        GroupId::new(deployment, self.gseq).ok()
    }
}

/// What the chain says about a deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentFacts {
    /// The deployment.
    pub deployment: Deployment,
    /// All its groups, whoever leased them.
    pub groups: Vec<Group>,
    /// The provider's own leases of it that are active or being reclaimed.
    pub leases: Vec<LeaseId>,
}

/// The chain gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the chain does not answer: {0}")]
pub struct ChainUnavailable(pub String);
