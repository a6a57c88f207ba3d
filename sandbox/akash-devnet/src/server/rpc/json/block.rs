//! Blocks, headers, commits.

use serde::Serialize;

use crate::node::{BLOCK_PROTOCOL, Block, BlockId, BlockLimits, Commit, Header, rfc3339};

use super::info::ParamUpdates;
use super::tx::{EventJson, TxResultJson};
use super::{Base64, Hex, Text};

#[derive(Serialize)]
pub(crate) struct BlockIdJson {
    hash: Hex<Vec<u8>>,
    parts: Parts,
}

#[derive(Serialize)]
struct Parts {
    total: u32,
    hash: Hex<Vec<u8>>,
}

impl BlockIdJson {
    /// An id, or an empty one before the first block.
    pub(crate) fn of(id: Option<&BlockId>) -> Self {
        match id {
            Some(id) => Self {
                hash: Hex(id.hash.to_vec()),
                parts: Parts { total: id.parts, hash: Hex(id.parts_hash.to_vec()) },
            },
            None => {
                Self { hash: Hex(Vec::new()), parts: Parts { total: 0, hash: Hex(Vec::new()) } }
            }
        }
    }
}

#[derive(Serialize)]
pub(crate) struct HeaderJson<'a> {
    version: Version,
    chain_id: &'a str,
    height: Text<u64>,
    time: String,
    last_block_id: BlockIdJson,
    last_commit_hash: Hex<&'a [u8]>,
    data_hash: Hex<&'a [u8]>,
    validators_hash: Hex<&'a [u8]>,
    next_validators_hash: Hex<&'a [u8]>,
    consensus_hash: Hex<&'a [u8]>,
    app_hash: Hex<&'a [u8]>,
    last_results_hash: Hex<&'a [u8]>,
    evidence_hash: Hex<&'a [u8]>,
    proposer_address: Hex<&'a [u8]>,
}

#[derive(Serialize)]
struct Version {
    block: Text<u64>,
}

impl<'a> HeaderJson<'a> {
    pub(crate) fn of(header: &'a Header) -> Self {
        Self {
            version: Version { block: Text(BLOCK_PROTOCOL) },
            chain_id: &header.chain_id,
            height: Text(header.height),
            time: rfc3339(header.time_unix_nanos),
            last_block_id: BlockIdJson::of(header.last_block_id.as_ref()),
            last_commit_hash: Hex(&header.last_commit_hash),
            data_hash: Hex(&header.data_hash),
            validators_hash: Hex(&header.validators_hash),
            next_validators_hash: Hex(&header.validators_hash),
            consensus_hash: Hex(&header.consensus_hash),
            app_hash: Hex(&header.app_hash),
            last_results_hash: Hex(&header.last_results_hash),
            evidence_hash: Hex(&header.evidence_hash),
            proposer_address: Hex(&header.proposer),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct CommitJson {
    height: Text<u64>,
    round: u32,
    block_id: BlockIdJson,
    signatures: Vec<Signature>,
}

#[derive(Serialize)]
struct Signature {
    block_id_flag: u8,
    validator_address: Hex<[u8; 20]>,
    timestamp: String,
    signature: Base64<Vec<u8>>,
}

impl CommitJson {
    pub(crate) fn of(commit: &Commit) -> Self {
        let signatures = commit.vote.iter().map(|vote| Signature {
            // For the block, neither absent nor for none.
            block_id_flag: 2,
            validator_address: Hex(vote.validator),
            timestamp: rfc3339(vote.time_unix_nanos),
            signature: Base64(vote.signature.clone()),
        });
        Self {
            height: Text(commit.height),
            round: 0,
            block_id: BlockIdJson::of(commit.block_id.as_ref()),
            signatures: signatures.collect(),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct BlockJson<'a> {
    header: HeaderJson<'a>,
    data: Data<'a>,
    evidence: Evidence,
    last_commit: CommitJson,
}

#[derive(Serialize)]
struct Data<'a> {
    txs: Vec<Base64<&'a [u8]>>,
}

#[derive(Serialize)]
struct Evidence {
    evidence: [(); 0],
}

impl<'a> BlockJson<'a> {
    pub(crate) fn of(block: &'a Block) -> Self {
        Self {
            header: HeaderJson::of(&block.header),
            data: Data { txs: block.txs.iter().map(|tx| Base64(tx.as_ref())).collect() },
            evidence: Evidence { evidence: [] },
            last_commit: CommitJson::of(&block.last_commit),
        }
    }
}

/// The answer of `block`; empty where there is none.
#[derive(Serialize)]
pub(crate) struct BlockResult<'a> {
    block_id: BlockIdJson,
    block: Option<BlockJson<'a>>,
}

impl<'a> BlockResult<'a> {
    pub(crate) fn of(block: Option<&'a Block>) -> Self {
        Self {
            block_id: BlockIdJson::of(block.map(|block| &block.id)),
            block: block.map(BlockJson::of),
        }
    }
}

/// One block in the answer of `blockchain`.
#[derive(Serialize)]
pub(crate) struct BlockMeta<'a> {
    block_id: BlockIdJson,
    block_size: Text<usize>,
    header: HeaderJson<'a>,
    num_txs: Text<usize>,
}

impl<'a> BlockMeta<'a> {
    pub(crate) fn of(block: &'a Block) -> Self {
        Self {
            block_id: BlockIdJson::of(Some(&block.id)),
            block_size: Text(block.size),
            header: HeaderJson::of(&block.header),
            num_txs: Text(block.txs.len()),
        }
    }
}

/// The answer of `commit`.
#[derive(Serialize)]
pub(crate) struct SignedHeader<'a> {
    signed_header: HeaderAndCommit<'a>,
    canonical: bool,
}

#[derive(Serialize)]
struct HeaderAndCommit<'a> {
    header: HeaderJson<'a>,
    commit: CommitJson,
}

impl<'a> SignedHeader<'a> {
    pub(crate) fn of(header: &'a Header, commit: &Commit, canonical: bool) -> Self {
        let (header, commit) = (HeaderJson::of(header), CommitJson::of(commit));
        Self { signed_header: HeaderAndCommit { header, commit }, canonical }
    }
}

/// The answer of `block_results`.
#[derive(Serialize)]
pub(crate) struct BlockResults<'a> {
    height: Text<u64>,
    txs_results: Option<Vec<TxResultJson<'a>>>,
    finalize_block_events: Option<Vec<EventJson<'a>>>,
    validator_updates: Option<[(); 0]>,
    consensus_param_updates: ParamUpdates,
    app_hash: Base64<&'a [u8]>,
}

impl<'a> BlockResults<'a> {
    pub(crate) fn of(block: &'a Block, limits: &BlockLimits) -> Self {
        let results: Vec<_> = block.results.iter().map(TxResultJson::of).collect();
        let events: Vec<_> = block.events.iter().map(EventJson::of).collect();
        Self {
            height: Text(block.height()),
            txs_results: (!results.is_empty()).then_some(results),
            finalize_block_events: (!events.is_empty()).then_some(events),
            validator_updates: None,
            consensus_param_updates: ParamUpdates::of(limits),
            app_hash: Base64(&block.app_hash),
        }
    }
}
