//! Methods about blocks.

use serde::Serialize;

use crate::node::{App, Hash};
use crate::server::context::Context;

use super::super::args::Args;
use super::super::json::{BlockMeta, BlockResult, BlockResults, HeaderJson, SignedHeader, Text};
use super::{Outcome, answer, order, per_page, skipped};

/// Most headers that `blockchain` answers with.
const MOST_HEADERS: i64 = 20;

#[derive(Serialize)]
struct HeaderAnswer<'a> {
    header: Option<HeaderJson<'a>>,
}

#[derive(Serialize)]
struct Blockchain<'a> {
    last_height: Text<u64>,
    block_metas: Vec<BlockMeta<'a>>,
}

#[derive(Serialize)]
struct FoundBlocks<'a> {
    blocks: Vec<BlockResult<'a>>,
    total_count: Text<usize>,
}

pub(super) fn block<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let height = view.history.height(args.int(0)).map_err(|why| why.to_string())?;
    answer(&BlockResult::of(view.history.block(height).map(AsRef::as_ref)))
}

pub(super) fn block_by_hash<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let hash = Hash::try_from(args.bytes(0)).ok();
    let block = hash.and_then(|hash| view.history.block_by_hash(&hash));
    answer(&BlockResult::of(block.map(AsRef::as_ref)))
}

pub(super) fn block_results<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let height = view.history.height(args.int(0)).map_err(|why| why.to_string())?;
    let late = context.faults.get(|plan| plan.late_results) && height == view.history.latest();
    let block = view.history.block(height).filter(|_| !late);
    let block = block.ok_or_else(|| format!("could not find results for height #{height}"))?;
    answer(&BlockResults::of(block, &view.chain.block))
}

pub(super) fn header<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let height = view.history.height(args.int(0)).map_err(|why| why.to_string())?;
    let header = view.history.block(height).map(|block| HeaderJson::of(&block.header));
    answer(&HeaderAnswer { header })
}

pub(super) fn header_by_hash<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let hash = Hash::try_from(args.bytes(0)).ok();
    let block = hash.and_then(|hash| view.history.block_by_hash(&hash));
    answer(&HeaderAnswer { header: block.map(|block| HeaderJson::of(&block.header)) })
}

pub(super) fn commit<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let height = view.history.height(args.int(0)).map_err(|why| why.to_string())?;
    let Some(block) = view.history.block(height) else { return answer(&()) };
    let (commit, canonical) = view.commit(block);
    answer(&SignedHeader::of(&block.header, &commit, canonical))
}

pub(super) fn blockchain<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let signed = |height: u64| i64::try_from(height).unwrap_or(i64::MAX);
    let (base, latest) = (signed(view.history.base()), signed(view.history.latest()));
    let (low, high) = (args.int(0).unwrap_or_default(), args.int(1).unwrap_or_default());
    if low < 0 || high < 0 {
        return Err("heights must be non-negative".to_owned());
    }
    let high = if high == 0 { latest } else { high.min(latest) };
    let low = low.max(1).max(base).max(high - MOST_HEADERS + 1);
    if low > high {
        return Err(format!("min height {low} can't be greater than max height {high}"));
    }
    let heights = (low..=high).rev().filter_map(|height| u64::try_from(height).ok());
    let blocks = heights.filter_map(|height| view.history.block(height));
    let block_metas = blocks.map(|block| BlockMeta::of(block)).collect();
    answer(&Blockchain { last_height: Text(view.history.latest()), block_metas })
}

pub(super) fn block_search<A: App>(context: &Context<A>, args: &Args) -> Outcome {
    let view = context.view();
    let query =
        args.text(0).parse().map_err(|why: crate::node::QueryParseError| why.to_string())?;
    let mut heights = view.history.search_blocks(&query);
    order(&mut heights, args.text(3), true)?;
    let per_page = per_page(args.int(2));
    let skip = skipped(args.int(1), per_page, heights.len())?;
    let page = heights.iter().skip(skip).take(per_page);
    let blocks: Vec<_> = page
        .filter_map(|height| view.history.block(*height))
        .map(|block| BlockResult::of(Some(block)))
        .collect();
    answer(&FoundBlocks { blocks, total_count: Text(heights.len()) })
}
