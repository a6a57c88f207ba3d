//! CometBFT's JSON-RPC over HTTP.

mod args;
#[cfg(fuzzing)]
mod fuzzing;
mod http;
mod json;
mod methods;
mod wire;

#[cfg(fuzzing)]
pub(super) use fuzzing::read_rpc;
pub(super) use http::serve_on;
pub(super) use json::{
    Base64, BlockIdJson, BlockJson, EventJson, HeaderJson, ParamUpdates, SparseResult, Text,
    TxResultJson,
};
pub(super) use methods::{Calling, call_json};
pub(super) use wire::{Id, NO_ID, Request, Response, RpcError, read_request};
