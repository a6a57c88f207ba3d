//! Deployments and groups as held by the chain.

use std::time::Duration;

use akash_proto::akash::deployment::{v1, v1beta4, v1beta4 as wire};

use super::error::{At, ConvertError, ConvertProblem, defaulted, list, messages, required};
use super::params::{count, span, wire_count, wire_span};
use crate::deployment::{Deployment, Group};
use crate::{DeploymentState, GroupSpec, GroupState, ResourceUnit};

/// The window of a reclamation that is asked for; a present message without one asks for 0.
pub(super) fn min_window(
    reclamation: Option<v1::DeploymentReclamation>,
) -> Result<Option<Duration>, ConvertError> {
    let Some(reclamation) = reclamation else { return Ok(None) };
    let window = span("min_window", reclamation.min_window).at("reclamation")?;
    Ok(Some(window.unwrap_or_default()))
}

pub(super) fn wire_min_window(window: Option<Duration>) -> Option<v1::DeploymentReclamation> {
    window.map(|window| v1::DeploymentReclamation { min_window: Some(wire_span(window)) })
}

impl TryFrom<v1::Deployment> for Deployment {
    type Error = ConvertError;

    fn try_from(deployment: v1::Deployment) -> Result<Self, Self::Error> {
        let got = deployment.hash.len();
        let hash = deployment.hash.try_into().map_err(|_| ConvertProblem::HashLength { got });
        Ok(Self {
            id: required("id", deployment.id)?,
            state: DeploymentState::from_code(deployment.state).at("state")?,
            hash: hash.at("hash")?,
            created_at: count("created_at", deployment.created_at)?,
            reclamation_min_window: min_window(deployment.reclamation)?,
        })
    }
}

impl From<Deployment> for v1::Deployment {
    fn from(deployment: Deployment) -> Self {
        Self {
            id: Some(deployment.id.into()),
            state: deployment.state.code(),
            hash: deployment.hash.to_vec(),
            created_at: wire_count(deployment.created_at),
            reclamation: wire_min_window(deployment.reclamation_min_window),
        }
    }
}

impl TryFrom<v1beta4::Group> for Group {
    type Error = ConvertError;

    fn try_from(group: v1beta4::Group) -> Result<Self, Self::Error> {
        Ok(Self {
            id: required("id", group.id)?,
            state: GroupState::from_code(group.state).at("state")?,
            spec: defaulted("group_spec", group.group_spec)?,
            created_at: count("created_at", group.created_at)?,
        })
    }
}

impl From<Group> for v1beta4::Group {
    fn from(group: Group) -> Self {
        Self {
            id: Some(group.id.into()),
            state: group.state.code(),
            group_spec: Some(group.spec.into()),
            created_at: wire_count(group.created_at),
        }
    }
}

impl TryFrom<wire::ResourceUnit> for ResourceUnit {
    type Error = ConvertError;

    fn try_from(unit: wire::ResourceUnit) -> Result<Self, Self::Error> {
        Ok(Self {
            resources: defaulted("resource", unit.resource)?,
            count: unit.count,
            price: defaulted("price", unit.price)?,
        })
    }
}

impl From<ResourceUnit> for wire::ResourceUnit {
    fn from(unit: ResourceUnit) -> Self {
        Self {
            resource: Some(unit.resources.into()),
            count: unit.count,
            price: Some(unit.price.into()),
        }
    }
}

impl TryFrom<wire::GroupSpec> for GroupSpec {
    type Error = ConvertError;

    fn try_from(spec: wire::GroupSpec) -> Result<Self, Self::Error> {
        Ok(Self {
            name: spec.name,
            requirements: spec.requirements.unwrap_or_default().into(),
            resources: list("resources", spec.resources)?,
        })
    }
}

impl From<GroupSpec> for wire::GroupSpec {
    fn from(spec: GroupSpec) -> Self {
        Self {
            name: spec.name,
            requirements: Some(spec.requirements.into()),
            resources: messages(spec.resources),
        }
    }
}
