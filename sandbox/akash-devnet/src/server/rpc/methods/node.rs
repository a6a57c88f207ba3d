//! Methods about the node itself.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::super::args::Args;
use super::super::json::{
    AbciInfo, AbciQuery, ConsensusParamsJson, NetInfo, NodeInfoJson, Status, SyncInfo,
    ValidatorInfo, Validators,
};
use super::{Outcome, answer};
use crate::node::App;
use crate::server::context::{APP_VERSION, Context};
use crate::server::services;
use crate::server::services::Refusal;

#[derive(Serialize)]
struct Genesis<'a> {
    genesis: &'a RawValue,
}

pub(super) fn status<A: App>(context: &Context<A>) -> Outcome {
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

pub(super) fn net_info<A: App>(context: &Context<A>) -> Outcome {
    answer(&NetInfo::of(&context.facts))
}

pub(super) fn genesis<A: App>(context: &Context<A>) -> Outcome {
    answer(&Genesis { genesis: &context.genesis })
}

/// The document in one piece: it is never so large that a node would cut it.
pub(super) fn genesis_chunked<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let chunk = args.int(0).unwrap_or_default();
    if chunk != 0 {
        return Err(format!("there are 0-0 chunks, {chunk} is invalid"));
    }
    let data = BASE64_STANDARD.encode(context.genesis.get());
    answer(&json!({ "chunk": "0", "total": "1", "data": data }))
}

pub(super) fn validators<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let height = view.history.height_or_next(args.int(0)).map_err(|why| why.to_string())?;
    super::skipped(args.int(1), super::per_page(args.int(2)), 1)?;
    answer(&Validators::of(&view.chain.validator, height))
}

pub(super) fn consensus_params<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let height = view.history.height_or_next(args.int(0)).map_err(|why| why.to_string())?;
    answer(&ConsensusParamsJson::of(&view.chain.block, height))
}

/// Where consensus stands: always before the first vote for the next block.
pub(super) fn consensus_state<A: App>(context: &Context<A>) -> Outcome {
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

pub(super) fn abci_info<A: App>(context: &Context<A>) -> Outcome {
    answer(&AbciInfo::of(context.view().history.latest_block().map(AsRef::as_ref)))
}

pub(super) async fn abci_query<A: App>(context: &Context<A>, args: &Args) -> Outcome {
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
