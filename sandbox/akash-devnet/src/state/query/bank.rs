//! Balances and supply.

use akash_proto::cosmos::bank::v1beta1 as wire;
use akash_proto::cosmos::base::query::v1beta1::{PageRequest, PageResponse};
use akash_proto::cosmos::base::v1beta1::Coin as WireCoin;
use akash_types::{Address, Denom};

use super::{Answer, QueryError, answer, page};
use crate::state::coins::Coins;
use crate::state::{State, address};

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    Some(match method {
        "Balance" => answer(data, |request: wire::QueryBalanceRequest| {
            let balance = Some(balance(state, &request.address, &request.denom)?);
            Ok(wire::QueryBalanceResponse { balance })
        }),
        "AllBalances" => answer(data, |request: wire::QueryAllBalancesRequest| {
            let (balances, page) = balances(state, &request.address, request.pagination)?;
            Ok(wire::QueryAllBalancesResponse { balances, pagination: Some(page) })
        }),
        // Nothing is locked here, so all that is held can be spent.
        "SpendableBalances" => answer(data, |request: wire::QuerySpendableBalancesRequest| {
            let (balances, page) = balances(state, &request.address, request.pagination)?;
            Ok(wire::QuerySpendableBalancesResponse { balances, pagination: Some(page) })
        }),
        "SpendableBalanceByDenom" => {
            answer(data, |request: wire::QuerySpendableBalanceByDenomRequest| {
                let balance = Some(balance(state, &request.address, &request.denom)?);
                Ok(wire::QuerySpendableBalanceByDenomResponse { balance })
            })
        }
        "TotalSupply" => answer(data, |request: wire::QueryTotalSupplyRequest| {
            let (supply, page) = listed(&state.tables.supply, request.pagination)?;
            Ok(wire::QueryTotalSupplyResponse { supply, pagination: Some(page) })
        }),
        "SupplyOf" => answer(data, |request: wire::QuerySupplyOfRequest| {
            let amount = Some(amount(&state.tables.supply, &request.denom)?);
            Ok(wire::QuerySupplyOfResponse { amount })
        }),
        "Params" => answer(data, |_: wire::QueryParamsRequest| {
            let params = wire::Params { default_send_enabled: true, ..wire::Params::default() };
            Ok(wire::QueryParamsResponse { params: Some(params) })
        }),
        _ => return None,
    })
}

fn holder(text: &str) -> Answer<Address> {
    address::account(text).map_err(|why| QueryError::invalid(format!("invalid address: {why}")))
}

fn balance(state: &State, holder_text: &str, denom: &str) -> Answer<WireCoin> {
    let holder = holder(holder_text)?;
    let nothing = Coins::default();
    amount(state.tables.balances.get(&holder).unwrap_or(&nothing), denom)
}

fn amount(coins: &Coins, denom: &str) -> Answer<WireCoin> {
    Denom::try_from(denom).map_err(|_| QueryError::invalid(format!("invalid denom: {denom}")))?;
    let amount = coins.amount_of(denom).to_string();
    Ok(WireCoin { denom: denom.to_owned(), amount })
}

fn balances(
    state: &State,
    holder_text: &str,
    request: Option<PageRequest>,
) -> Answer<(Vec<WireCoin>, PageResponse)> {
    let holder = holder(holder_text)?;
    let nothing = Coins::default();
    listed(state.tables.balances.get(&holder).unwrap_or(&nothing), request)
}

fn listed(coins: &Coins, request: Option<PageRequest>) -> Answer<(Vec<WireCoin>, PageResponse)> {
    let coins = coins.to_wire();
    let items = coins.into_iter().map(|coin| (coin.denom.clone().into_bytes(), coin));
    page::plain(items, request)
}
