//! Deployments, their groups and parameters.

use akash_proto::akash::deployment::v1beta4 as wire;
use akash_types::{
    Address, Deployment, DeploymentId, DeploymentParams, DeploymentState, EscrowAccount, Group,
    GroupId,
};

use super::ask::{part, part_or_none, whole};
use super::market::text;
use super::{Answer, List, Malformed, Query, QueryError, Transport, method};

/// Which deployments to list; what is absent does not filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeploymentFilter {
    /// Of this tenant.
    pub owner: Option<Address>,
    /// With this number.
    pub dseq: Option<u64>,
    /// In this state.
    pub state: Option<DeploymentState>,
}

/// A deployment with its groups and the account that pays for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentInfo {
    /// The deployment.
    pub deployment: Deployment,
    /// Its groups.
    pub groups: Vec<Group>,
    /// What pays for its leases.
    pub account: Option<EscrowAccount>,
}

impl<T: Transport> Query<T> {
    /// One deployment.
    pub async fn deployment(
        &self,
        id: DeploymentId,
    ) -> Result<Answer<Option<DeploymentInfo>>, QueryError> {
        let request = wire::QueryDeploymentRequest { id: Some(id.into()) };
        self.find(|| format!("deployment {id}"), method::DEPLOYMENT, &request, info).await
    }

    /// Deployments that match `filter`.
    pub async fn deployments(
        &self,
        filter: DeploymentFilter,
    ) -> Result<Answer<List<DeploymentInfo>>, QueryError> {
        let filters = wire::DeploymentFilters {
            owner: text(filter.owner),
            dseq: filter.dseq.unwrap_or_default(),
            state: filter.state.map(DeploymentState::as_str).unwrap_or_default().to_owned(),
        };
        let request = |page| wire::QueryDeploymentsRequest {
            filters: Some(filters.clone()),
            pagination: Some(page),
        };
        let listing = (
            |answer: wire::QueryDeploymentsResponse| (answer.deployments, answer.pagination),
            |item: &wire::QueryDeploymentResponse| {
                let deployment = item.deployment.clone().unwrap_or_default();
                let id = deployment.id.unwrap_or_default();
                format!("deployment {}/{}", id.owner, id.dseq)
            },
            info,
        );
        let asked = || format!("deployments by {filter:?}");
        self.list(asked, method::DEPLOYMENTS, request, listing).await
    }

    /// One group.
    pub async fn group(&self, id: GroupId) -> Result<Answer<Option<Group>>, QueryError> {
        let asked = || format!("group {}/{}", id.deployment_id(), id.gseq());
        let request = wire::QueryGroupRequest { id: Some(id.into()) };
        let convert = |answer: wire::QueryGroupResponse| part("group", answer.group);
        self.find(asked, method::GROUP, &request, convert).await
    }

    /// Parameters of deployments.
    pub async fn deployment_params(&self) -> Result<Answer<DeploymentParams>, QueryError> {
        let asked = || "deployment parameters".to_owned();
        let request = wire::QueryParamsRequest {};
        let convert = |answer: wire::QueryParamsResponse| part("params", answer.params);
        self.get(asked, method::DEPLOYMENT_PARAMS, &request, convert).await
    }
}

fn info(answer: wire::QueryDeploymentResponse) -> Result<DeploymentInfo, Malformed> {
    Ok(DeploymentInfo {
        deployment: part("deployment", answer.deployment)?,
        groups: answer
            .groups
            .into_iter()
            .map(|group| whole("group", group))
            .collect::<Result<_, _>>()?,
        account: part_or_none("escrow account", answer.escrow_account)?,
    })
}
