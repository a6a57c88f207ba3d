//! Group specs.

use akash_proto::akash::deployment::v1beta4 as wire;

use super::error::{ConvertError, defaulted, list, messages};
use crate::{GroupSpec, ResourceUnit};

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
