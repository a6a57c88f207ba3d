//! Escrow accounts and payments, by state and by the beginning of their key's text.

use std::sync::Arc;

use akash_proto::akash::escrow::v1 as wire;
use akash_proto::cosmos::base::query::v1beta1::{PageRequest, PageResponse};
use akash_types::EscrowState;

use super::page::{Cursor, Page};
use super::{Answer, QueryError, answer};
use crate::state::State;
use crate::state::tables::Table;

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    Some(match method {
        "Accounts" => answer(data, |request| accounts(state, request)),
        "Payments" => answer(data, |request| payments(state, request)),
        _ => return None,
    })
}

fn accounts(
    state: &State,
    request: wire::QueryAccountsRequest,
) -> Answer<wire::QueryAccountsResponse> {
    let tables = &state.tables;
    let index = &tables.escrow_accounts_by_state;
    let (keys, page) = keys(index, &request.state, &request.xid, request.pagination)?;
    let found = keys.iter().filter_map(|key| tables.escrow_accounts.get(key));
    let accounts = found.map(|account| account.clone().into()).collect();
    Ok(wire::QueryAccountsResponse { accounts, pagination: Some(page) })
}

fn payments(
    state: &State,
    request: wire::QueryPaymentsRequest,
) -> Answer<wire::QueryPaymentsResponse> {
    let tables = &state.tables;
    let index = &tables.escrow_payments_by_state;
    let (keys, page) = keys(index, &request.state, &request.xid, request.pagination)?;
    let found = keys.iter().filter_map(|key| tables.escrow_payments.get(key));
    let payments = found.map(|payment| payment.clone().into()).collect();
    Ok(wire::QueryPaymentsResponse { payments, pagination: Some(page) })
}

/// One page of keys, state by state. The chain knows neither offset nor reverse here.
fn keys(
    index: &Table<(EscrowState, Arc<str>), ()>,
    state: &str,
    prefix: &str,
    page: Option<PageRequest>,
) -> Answer<(Vec<Arc<str>>, PageResponse)> {
    let page = Page::from(page);
    let mut start = None;
    let states: Vec<EscrowState> = if !page.key.is_empty() {
        let cursor = Cursor::decode(&page.key)?;
        let key = String::from_utf8(cursor.key)
            .map_err(|_| QueryError::invalid("invalid pagination key"))?;
        start = Some(key);
        let state = |code: &u8| EscrowState::from_code(i32::from(*code)).ok();
        cursor.states.iter().filter_map(state).collect()
    } else if state.is_empty() {
        EscrowState::ALL.to_vec()
    } else {
        vec![state.parse().map_err(|_| QueryError::invalid("invalid state value"))?]
    };
    let mut keys = Vec::new();
    let mut next_key = Vec::new();
    let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
    'states: for (position, state) in states.iter().enumerate() {
        let first = start.take().unwrap_or_else(|| prefix.to_owned());
        let last = format!("{prefix}\u{10ffff}");
        let found = index.between((*state, Arc::from(first)), (*state, Arc::from(last)));
        for ((_, key), ()) in found.filter(|((_, key), ())| key.starts_with(prefix)) {
            if keys.len() == limit {
                let code = |state: &EscrowState| u8::try_from(state.code()).unwrap_or_default();
                let states = states.iter().skip(position).map(code).collect();
                next_key = Cursor { states, key: key.as_bytes().to_vec(), path: None }.encode();
                break 'states;
            }
            keys.push(Arc::clone(key));
        }
    }
    let total = u64::try_from(keys.len()).unwrap_or(u64::MAX);
    Ok((keys, PageResponse { next_key, total }))
}
