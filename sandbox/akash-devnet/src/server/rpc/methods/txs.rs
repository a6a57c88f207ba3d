//! Methods about transactions.

use bytes::Bytes;
use tokio::time::timeout;

use crate::node::{App, Hash, Query, QueryParseError};
use crate::server::context::Context;
use crate::server::task::Command;
use crate::state::TxResult;

use super::super::args::Args;
use super::super::json::{
    Base64, BroadcastCommit, BroadcastTx, FoundTx, FoundTxs, Hex, Text, TxResultJson, Unconfirmed,
};
use super::{Outcome, answer, order, per_page, skipped};

const MAX_QUERY: usize = 512;

pub(super) fn tx<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let asked = args.bytes(0);
    if asked.is_empty() {
        return Err("transaction hash cannot be empty".to_owned());
    }
    let view = context.view();
    let hash = Hash::try_from(asked).ok();
    let found = hash.and_then(|hash| view.history.tx(&hash));
    let found = found.and_then(|(place, block)| FoundTx::of(block, place.index, args.flag(1)));
    match found {
        Some(found) => answer(&found),
        None => Err(format!("tx ({}) not found", hex::encode_upper(asked))),
    }
}

pub(super) fn tx_search<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let (query, prove) = (args.text(0), args.flag(1));
    if query.len() > MAX_QUERY {
        return Err("maximum query length exceeded".to_owned());
    }
    let query: Query = query.parse().map_err(|why: QueryParseError| why.to_string())?;
    let view = context.view();
    let mut places = view.history.search(&query);
    order(&mut places, args.text(4), false)?;
    let per_page = per_page(args.int(3));
    let skip = skipped(args.int(2), per_page, places.len())?;
    let page = places.iter().skip(skip).take(per_page);
    let found =
        page.filter_map(|place| FoundTx::of(view.history.block(place.height)?, place.index, prove));
    answer(&FoundTxs { txs: found.collect(), total_count: Text(places.len()) })
}

pub(super) async fn unconfirmed_txs<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let limit = per_page(args.int(0));
    let txs = context.ask(|reply| Command::Unconfirmed { limit, reply }).await;
    let txs = txs.ok_or("the node is stopping")?;
    let view = context.view();
    answer(&Unconfirmed {
        n_txs: Text(txs.len()),
        total: Text(view.pending),
        total_bytes: Text(view.pending_bytes),
        txs: Some(txs.into_iter().map(Base64).collect()),
    })
}

pub(super) fn num_unconfirmed_txs<A: App>(context: &Context<A>) -> Outcome {
    let view = context.view();
    let (count, bytes) = (view.pending, view.pending_bytes);
    answer(&Unconfirmed {
        n_txs: Text(count),
        total: Text(count),
        total_bytes: Text(bytes),
        txs: None,
    })
}

pub(super) async fn check_tx<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let tx = Bytes::copy_from_slice(args.bytes(0));
    let checked = context.ask(|reply| Command::Check { tx, reply }).await;
    let checked = checked.ok_or("the node is stopping")?;
    answer(&TxResultJson::of(&checked.result))
}

pub(super) async fn broadcast_tx_sync<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let tx = Bytes::copy_from_slice(args.bytes(0));
    let checked = context.broadcast(tx).await.map_err(|why| why.to_string())?;
    answer(&BroadcastTx::of(&checked))
}

/// Answers without the result of CheckTx; it runs all the same.
pub(super) async fn broadcast_tx_async<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let tx = Bytes::copy_from_slice(args.bytes(0));
    let mut checked = context.broadcast(tx).await.map_err(|why| why.to_string())?;
    checked.result = TxResult::default();
    answer(&BroadcastTx::of(&checked))
}

pub(super) async fn broadcast_tx_commit<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let tx = Bytes::copy_from_slice(args.bytes(0));
    let checked = context.broadcast(tx).await;
    let checked = checked.map_err(|why| format!("error on broadcastTxCommit: {why}"))?;
    let (check_tx, hash) = (TxResultJson::of(&checked.result), Hex(checked.hash));
    if !checked.result.is_ok() {
        let nothing = TxResult::default();
        let tx_result = TxResultJson::of(&nothing);
        return answer(&BroadcastCommit { check_tx, tx_result, hash, height: Text(0) });
    }
    let included = timeout(context.commit_timeout, context.included(&checked.hash)).await;
    let (block, index) =
        included.ok().flatten().ok_or("timed out waiting for tx to be included in a block")?;
    let (_, _, result) = block.tx(index).ok_or("the block has lost the transaction")?;
    let (tx_result, height) = (TxResultJson::of(result), Text(block.height()));
    answer(&BroadcastCommit { check_tx, tx_result, hash, height })
}
