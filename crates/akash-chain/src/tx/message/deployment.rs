//! Messages of tenants: deployments and their groups.

use std::time::Duration;

use akash_proto::akash::deployment::v1::DeploymentReclamation;
use akash_proto::akash::deployment::v1beta4 as wire;
use akash_types::{DeploymentId, Deposit, GroupId, GroupSpec, validate_groups};

use super::market::span;
use super::{Message, MessageError};

/// What a tenant wants to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateDeployment {
    /// Which deployment.
    pub id: DeploymentId,
    /// What is ordered; one order each.
    pub groups: Vec<GroupSpec>,
    /// Hash of the manifest.
    pub hash: [u8; 32],
    /// What it is paid from.
    pub deposit: Deposit,
    /// How long a provider must wait before it takes a lease back; absent if leases need not be
    /// reclaimable.
    pub reclamation_min_window: Option<Duration>,
}

/// Orders something. Sent by the tenant.
pub fn create_deployment(create: CreateDeployment) -> Result<Message, MessageError> {
    let violations = validate_groups(&create.groups);
    if !violations.is_empty() {
        return Err(MessageError::Groups { violations });
    }
    let min_window = create.reclamation_min_window.map(span).transpose()?;
    let message = wire::MsgCreateDeployment {
        id: Some(create.id.into()),
        groups: create.groups.into_iter().map(Into::into).collect(),
        hash: create.hash.to_vec(),
        deposit: Some(create.deposit.into()),
        reclamation: min_window.map(|window| DeploymentReclamation { min_window: Some(window) }),
    };
    Ok(Message::new(create.id.owner(), &message))
}

/// Announces another manifest. Sent by the tenant.
pub fn update_deployment(id: DeploymentId, hash: [u8; 32]) -> Message {
    let message = wire::MsgUpdateDeployment { id: Some(id.into()), hash: hash.to_vec() };
    Message::new(id.owner(), &message)
}

/// Ends a deployment with all its leases. Sent by the tenant.
pub fn close_deployment(id: DeploymentId) -> Message {
    Message::new(id.owner(), &wire::MsgCloseDeployment { id: Some(id.into()) })
}

/// Ends a group with its lease. Sent by the tenant.
pub fn close_group(id: GroupId) -> Message {
    Message::new(id.owner(), &wire::MsgCloseGroup { id: Some(id.into()) })
}

/// Ends the lease of a group, which may be started again. Sent by the tenant.
pub fn pause_group(id: GroupId) -> Message {
    Message::new(id.owner(), &wire::MsgPauseGroup { id: Some(id.into()) })
}

/// Orders a paused group again. Sent by the tenant.
pub fn start_group(id: GroupId) -> Message {
    Message::new(id.owner(), &wire::MsgStartGroup { id: Some(id.into()) })
}
