//! Deployments and their groups, as the chain holds them.

use std::time::Duration;

use crate::{DeploymentId, DeploymentState, GroupId, GroupSpec, GroupState};

/// A deployment: what a tenant wants to run, by the hash of its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// Which one.
    pub id: DeploymentId,
    /// Its state.
    pub state: DeploymentState,
    /// Hash of the manifest that providers must be given.
    pub hash: [u8; 32],
    /// Height at which it was created.
    pub created_at: u64,
    /// How long a provider must wait before it takes a lease back; absent if leases need not be
    /// reclaimable.
    pub reclamation_min_window: Option<Duration>,
}

/// A group of a deployment, as the chain holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Which one.
    pub id: GroupId,
    /// Its state.
    pub state: GroupState,
    /// What it asks for.
    pub spec: GroupSpec,
    /// Height at which it was created.
    pub created_at: u64,
}
