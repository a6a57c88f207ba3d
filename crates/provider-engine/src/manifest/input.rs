//! What happens to manifests.

use std::sync::Arc;

use akash_sdl::{Manifest, Version};
use akash_types::{Address, DeploymentId, GroupId, LeaseId};

use crate::chain::{DeploymentRead, Unavailable};
use crate::cluster::command::{CommandFailure, Workload};
use crate::input::Received;

/// Names a request, so that its answer finds back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

#[derive(Clone, Debug)]
pub enum ManifestInput {
    /// A tenant sent a manifest for its own deployment.
    Submit {
        request: RequestId,
        deployment: DeploymentId,
        manifest: Arc<Manifest>,
        received: Received,
    },
    /// The chain was asked about a deployment.
    Read {
        deployment: DeploymentId,
        height: u64,
        /// What it said; `None` if there is no such deployment.
        result: Result<Option<DeploymentRead>, Unavailable>,
    },
    /// A manifest was to be kept in the cluster.
    HoldEnded {
        lease: LeaseId,
        version: Version,
        result: Result<(), CommandFailure>,
    },
    /// A lease was to run what its manifest says, for whatever reason.
    DeployEnded {
        /// As it was given to the cluster.
        workload: Arc<Workload>,
        result: Result<(), CommandFailure>,
    },
    /// The chain says that a lease is over.
    LeaseEnded {
        lease: LeaseId,
    },
    /// A tenant wants hostnames to lead to another of its leases.
    MigrateHostnames {
        request: RequestId,
        hostnames: Vec<String>,
        destination: MigrationDestination,
    },
    /// A tenant wants leased addresses to lead to another of its leases.
    MigrateEndpoints {
        request: RequestId,
        endpoints: Vec<String>,
        destination: MigrationDestination,
    },
    Tick,
}

/// The group that names shall lead to, as a tenant writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MigrationDestination {
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
