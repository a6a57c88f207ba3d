//! Accounts.

use akash_proto::cosmos::auth::v1beta1 as wire;
use akash_proto::cosmos::crypto::secp256k1::PubKey;
use akash_types::Address;
use prost_types::Any;

use super::{Answer, QueryError, answer, page};
use crate::state::auth::{Account, MODULES};
use crate::state::error::GrpcCode;
use crate::state::{State, address, gas};

pub(super) fn query(state: &State, method: &str, data: &[u8]) -> Option<Answer<Vec<u8>>> {
    Some(match method {
        "Account" => answer(data, |request| account(state, request)),
        "AccountInfo" => answer(data, |request| account_info(state, request)),
        "AccountAddressByID" => answer(data, |request| address_by_id(state, request)),
        "Accounts" => answer(data, |request| accounts(state, request)),
        "ModuleAccounts" => answer(data, |request| module_accounts(state, request)),
        "ModuleAccountByName" => answer(data, |request| module_account(state, request)),
        "Params" => answer(data, |request| params(state, request)),
        "Bech32Prefix" => answer(data, |_: wire::Bech32PrefixRequest| {
            Ok(wire::Bech32PrefixResponse { bech32_prefix: Address::HRP.to_owned() })
        }),
        "AddressBytesToString" => answer(data, to_text),
        "AddressStringToBytes" => answer(data, to_bytes),
        _ => return None,
    })
}

/// The account of a request; a text that is none has no status of its own.
fn known<'s>(state: &'s State, text: &str, empty: &str) -> Answer<(Address, &'s Account)> {
    if text.is_empty() {
        return Err(QueryError::invalid(empty));
    }
    let address = address::account(text).map_err(QueryError::plain)?;
    let missing = || QueryError::status(GrpcCode::NotFound, format!("account {address} not found"));
    state.tables.accounts.get(&address).map(|account| (address, account)).ok_or_else(missing)
}

fn account(
    state: &State,
    request: wire::QueryAccountRequest,
) -> Answer<wire::QueryAccountResponse> {
    let (address, account) = known(state, &request.address, "Address cannot be empty")?;
    Ok(wire::QueryAccountResponse { account: Some(to_any(address, account)) })
}

fn account_info(
    state: &State,
    request: wire::QueryAccountInfoRequest,
) -> Answer<wire::QueryAccountInfoResponse> {
    let (address, account) = known(state, &request.address, "address cannot be empty")?;
    Ok(wire::QueryAccountInfoResponse { info: Some(base(address, account)) })
}

fn address_by_id(
    state: &State,
    request: wire::QueryAccountAddressByIdRequest,
) -> Answer<wire::QueryAccountAddressByIdResponse> {
    let id = request.account_id;
    let missing = || {
        let text = format!("account address not found with account number {id}");
        QueryError::status(GrpcCode::NotFound, text)
    };
    let address = state.tables.accounts_by_number.get(&id).ok_or_else(missing)?;
    Ok(wire::QueryAccountAddressByIdResponse { account_address: address.to_string() })
}

fn accounts(
    state: &State,
    request: wire::QueryAccountsRequest,
) -> Answer<wire::QueryAccountsResponse> {
    let known = state.tables.accounts.iter();
    let items = known.map(|(address, account)| (address.as_bytes().to_vec(), (address, account)));
    let (found, pagination) = page::plain(items, request.pagination)?;
    let accounts = found.into_iter().map(|(address, account)| to_any(*address, account)).collect();
    Ok(wire::QueryAccountsResponse { accounts, pagination: Some(pagination) })
}

fn module_accounts(
    state: &State,
    _: wire::QueryModuleAccountsRequest,
) -> Answer<wire::QueryModuleAccountsResponse> {
    let accounts = MODULES.iter().filter_map(|module| module_any(state, module.name)).collect();
    Ok(wire::QueryModuleAccountsResponse { accounts })
}

fn module_account(
    state: &State,
    request: wire::QueryModuleAccountByNameRequest,
) -> Answer<wire::QueryModuleAccountByNameResponse> {
    let name = request.name;
    let missing = || QueryError::status(GrpcCode::NotFound, format!("account {name} not found"));
    let account = module_any(state, &name).ok_or_else(missing)?;
    Ok(wire::QueryModuleAccountByNameResponse { account: Some(account) })
}

fn module_any(state: &State, name: &str) -> Option<Any> {
    let address = address::module(name)?;
    let account = state.tables.accounts.get(&address)?;
    account.module.map(|_| to_any(address, account))
}

fn params(state: &State, _: wire::QueryParamsRequest) -> Answer<wire::QueryParamsResponse> {
    let params = state.params();
    Ok(wire::QueryParamsResponse {
        params: Some(wire::Params {
            max_memo_characters: params.max_memo_characters,
            tx_sig_limit: params.tx_sig_limit,
            tx_size_cost_per_byte: gas::BYTE,
            sig_verify_cost_ed25519: 590,
            sig_verify_cost_secp256k1: gas::SIGNATURE,
        }),
    })
}

fn to_text(
    request: wire::AddressBytesToStringRequest,
) -> Answer<wire::AddressBytesToStringResponse> {
    let address = Address::from_bytes(&request.address_bytes)
        .map_err(|_| QueryError::invalid("empty address bytes is not allowed"))?;
    Ok(wire::AddressBytesToStringResponse { address_string: address.to_string() })
}

fn to_bytes(
    request: wire::AddressStringToBytesRequest,
) -> Answer<wire::AddressStringToBytesResponse> {
    let address = address::account(&request.address_string).map_err(QueryError::plain)?;
    Ok(wire::AddressStringToBytesResponse { address_bytes: address.as_bytes().to_vec() })
}

fn base(address: Address, account: &Account) -> wire::BaseAccount {
    let key = account.public_key.map(|key| akash_proto::to_any(&PubKey { key: key.to_vec() }));
    wire::BaseAccount {
        address: address.to_string(),
        pub_key: key,
        account_number: account.number,
        sequence: account.sequence,
    }
}

fn to_any(address: Address, account: &Account) -> Any {
    let base = base(address, account);
    match account.module {
        None => akash_proto::to_any(&base),
        Some(module) => akash_proto::to_any(&wire::ModuleAccount {
            base_account: Some(base),
            name: module.name.to_owned(),
            permissions: module.permissions.iter().map(|name| (*name).to_owned()).collect(),
        }),
    }
}
