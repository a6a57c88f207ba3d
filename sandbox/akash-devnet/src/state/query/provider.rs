//! Providers.

use akash_proto::akash::provider::v1beta4 as wire;

use super::{Answer, account, answer, page};
use crate::state::State;
use crate::state::provider::NOT_FOUND;

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    Some(match method {
        "Providers" => answer(data, |request| providers(state, request)),
        "Provider" => answer(data, |request| provider(state, request)),
        _ => return None,
    })
}

fn providers(
    state: &State,
    request: wire::QueryProvidersRequest,
) -> Answer<wire::QueryProvidersResponse> {
    let known = state.tables.providers.iter();
    let items = known.map(|(owner, provider)| (owner.as_bytes().to_vec(), provider));
    let (found, pagination) = page::plain(items, request.pagination)?;
    let providers = found.into_iter().map(|provider| (**provider).clone()).collect();
    Ok(wire::QueryProvidersResponse { providers, pagination: Some(pagination) })
}

fn provider(
    state: &State,
    request: wire::QueryProviderRequest,
) -> Answer<wire::QueryProviderResponse> {
    let owner = account(&request.owner, "invalid address")?;
    let provider = state.tables.providers.get(&owner).ok_or(NOT_FOUND)?;
    Ok(wire::QueryProviderResponse { provider: Some((**provider).clone()) })
}
