//! Deployments and their groups: what tenants want to run.

mod close;
mod create;
mod group;
mod spec;

pub(crate) use close::{CloseDeployment, UpdateDeployment};
pub(crate) use create::CreateDeployment;
pub(crate) use group::{CloseGroup, PauseGroup, StartGroup};
pub(crate) use spec::Spec;

use std::time::Duration;

use akash_proto::akash::deployment::{v1, v1beta4};
use akash_types::{DeploymentId, DeploymentState, GroupId, GroupState};

use super::error::{GrpcCode, ModuleError};
use super::keys::{DeploymentKey, GroupKey};
use super::tables::Tables;

const SPACE: &str = "deployment";

const fn invalid(code: u32, text: &'static str) -> ModuleError {
    ModuleError::new(SPACE, code, GrpcCode::InvalidArgument, text)
}

const fn state_error(code: u32, text: &'static str) -> ModuleError {
    ModuleError::new(SPACE, code, GrpcCode::FailedPrecondition, text)
}

const EXISTS: ModuleError =
    ModuleError::new(SPACE, 3, GrpcCode::AlreadyExists, "Deployment exists");
pub(crate) const NOT_FOUND: ModuleError =
    ModuleError::new(SPACE, 4, GrpcCode::NotFound, "Deployment not found");
const CLOSED: ModuleError = state_error(5, "Deployment closed");
const INVALID_GROUPS: ModuleError = invalid(7, "Invalid groups");
const EMPTY_HASH: ModuleError = invalid(9, "Invalid: empty hash");
const INVALID_HASH: ModuleError = invalid(10, "Invalid: deployment hash");
pub(crate) const GROUP_NOT_FOUND: ModuleError =
    ModuleError::new(SPACE, 14, GrpcCode::NotFound, "Group not found");
const GROUP_CLOSED: ModuleError = state_error(15, "Group already closed");
const GROUP_OPEN: ModuleError = state_error(16, "Group open");
const GROUP_PAUSED: ModuleError = state_error(17, "Group paused");
const GROUP_SPEC_INVALID: ModuleError = invalid(19, "GroupSpec invalid");
const INVALID_DEPOSIT: ModuleError = invalid(20, "Deposit invalid");
pub(crate) const INVALID_ESCROW_ID: ModuleError = invalid(23, "invalid escrow id");
const INVALID_PRICE: ModuleError = invalid(24, "invalid price");
const INVALID_RECLAMATION: ModuleError = invalid(26, "invalid reclamation configuration");

/// A deployment as the chain keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Deployment {
    pub(crate) id: DeploymentId,
    pub(crate) state: DeploymentState,
    pub(crate) hash: [u8; 32],
    pub(crate) created_at: u64,
    /// The shortest notice of a provider that takes a lease back.
    pub(crate) reclamation: Option<Duration>,
}

/// A group as the chain keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) id: GroupId,
    pub(crate) state: GroupState,
    pub(crate) spec: Spec,
    pub(crate) created_at: u64,
}

impl Deployment {
    pub(crate) fn to_wire(&self) -> v1::Deployment {
        v1::Deployment {
            id: Some(self.id.into()),
            state: self.state.code(),
            hash: self.hash.to_vec(),
            created_at: wire_height(self.created_at),
            reclamation: wire_reclamation(self.reclamation),
        }
    }
}

impl Group {
    pub(crate) fn to_wire(&self) -> v1beta4::Group {
        v1beta4::Group {
            id: Some(self.id.into()),
            state: self.state.code(),
            group_spec: Some(self.spec.to_wire()),
            created_at: wire_height(self.created_at),
        }
    }
}

pub(crate) fn wire_height(height: u64) -> i64 {
    i64::try_from(height).unwrap_or(i64::MAX)
}

pub(crate) fn wire_duration(span: Duration) -> prost_types::Duration {
    prost_types::Duration {
        seconds: i64::try_from(span.as_secs()).unwrap_or(i64::MAX),
        nanos: i32::try_from(span.subsec_nanos()).unwrap_or_default(),
    }
}

/// A span of time of a message; `None` for one that is negative or malformed.
pub(crate) fn duration(span: prost_types::Duration) -> Option<Duration> {
    let (seconds, nanos) = (u64::try_from(span.seconds).ok()?, u32::try_from(span.nanos).ok()?);
    (nanos < 1_000_000_000).then(|| Duration::new(seconds, nanos))
}

pub(crate) fn wire_reclamation(window: Option<Duration>) -> Option<v1::DeploymentReclamation> {
    window.map(|window| v1::DeploymentReclamation { min_window: Some(wire_duration(window)) })
}

impl Tables {
    fn put_deployment(&mut self, deployment: Deployment) {
        let key = DeploymentKey::from(deployment.id);
        if let Some(before) = self.deployments.get(&key) {
            let before = before.state;
            self.deployments_by_state.remove(&(before, key));
        }
        self.deployments_by_state.insert((deployment.state, key), ());
        self.deployments.insert(key, deployment);
    }

    pub(crate) fn groups_of(&self, id: DeploymentId) -> Vec<Group> {
        let (first, last) = GroupKey::of_deployment(id.into());
        self.groups.between(first, last).map(|(_, group)| group.clone()).collect()
    }
}
