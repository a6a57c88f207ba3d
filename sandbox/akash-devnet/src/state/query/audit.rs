//! Attributes that auditors vouch for.

use akash_proto::akash::audit::v1 as wire;
use akash_proto::cosmos::base::query::v1beta1::{PageRequest, PageResponse};
use akash_types::Address;

use super::{Answer, account, answer, page};
use crate::state::State;
use crate::state::audit::{Audit, NOT_FOUND};
use crate::state::keys::Edge;

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    Some(match method {
        "AllProvidersAttributes" => answer(data, |request| all(state, request)),
        "ProviderAttributes" => answer(data, |request| of_provider(state, request)),
        "ProviderAuditorAttributes" => answer(data, |request| of_both(state, request)),
        "AuditorAttributes" => answer(data, |request| of_auditor(state, request)),
        _ => return None,
    })
}

fn all(
    state: &State,
    request: wire::QueryAllProvidersAttributesRequest,
) -> Answer<wire::QueryProvidersResponse> {
    let items = state.tables.audits.iter().filter_map(|((owner, auditor), attributes)| {
        Some(audited(*owner, *auditor.get()?, attributes))
    });
    listed(items, request.pagination)
}

fn of_provider(
    state: &State,
    request: wire::QueryProviderAttributesRequest,
) -> Answer<wire::QueryProvidersResponse> {
    let owner = account(&request.owner, "invalid address")?;
    let known: Vec<_> = state.tables.audits_between(owner).collect();
    if known.is_empty() {
        return Err(NOT_FOUND.into());
    }
    let items = known.into_iter().map(|(auditor, attributes)| audited(owner, auditor, attributes));
    listed(items, request.pagination)
}

fn of_auditor(
    state: &State,
    request: wire::QueryAuditorAttributesRequest,
) -> Answer<wire::QueryProvidersResponse> {
    let auditor = account(&request.auditor, "invalid address")?;
    let range = ((auditor, Edge::First), (auditor, Edge::Last));
    let owners = state.tables.audits_by_auditor.between(range.0, range.1);
    let items = owners.filter_map(|((_, owner), ())| {
        let owner = *owner.get()?;
        let attributes = state.tables.audits.get(&(owner, Edge::Is(auditor)))?;
        Some(audited(owner, auditor, attributes))
    });
    listed(items, request.pagination)
}

fn of_both(
    state: &State,
    request: wire::QueryProviderAuditorRequest,
) -> Answer<wire::QueryProvidersResponse> {
    let auditor = account(&request.auditor, "invalid address")?;
    let owner = account(&request.owner, "invalid address")?;
    let attributes = state.tables.audits.get(&(owner, Edge::Is(auditor))).ok_or(NOT_FOUND)?;
    let (_, provider) = audited(owner, auditor, attributes);
    Ok(wire::QueryProvidersResponse { providers: vec![provider], pagination: None })
}

fn audited(owner: Address, auditor: Address, audit: &Audit) -> (Vec<u8>, wire::AuditedProvider) {
    let key = [owner.as_bytes(), auditor.as_bytes()].concat();
    let attributes = audit.iter().cloned().map(Into::into).collect();
    let (owner, auditor) = (owner.to_string(), auditor.to_string());
    (key, wire::AuditedProvider { owner, auditor, attributes })
}

fn listed(
    items: impl DoubleEndedIterator<Item = (Vec<u8>, wire::AuditedProvider)>,
    request: Option<PageRequest>,
) -> Answer<wire::QueryProvidersResponse> {
    let (providers, pagination): (_, PageResponse) = page::plain(items, request)?;
    Ok(wire::QueryProvidersResponse { providers, pagination: Some(pagination) })
}
