//! Grants.

use std::sync::Arc;

use akash_proto::cosmos::authz::v1beta1 as wire;
use akash_types::Address;

use super::{Answer, QueryError, answer, page};
use crate::state::authz::{Grant, GrantKey, key};
use crate::state::error::GrpcCode;
use crate::state::keys::Edge;
use crate::state::{State, address};

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    Some(match method {
        "Grants" => answer(data, |request| grants(state, request)),
        "GranterGrants" => answer(data, |request| of_granter(state, request)),
        "GranteeGrants" => answer(data, |request| of_grantee(state, request)),
        _ => return None,
    })
}

fn party(text: &str) -> Answer<Address> {
    address::account(text).map_err(QueryError::plain)
}

fn grants(state: &State, request: wire::QueryGrantsRequest) -> Answer<wire::QueryGrantsResponse> {
    let (granter, grantee) = (party(&request.granter)?, party(&request.grantee)?);
    let to_wire = |grant: &Grant| wire::Grant {
        authorization: Some(grant.authorization.to_any()),
        expiration: grant.expiration,
    };
    if !request.msg_type_url.is_empty() {
        let type_url = &request.msg_type_url;
        let missing = || {
            let text = format!("authorization not found for {type_url} type");
            QueryError::status(GrpcCode::NotFound, text)
        };
        let grant = state.tables.grants.get(&key(granter, grantee, type_url));
        let grants = vec![to_wire(grant.ok_or_else(missing)?)];
        return Ok(wire::QueryGrantsResponse { grants, pagination: None });
    }
    let range =
        ((granter, Edge::Is(grantee), Edge::First), (granter, Edge::Is(grantee), Edge::Last));
    let found = state.tables.grants.between(range.0, range.1);
    let items = found.map(|(key, grant)| (store_key(key), to_wire(grant)));
    let (grants, pagination) = page::plain(items, request.pagination)?;
    Ok(wire::QueryGrantsResponse { grants, pagination: Some(pagination) })
}

fn of_granter(
    state: &State,
    request: wire::QueryGranterGrantsRequest,
) -> Answer<wire::QueryGranterGrantsResponse> {
    let granter = party(&request.granter)?;
    let range = ((granter, Edge::First, Edge::First), (granter, Edge::Last, Edge::Last));
    let found = state.tables.grants.between(range.0, range.1);
    let items = found
        .filter_map(|(key, grant)| Some((store_key(key), whole(granter, *key.1.get()?, grant))));
    let (grants, pagination) = page::plain(items, request.pagination)?;
    Ok(wire::QueryGranterGrantsResponse { grants, pagination: Some(pagination) })
}

fn of_grantee(
    state: &State,
    request: wire::QueryGranteeGrantsRequest,
) -> Answer<wire::QueryGranteeGrantsResponse> {
    let grantee = party(&request.grantee)?;
    let range = ((grantee, Edge::First, Edge::First), (grantee, Edge::Last, Edge::Last));
    let found = state.tables.grants_by_grantee.between(range.0, range.1);
    let items = found.filter_map(|((_, type_url, granter), ())| {
        let granter = *granter.get()?;
        let key: GrantKey = (granter, Edge::Is(grantee), type_url.clone());
        let by_grantee = [type_url.get()?.as_bytes(), granter.as_bytes()].concat();
        Some((by_grantee, whole(granter, grantee, state.tables.grants.get(&key)?)))
    });
    let (grants, pagination) = page::plain(items, request.pagination)?;
    Ok(wire::QueryGranteeGrantsResponse { grants, pagination: Some(pagination) })
}

fn whole(granter: Address, grantee: Address, grant: &Grant) -> wire::GrantAuthorization {
    wire::GrantAuthorization {
        granter: granter.to_string(),
        grantee: grantee.to_string(),
        authorization: Some(grant.authorization.to_any()),
        expiration: grant.expiration,
    }
}

fn store_key((_, grantee, type_url): &GrantKey) -> Vec<u8> {
    let grantee = grantee.get().map(|grantee| grantee.as_bytes().to_vec()).unwrap_or_default();
    let type_url: Option<&Arc<str>> = type_url.get();
    [grantee, type_url.map(|text| text.as_bytes().to_vec()).unwrap_or_default()].concat()
}
