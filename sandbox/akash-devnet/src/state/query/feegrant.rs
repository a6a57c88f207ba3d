//! Allowances.

use akash_proto::cosmos::feegrant::v1beta1 as wire;
use akash_types::Address;

use super::{Answer, QueryError, answer, page};
use crate::state::error::GrpcCode;
use crate::state::feegrant::Allowance;
use crate::state::keys::Edge;
use crate::state::{State, address};

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    Some(match method {
        "Allowance" => answer(data, |request| allowance(state, request)),
        "Allowances" => answer(data, |request| of_grantee(state, request)),
        "AllowancesByGranter" => answer(data, |request| of_granter(state, request)),
        _ => return None,
    })
}

fn party(text: &str) -> Answer<Address> {
    address::account(text).map_err(QueryError::plain)
}

fn allowance(
    state: &State,
    request: wire::QueryAllowanceRequest,
) -> Answer<wire::QueryAllowanceResponse> {
    let (granter, grantee) = (party(&request.granter)?, party(&request.grantee)?);
    let missing = || QueryError::status(GrpcCode::Internal, "fee-grant not found: not found");
    let found = state.tables.allowances.get(&(grantee, Edge::Is(granter))).ok_or_else(missing)?;
    Ok(wire::QueryAllowanceResponse { allowance: Some(to_wire(granter, grantee, found)) })
}

fn of_grantee(
    state: &State,
    request: wire::QueryAllowancesRequest,
) -> Answer<wire::QueryAllowancesResponse> {
    let grantee = party(&request.grantee)?;
    let found = state.tables.allowances.between((grantee, Edge::First), (grantee, Edge::Last));
    let items = found.filter_map(|((_, granter), allowance)| {
        let granter = *granter.get()?;
        Some((granter.as_bytes().to_vec(), to_wire(granter, grantee, allowance)))
    });
    let (allowances, pagination) = page::plain(items, request.pagination)?;
    Ok(wire::QueryAllowancesResponse { allowances, pagination: Some(pagination) })
}

fn of_granter(
    state: &State,
    request: wire::QueryAllowancesByGranterRequest,
) -> Answer<wire::QueryAllowancesByGranterResponse> {
    let granter = party(&request.granter)?;
    let range = ((granter, Edge::First), (granter, Edge::Last));
    let found = state.tables.allowances_by_granter.between(range.0, range.1);
    let items = found.filter_map(|((_, grantee), ())| {
        let grantee = *grantee.get()?;
        let allowance = state.tables.allowances.get(&(grantee, Edge::Is(granter)))?;
        Some((grantee.as_bytes().to_vec(), to_wire(granter, grantee, allowance)))
    });
    let (allowances, pagination) = page::plain(items, request.pagination)?;
    Ok(wire::QueryAllowancesByGranterResponse { allowances, pagination: Some(pagination) })
}

fn to_wire(granter: Address, grantee: Address, allowance: &Allowance) -> wire::Grant {
    wire::Grant {
        granter: granter.to_string(),
        grantee: grantee.to_string(),
        allowance: Some(allowance.to_any()),
    }
}
