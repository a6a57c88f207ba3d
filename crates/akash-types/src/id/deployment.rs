//! Ids of deployments and their groups.

use std::str::FromStr;

use super::{IdError, account, number, sequence, split};
use crate::Address;

/// A deployment: a tenant's account and a number the tenant chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{}/{}", self.owner, self.dseq)]
pub struct DeploymentId {
    owner: Address,
    dseq: u64,
}

impl DeploymentId {
    const FORM: &'static str = "owner/dseq";

    /// Deployment `dseq` of `owner`.
    pub const fn new(owner: Address, dseq: u64) -> Result<Self, IdError> {
        match dseq {
            0 => Err(IdError::Zero { part: "dseq" }),
            _ => Ok(Self { owner, dseq }),
        }
    }

    /// The tenant.
    pub const fn owner(&self) -> Address {
        self.owner
    }

    /// The tenant's number for it; the CLI takes the block height.
    pub const fn dseq(&self) -> u64 {
        self.dseq
    }
}

impl FromStr for DeploymentId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let [owner, dseq] = split("deployment id", Self::FORM, text)?;
        Self::new(account("owner", owner)?, number("dseq", dseq, u64::MAX)?)
    }
}

/// A group of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, derive_more::Display)]
#[display("{}/{}", self.deployment, self.gseq)]
pub struct GroupId {
    deployment: DeploymentId,
    gseq: u32,
}

impl GroupId {
    const FORM: &'static str = "owner/dseq/gseq";

    /// Group `gseq` of `deployment`; groups are numbered from 1.
    pub const fn new(deployment: DeploymentId, gseq: u32) -> Result<Self, IdError> {
        match gseq {
            0 => Err(IdError::Zero { part: "gseq" }),
            _ => Ok(Self { deployment, gseq }),
        }
    }

    /// The deployment it belongs to.
    pub const fn deployment_id(&self) -> DeploymentId {
        self.deployment
    }

    /// The tenant.
    pub const fn owner(&self) -> Address {
        self.deployment.owner
    }

    /// Number of the deployment.
    pub const fn dseq(&self) -> u64 {
        self.deployment.dseq
    }

    /// Number of the group in the deployment.
    pub const fn gseq(&self) -> u32 {
        self.gseq
    }
}

impl FromStr for GroupId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let [owner, dseq, gseq] = split("group id", Self::FORM, text)?;
        let deployment =
            DeploymentId::new(account("owner", owner)?, number("dseq", dseq, u64::MAX)?)?;
        Self::new(deployment, sequence("gseq", gseq)?)
    }
}
