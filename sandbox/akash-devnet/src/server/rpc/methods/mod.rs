//! The methods of JSON-RPC.

mod blocks;
mod txs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::args::{Args, Kind, Spec as ArgSpec};
use super::json::{
    AbciInfo, AbciQuery, ConsensusParamsJson, NetInfo, NodeInfoJson, Status, SyncInfo,
    ValidatorInfo, Validators,
};
use super::wire::{Request, RpcError};
use crate::node::App;
use crate::server::context::{APP_VERSION, Context};
use crate::server::services;
use crate::server::services::Refusal;

#[derive(Debug)]
pub(super) struct Spec {
    pub(super) name: &'static str,
    pub(super) args: &'static [ArgSpec],
    pub(super) subscribes: bool,
}

const fn method(name: &'static str, args: &'static [ArgSpec]) -> Spec {
    Spec { name, args, subscribes: false }
}

const fn subscription(name: &'static str, args: &'static [ArgSpec]) -> Spec {
    Spec { name, args, subscribes: true }
}

const HEIGHT: &[ArgSpec] = &[("height", Kind::Int)];
const TX: &[ArgSpec] = &[("tx", Kind::Bytes)];
const QUERY: &[ArgSpec] = &[("query", Kind::Text)];

pub(super) const METHODS: &[Spec] = &[
    subscription("subscribe", QUERY),
    subscription("unsubscribe", QUERY),
    subscription("unsubscribe_all", &[]),
    method("akash", &[]),
    method("health", &[]),
    method("status", &[]),
    method("net_info", &[]),
    method("genesis", &[]),
    method("genesis_chunked", &[("chunk", Kind::Int)]),
    method("blockchain", &[("minHeight", Kind::Int), ("maxHeight", Kind::Int)]),
    method("block", HEIGHT),
    method("block_by_hash", &[("hash", Kind::Bytes)]),
    method("block_results", HEIGHT),
    method(
        "block_search",
        &[
            ("query", Kind::Text),
            ("page", Kind::Int),
            ("per_page", Kind::Int),
            ("order_by", Kind::Text),
        ],
    ),
    method("commit", HEIGHT),
    method("header", HEIGHT),
    method("header_by_hash", &[("hash", Kind::Hex)]),
    method("validators", &[("height", Kind::Int), ("page", Kind::Int), ("per_page", Kind::Int)]),
    method("consensus_params", HEIGHT),
    method("consensus_state", &[]),
    method("dump_consensus_state", &[]),
    method("tx", &[("hash", Kind::Bytes), ("prove", Kind::Flag)]),
    method(
        "tx_search",
        &[
            ("query", Kind::Text),
            ("prove", Kind::Flag),
            ("page", Kind::Int),
            ("per_page", Kind::Int),
            ("order_by", Kind::Text),
        ],
    ),
    method("unconfirmed_txs", &[("limit", Kind::Int)]),
    method("num_unconfirmed_txs", &[]),
    method("check_tx", TX),
    method("broadcast_tx_commit", TX),
    method("broadcast_tx_sync", TX),
    method("broadcast_tx_async", TX),
    method("broadcast_evidence", &[("evidence", Kind::Text)]),
    method(
        "abci_query",
        &[("path", Kind::Text), ("data", Kind::Hex), ("height", Kind::Int), ("prove", Kind::Flag)],
    ),
    method("abci_info", &[]),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calling {
    Http,
    WebSocket,
}

/// Where a real node panics, and what it says then.
#[derive(Debug)]
pub(crate) struct Panics(pub(crate) &'static str);

pub(super) type Answer = Result<Box<RawValue>, RpcError>;

pub(crate) async fn call_json<A: App>(
    context: &Context<A>,
    request: &Request,
    calling: Calling,
) -> Result<Answer, Panics> {
    let found = METHODS.iter().find(|method| method.name == request.method);
    let Some(method) = found.filter(|method| !method.subscribes) else {
        return Ok(Err(RpcError::method_not_found()));
    };
    let args = match &request.params {
        None if method.args.is_empty() => Args::none(),
        None => return Err(Panics("reflect: Call with too few input arguments")),
        Some(params) => match Args::from_json(method.args, params) {
            Ok(args) => args,
            Err(why) => {
                let why = format!("error converting json params to arguments: {why}");
                return Ok(Err(match calling {
                    Calling::Http => RpcError::invalid_params(why),
                    Calling::WebSocket => RpcError::internal(why),
                }));
            }
        },
    };
    Ok(call(context, method, args).await)
}

pub(super) async fn call<A: App>(context: &Context<A>, method: &Spec, args: Args) -> Answer {
    if let Some(text) = context.faults.failure(method.name) {
        return Err(RpcError::internal(text));
    }
    let outcome = match method.name {
        "akash" => answer(&super::super::services::json(&context.view().chain.chain_id)),
        "health" => answer(&serde_json::Map::new()),
        "status" => status(context),
        "net_info" => net_info(context),
        "genesis" => genesis(context),
        "genesis_chunked" => genesis_chunked(context, &args),
        "validators" => validators(context, &args),
        "consensus_params" => consensus_params(context, &args),
        "consensus_state" | "dump_consensus_state" => consensus_state(context),
        "blockchain" => blocks::blockchain(context, &args),
        "block" => blocks::block(context, &args),
        "block_by_hash" => blocks::block_by_hash(context, &args),
        "block_results" => blocks::block_results(context, &args),
        "block_search" => blocks::block_search(context, &args),
        "commit" => blocks::commit(context, &args),
        "header" => blocks::header(context, &args),
        "header_by_hash" => blocks::header_by_hash(context, &args),
        "tx" => txs::tx(context, &args),
        "tx_search" => txs::tx_search(context, &args),
        "unconfirmed_txs" => txs::unconfirmed_txs(context, &args).await,
        "num_unconfirmed_txs" => txs::num_unconfirmed_txs(context),
        "check_tx" => txs::check_tx(context, &args).await,
        "broadcast_tx_sync" => txs::broadcast_tx_sync(context, &args).await,
        "broadcast_tx_async" => txs::broadcast_tx_async(context, &args).await,
        "broadcast_tx_commit" => txs::broadcast_tx_commit(context, &args).await,
        "broadcast_evidence" => Err("no evidence was provided".to_owned()),
        "abci_query" => abci_query(context, &args).await,
        "abci_info" => abci_info(context),
        _ => return Err(RpcError::method_not_found()),
    };
    outcome.map_err(RpcError::internal)
}

/// What a method makes of its answer; an error is the text of an internal error.
type Outcome = Result<Box<RawValue>, String>;

fn answer(value: &(impl Serialize + ?Sized)) -> Outcome {
    serde_json::value::to_raw_value(value)
        .map_err(|error| format!("error marshaling response: {error}"))
}

/// How many of a list are on a page, within limits.
fn per_page(asked: Option<i64>) -> usize {
    match asked {
        Some(asked) if asked >= 1 => usize::try_from(asked).unwrap_or(100).min(100),
        _ => 30,
    }
}

/// How many of a list come before a page.
fn skipped(page: Option<i64>, per_page: usize, total: usize) -> Result<usize, String> {
    let Some(page) = page else { return Ok(0) };
    let pages = total.div_ceil(per_page).max(1);
    match usize::try_from(page) {
        Ok(asked) if asked >= 1 && asked <= pages => Ok((asked - 1) * per_page),
        _ => Err(format!("page should be within [1, {pages}] range, given {page}")),
    }
}

/// Puts a list into the order asked for; the default differs between methods.
fn order<T>(list: &mut [T], order_by: &str, default_descending: bool) -> Result<(), String> {
    let descending = match order_by {
        "asc" => false,
        "desc" => true,
        "" => default_descending,
        _ => return Err("expected order_by to be either `asc` or `desc` or empty".to_owned()),
    };
    if descending {
        list.reverse();
    }
    Ok(())
}

#[derive(Serialize)]
struct Genesis<'a> {
    genesis: &'a RawValue,
}

fn status<A: App>(context: &Context<A>) -> Outcome {
    let view = context.view();
    let history = &view.history;
    let earliest = history.block(history.base());
    let catching_up = context.faults.get(|plan| plan.catching_up);
    answer(&Status {
        node_info: NodeInfoJson::of(&context.facts, &view.chain.chain_id),
        sync_info: SyncInfo::of(
            earliest.map(AsRef::as_ref),
            history.latest_block().map(AsRef::as_ref),
            catching_up,
        ),
        validator_info: ValidatorInfo::of(&view.chain.validator),
    })
}

fn net_info<A: App>(context: &Context<A>) -> Outcome {
    answer(&NetInfo::of(&context.facts))
}

fn genesis<A: App>(context: &Context<A>) -> Outcome {
    answer(&Genesis { genesis: &context.genesis })
}

/// The document in one piece: it is never so large that a node would cut it.
fn genesis_chunked<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let chunk = args.int(0).unwrap_or_default();
    if chunk != 0 {
        return Err(format!("there are 0-0 chunks, {chunk} is invalid"));
    }
    let data = BASE64_STANDARD.encode(context.genesis.get());
    answer(&json!({ "chunk": "0", "total": "1", "data": data }))
}

fn validators<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let height = view.history.height_or_next(args.int(0)).map_err(|why| why.to_string())?;
    skipped(args.int(1), per_page(args.int(2)), 1)?;
    answer(&Validators::of(&view.chain.validator, height))
}

fn consensus_params<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let height = view.history.height_or_next(args.int(0)).map_err(|why| why.to_string())?;
    answer(&ConsensusParamsJson::of(&view.chain.block, height))
}

/// Where consensus stands: always before the first vote for the next block.
fn consensus_state<A: App>(context: &Context<A>) -> Outcome {
    let view = context.view();
    let proposer = hex::encode_upper(view.chain.validator.address());
    let next = view.history.latest().saturating_add(1);
    answer(&json!({
        "round_state": {
            "height/round/step": format!("{next}/0/1"),
            "start_time": view.history.latest_block()
                .map(|block| crate::node::rfc3339(block.header.time_unix_nanos)),
            "proposal_block_hash": "",
            "locked_block_hash": "",
            "valid_block_hash": "",
            "height_vote_set": [],
            "proposer": { "address": proposer, "index": 0 },
        },
        "peers": [],
    }))
}

fn abci_info<A: App>(context: &Context<A>) -> Outcome {
    answer(&AbciInfo::of(context.view().history.latest_block().map(AsRef::as_ref)))
}

async fn abci_query<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let (path, data) = (args.text(0), args.bytes(1));
    let height = args.int(2).unwrap_or_default();
    if let Some(text) = context.faults.failure(path) {
        return Err(text);
    }
    match path {
        "" => return refused(Refusal::unknown_request("no query path provided")),
        "/app/version" | "app/version" => {
            let latest = context.view().history.latest();
            return answer(&AbciQuery::answer(APP_VERSION.into(), latest));
        }
        _ => {}
    }
    match services::query(context, path, data, height).await {
        Ok(found) => answer(&AbciQuery::answer(found.value, found.height)),
        Err(refusal) => refused(refusal),
    }
}

fn refused(refusal: Refusal) -> Outcome {
    answer(&AbciQuery::refusal(refusal.abci_code, refusal.abci_log, refusal.height))
}
