//! `cosmos.tx.v1beta1.Service`: sending, trying and finding transactions.

use akash_proto::cosmos::base::abci::v1beta1::{GasInfo, Result as SimulatedResult, TxResponse};
use akash_proto::cosmos::base::query::v1beta1::PageResponse;
use akash_proto::cosmos::tx::v1beta1 as wire;
use akash_proto::cosmos::tx::v1beta1::Tx;
use akash_proto::tendermint::abci;
use bytes::Bytes;
use prost::Message;
use prost_types::Any;

use super::{Refusal, decode, status, tendermint};
use crate::node::{
    App, Block, BroadcastError, Checked, Hash, Query, QueryParseError, TxPlace, rfc3339_seconds,
    sha256, signed,
};
use crate::server::context::{Context, SendError, View};
use crate::state::{Event, GrpcCode, QueryError, TxResult};

/// Transactions on a page where nothing else is asked for.
const PAGE: u64 = 100;

pub(super) async fn answer<A: App>(
    context: &Context<A>,
    view: &View<A>,
    method: &str,
    data: &[u8],
) -> Result<Vec<u8>, Refusal> {
    Ok(match method {
        "Simulate" => simulate(view, decode(data)?)?.encode_to_vec(),
        "GetTx" => get_tx(view, &decode(data)?)?.encode_to_vec(),
        "BroadcastTx" => broadcast(context, decode(data)?).await?.encode_to_vec(),
        "GetTxsEvent" => search(view, &decode(data)?)?.encode_to_vec(),
        "GetBlockWithTxs" => block_with_txs(view, &decode(data)?)?.encode_to_vec(),
        "TxDecode" => tx_decode(decode(data)?)?.encode_to_vec(),
        "TxEncode" => tx_encode(decode(data)?)?.encode_to_vec(),
        method => return Err(QueryError::unknown_path(&format!("{}{method}", super::TX)).into()),
    })
}

/// Tries a transaction on top of what waits in the mempool.
#[allow(deprecated)]
fn simulate<A: App>(
    view: &View<A>,
    request: wire::SimulateRequest,
) -> Result<wire::SimulateResponse, Refusal> {
    let bytes = match request.tx {
        Some(tx) if request.tx_bytes.is_empty() => tx.encode_to_vec(),
        _ => request.tx_bytes,
    };
    if bytes.is_empty() {
        let text = "empty txBytes is not allowed";
        return Err(status(GrpcCode::InvalidArgument, text));
    }
    let simulated = view.check.simulate(&bytes);
    let simulated = simulated.map_err(|why| status(GrpcCode::Unknown, why.to_string()))?;
    let result = SimulatedResult {
        data: simulated.data,
        log: String::new(),
        events: simulated.events.iter().map(event).collect(),
        msg_responses: simulated.responses,
    };
    let gas_info = GasInfo { gas_wanted: u64::MAX, gas_used: simulated.gas_used };
    Ok(wire::SimulateResponse { gas_info: Some(gas_info), result: Some(result) })
}

fn get_tx<A: App>(
    view: &View<A>,
    request: &wire::GetTxRequest,
) -> Result<wire::GetTxResponse, Refusal> {
    if request.hash.is_empty() {
        return Err(status(GrpcCode::InvalidArgument, "tx hash cannot be empty"));
    }
    let bytes = hex::decode(&request.hash)
        .map_err(|why| Refusal::from(QueryError::plain(format!("encoding/hex: {why}"))))?;
    let hash = Hash::try_from(bytes).ok();
    let found = hash.and_then(|hash| view.history.tx(&hash));
    let found = found.and_then(|(place, block)| included(block, place.index));
    let not_found = || status(GrpcCode::NotFound, format!("tx not found: {}", request.hash));
    let (tx, response) = found.ok_or_else(not_found)?;
    Ok(wire::GetTxResponse { tx, tx_response: Some(response) })
}

/// Mempool errors become answers with the SDK's codes for them.
async fn broadcast<A: App>(
    context: &Context<A>,
    request: wire::BroadcastTxRequest,
) -> Result<wire::BroadcastTxResponse, Refusal> {
    if request.tx_bytes.is_empty() {
        return Err(status(GrpcCode::InvalidArgument, "invalid empty tx"));
    }
    let mode = request.mode();
    let plain = |text: String| Refusal::from(QueryError::plain(text));
    if !matches!(mode, wire::BroadcastMode::Sync | wire::BroadcastMode::Async) {
        let text = "unsupported return type unspecified; supported types: sync, async";
        return Err(plain(text.to_owned()));
    }
    let hash = sha256(&request.tx_bytes);
    let response = match context.broadcast(Bytes::from(request.tx_bytes)).await {
        Ok(mut checked) => {
            if mode == wire::BroadcastMode::Async {
                checked.result = TxResult::default();
            }
            checked_response(&checked)
        }
        Err(SendError::Refused(BroadcastError::InCache)) => refused(hash, 19),
        Err(SendError::Refused(BroadcastError::Full { .. })) => refused(hash, 20),
        Err(SendError::Refused(BroadcastError::TooLarge { .. })) => refused(hash, 21),
        Err(error) => return Err(plain(error.to_string())),
    };
    Ok(wire::BroadcastTxResponse { tx_response: Some(response) })
}

#[allow(deprecated)]
fn search<A: App>(
    view: &View<A>,
    request: &wire::GetTxsEventRequest,
) -> Result<wire::GetTxsEventResponse, Refusal> {
    let text = match (request.query.as_str(), request.events.as_slice()) {
        ("", []) => {
            return Err(status(GrpcCode::InvalidArgument, "query cannot be empty"));
        }
        ("", events) => events.join(" AND "),
        (query, _) => query.to_owned(),
    };
    let plain = |text: String| Refusal::from(QueryError::plain(text));
    let query: Query = text
        .parse()
        .map_err(|why: QueryParseError| plain(format!("failed to search for txs: {why}")))?;
    let mut places = view.history.search(&query);
    if request.order_by() == wire::OrderBy::Desc {
        places.reverse();
    }
    let total = u64::try_from(places.len()).unwrap_or(u64::MAX);
    let limit = if request.limit == 0 { PAGE } else { request.limit.min(PAGE) };
    let skip = request.page.max(1).saturating_sub(1).saturating_mul(limit);
    let page = places
        .iter()
        .skip(usize::try_from(skip).unwrap_or(usize::MAX))
        .take(usize::try_from(limit).unwrap_or(usize::MAX));
    let (txs, tx_responses) = page.filter_map(|place| found(view, *place)).unzip();
    Ok(wire::GetTxsEventResponse { txs, tx_responses, pagination: None, total })
}

fn found<A: App>(
    view: &View<A>,
    place: TxPlace,
) -> Option<(wire::Tx, akash_proto::cosmos::base::abci::v1beta1::TxResponse)> {
    let (tx, response) = included(view.history.block(place.height)?, place.index)?;
    Some((tx?, response))
}

fn block_with_txs<A: App>(
    view: &View<A>,
    request: &wire::GetBlockWithTxsRequest,
) -> Result<wire::GetBlockWithTxsResponse, Refusal> {
    let latest = view.history.latest();
    if request.height < 1 || u64::try_from(request.height).is_ok_and(|height| height > latest) {
        let text = format!(
            "requested height {} but height must not be less than 1 or greater than the current height {latest}",
            request.height
        );
        return Err(Refusal::invalid_height(&text));
    }
    let block = tendermint::block_at(view, request.height)?;
    let txs = block.txs.iter().filter_map(|tx| wire::Tx::decode(tx.as_ref()).ok());
    let total = u64::try_from(block.txs.len()).unwrap_or(u64::MAX);
    let (block_id, comet, _) = tendermint::block_parts(block);
    Ok(wire::GetBlockWithTxsResponse {
        txs: txs.collect(),
        block_id,
        block: comet,
        pagination: Some(PageResponse { next_key: Vec::new(), total }),
    })
}

fn tx_decode(request: wire::TxDecodeRequest) -> Result<wire::TxDecodeResponse, Refusal> {
    if request.tx_bytes.is_empty() {
        return Err(status(GrpcCode::InvalidArgument, "invalid empty tx bytes"));
    }
    let tx = wire::Tx::decode(request.tx_bytes.as_slice());
    let tx = tx.map_err(|why| Refusal::from(QueryError::plain(why.to_string())))?;
    Ok(wire::TxDecodeResponse { tx: Some(tx) })
}

fn tx_encode(request: wire::TxEncodeRequest) -> Result<wire::TxEncodeResponse, Refusal> {
    let Some(tx) = request.tx else {
        return Err(status(GrpcCode::InvalidArgument, "invalid empty tx"));
    };
    Ok(wire::TxEncodeResponse { tx_bytes: tx.encode_to_vec() })
}

/// Of a transaction that was just sent.
fn checked_response(checked: &Checked) -> TxResponse {
    let result = &checked.result;
    TxResponse {
        txhash: hex::encode_upper(checked.hash),
        codespace: result.codespace.clone(),
        code: result.code,
        data: hex::encode_upper(&result.data),
        raw_log: result.log.clone(),
        ..TxResponse::default()
    }
}

/// Of a transaction that the mempool would not look at.
pub(super) fn refused(hash: Hash, code: u32) -> TxResponse {
    TxResponse {
        txhash: hex::encode_upper(hash),
        codespace: "sdk".to_owned(),
        code,
        ..TxResponse::default()
    }
}

/// Of a transaction in a block: itself and what became of it.
pub(super) fn included(block: &Block, index: usize) -> Option<(Option<Tx>, TxResponse)> {
    let (tx, hash, result) = block.tx(index)?;
    let response = TxResponse {
        height: signed(block.height()),
        txhash: hex::encode_upper(hash),
        codespace: result.codespace.clone(),
        code: result.code,
        data: hex::encode_upper(&result.data),
        raw_log: result.log.clone(),
        logs: Vec::new(),
        info: String::new(),
        gas_wanted: result.gas_wanted,
        gas_used: result.gas_used,
        tx: Some(Any { type_url: "/cosmos.tx.v1beta1.Tx".to_owned(), value: tx.to_vec() }),
        timestamp: rfc3339_seconds(block.header.time_unix_nanos),
        events: result.events.iter().map(event).collect(),
    };
    // The bytes of a signed transaction read as the message with its parts.
    Some((Tx::decode(tx.as_ref()).ok(), response))
}

pub(super) fn event(event: &Event) -> abci::Event {
    let attributes = event.attributes.iter().map(|(key, value, index)| abci::EventAttribute {
        key: key.clone(),
        value: value.clone(),
        index: *index,
    });
    abci::Event { r#type: event.kind.clone(), attributes: attributes.collect() }
}
