//! Deployments and groups.

use akash_proto::akash::deployment::v1beta4 as wire;
use akash_types::{DeploymentId, DeploymentState, EscrowAccountId, GroupId};

use super::list::{Items, Listed, Paths, Request, list};
use super::market::{decode_account, encode_account, filter};
use super::{Answer, account, answer};
use crate::state::State;
use crate::state::deployment::{Deployment, GROUP_NOT_FOUND, Group, NOT_FOUND};
use crate::state::escrow::ACCOUNT_NOT_FOUND;
use crate::state::keys::{ByText, DeploymentKey, GroupKey};
use crate::state::tables::Tables;

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    Some(match method {
        "Deployments" => answer(data, |request| deployments(state, request)),
        "Deployment" => answer(data, |request| deployment(state, request)),
        "Group" => answer(data, |request| group(state, request)),
        "Params" => answer(data, |request| params(state, request)),
        _ => return None,
    })
}

fn deployments(
    state: &State,
    request: wire::QueryDeploymentsRequest,
) -> Answer<wire::QueryDeploymentsResponse> {
    let filters = request.filters.unwrap_or_default();
    let owner = filter(&filters.owner);
    let narrowed =
        |owner| (filters.dseq > 0).then_some(DeploymentKey { owner, dseq: filters.dseq });
    let asked = Request {
        state: &filters.state,
        owner,
        provider: None,
        range: owner.flatten().and_then(narrowed).map(|key| (key, key)),
        page: request.pagination,
    };
    let (found, page) = list::<Deployment>(&state.tables, asked, |deployment| {
        owner.is_none_or(|owner| owner == Some(deployment.id.owner().into()))
            && (filters.dseq == 0 || filters.dseq == deployment.id.dseq())
    })?;
    let deployments =
        found.into_iter().map(|deployment| whole(state, deployment)).collect::<Answer<_>>()?;
    Ok(wire::QueryDeploymentsResponse { deployments, pagination: Some(page) })
}

fn deployment(
    state: &State,
    request: wire::QueryDeploymentRequest,
) -> Answer<wire::QueryDeploymentResponse> {
    let id = request.id.unwrap_or_default();
    account(&id.owner, "invalid owner address")?;
    let key = DeploymentId::try_from(id).ok().map(DeploymentKey::from);
    let deployment = key.and_then(|key| state.tables.deployments.get(&key)).ok_or(NOT_FOUND)?;
    whole(state, deployment)
}

fn whole(state: &State, deployment: &Deployment) -> Answer<wire::QueryDeploymentResponse> {
    let account = state.tables.escrow_account(EscrowAccountId::Deployment(deployment.id));
    Ok(wire::QueryDeploymentResponse {
        deployment: Some(deployment.to_wire()),
        groups: state.tables.groups_of(deployment.id).iter().map(Group::to_wire).collect(),
        escrow_account: Some(account.ok_or(ACCOUNT_NOT_FOUND)?.clone().into()),
    })
}

fn group(state: &State, request: wire::QueryGroupRequest) -> Answer<wire::QueryGroupResponse> {
    let id = request.id.unwrap_or_default();
    account(&id.owner, "invalid owner address")?;
    let key = GroupId::try_from(id).ok().map(GroupKey::from);
    let group = key.and_then(|key| state.tables.groups.get(&key)).ok_or(GROUP_NOT_FOUND)?;
    Ok(wire::QueryGroupResponse { group: Some(group.to_wire()) })
}

fn params(state: &State, _: wire::QueryParamsRequest) -> Answer<wire::QueryParamsResponse> {
    Ok(wire::QueryParamsResponse { params: Some(state.params().deployment.clone().into()) })
}

impl Listed for Deployment {
    type Key = DeploymentKey;
    type State = DeploymentState;

    const STATES: &'static [DeploymentState] = DeploymentState::ALL;
    const PATHS: Paths = Paths::OwnerOnly;

    fn state(&self) -> DeploymentState {
        self.state
    }

    fn key(&self) -> DeploymentKey {
        self.id.into()
    }

    fn state_code(state: DeploymentState) -> u8 {
        u8::try_from(state.code()).unwrap_or_default()
    }

    fn parse_state(text: &str) -> Option<DeploymentState> {
        text.parse().ok()
    }

    fn encode(key: &DeploymentKey) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_account(&key.owner, &mut bytes);
        bytes.extend(key.dseq.to_be_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<DeploymentKey> {
        let (owner, rest) = decode_account(bytes)?;
        Some(DeploymentKey { owner, dseq: u64::from_be_bytes(rest.try_into().ok()?) })
    }

    fn owner(key: &DeploymentKey) -> ByText {
        key.owner
    }

    fn provider(_: &DeploymentKey) -> ByText {
        ByText::First
    }

    fn range(owner: Option<ByText>) -> (DeploymentKey, DeploymentKey) {
        let (first, last) = owner.map_or((ByText::First, ByText::Last), |owner| (owner, owner));
        (DeploymentKey { owner: first, dseq: 0 }, DeploymentKey { owner: last, dseq: u64::MAX })
    }

    fn by_key<'t>(
        tables: &'t Tables,
        first: DeploymentKey,
        last: DeploymentKey,
    ) -> Items<'t, Self> {
        Box::new(tables.deployments.between(first, last).map(|(_, deployment)| deployment))
    }

    fn by_state<'t>(
        tables: &'t Tables,
        state: DeploymentState,
        first: DeploymentKey,
        last: DeploymentKey,
    ) -> Items<'t, Self> {
        let keys = tables.deployments_by_state.between((state, first), (state, last));
        Box::new(keys.filter_map(|((_, key), ())| tables.deployments.get(key)))
    }

    fn by_provider<'t>(
        _: &'t Tables,
        _: ByText,
        _: Option<DeploymentState>,
        _: DeploymentKey,
        _: DeploymentKey,
    ) -> Items<'t, Self> {
        Box::new(std::iter::empty())
    }
}
