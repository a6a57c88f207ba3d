//! `cosmos.base.tendermint.v1beta1.Service`: the node and its blocks.

use akash_proto::cosmos::base::query::v1beta1::PageResponse;
use akash_proto::cosmos::base::tendermint::v1beta1 as wire;
use akash_proto::cosmos::crypto::ed25519::PubKey;
use akash_proto::tendermint::p2p::{DefaultNodeInfo, DefaultNodeInfoOther, ProtocolVersion};
use bech32::{Bech32, Hrp};
use prost::Message;

use crate::node::{App, Block, ConsensusAddress, VOTING_POWER, Validator, signed};
use crate::server::context::{APP_NAME, APP_VERSION, CHANNELS, COMETBFT_VERSION, Context, View};
use crate::state::{GrpcCode, QueryError};

use super::{Refusal, decode, status};

pub(super) fn answer<A: App>(
    context: &Context<A>,
    view: &View<A>,
    method: &str,
    data: &[u8],
) -> Result<Vec<u8>, Refusal> {
    match method {
        "GetNodeInfo" => Ok(node_info(context, view).encode_to_vec()),
        "GetSyncing" => {
            let syncing = context.faults.get(|plan| plan.catching_up);
            Ok(wire::GetSyncingResponse { syncing }.encode_to_vec())
        }
        "GetLatestBlock" => {
            let latest = view.history.latest_block();
            let block = latest.ok_or_else(|| status(GrpcCode::NotFound, "no block yet"))?;
            let (block_id, block, sdk_block) = block_parts(block);
            Ok(wire::GetLatestBlockResponse { block_id, block, sdk_block }.encode_to_vec())
        }
        "GetBlockByHeight" => {
            let asked = decode::<wire::GetBlockByHeightRequest>(data)?.height;
            let (block_id, block, sdk_block) = block_parts(block_at(view, asked)?);
            Ok(wire::GetBlockByHeightResponse { block_id, block, sdk_block }.encode_to_vec())
        }
        "GetLatestValidatorSet" => {
            let response = wire::GetLatestValidatorSetResponse {
                block_height: signed(view.history.latest().saturating_add(1)),
                validators: vec![validator(&view.chain.validator)],
                pagination: Some(PageResponse { next_key: Vec::new(), total: 1 }),
            };
            Ok(response.encode_to_vec())
        }
        "GetValidatorSetByHeight" => {
            let asked = decode::<wire::GetValidatorSetByHeightRequest>(data)?.height;
            let height = view.history.height(Some(asked));
            if height.is_err() {
                let text = "requested block height is bigger then the chain length";
                return Err(status(GrpcCode::InvalidArgument, text));
            }
            let response = wire::GetValidatorSetByHeightResponse {
                block_height: asked,
                validators: vec![validator(&view.chain.validator)],
                pagination: Some(PageResponse { next_key: Vec::new(), total: 1 }),
            };
            Ok(response.encode_to_vec())
        }
        method => {
            let path = format!("{}{method}", super::TENDERMINT);
            Err(QueryError::unknown_path(&path).into())
        }
    }
}

/// A query as `abci_query` takes it, within a message.
pub(super) async fn abci_query<A: App>(
    context: &Context<A>,
    data: &[u8],
) -> Result<Vec<u8>, Refusal> {
    let request: wire::AbciQueryRequest = decode(data)?;
    if request.path.starts_with(super::TENDERMINT) {
        return Err(QueryError::unknown_path(&request.path).into());
    }
    let response = match super::query(context, &request.path, &request.data, request.height).await {
        Ok(found) => wire::AbciQueryResponse {
            value: found.value,
            height: signed(found.height),
            ..wire::AbciQueryResponse::default()
        },
        Err(refusal) => wire::AbciQueryResponse {
            code: refusal.abci_code,
            log: refusal.abci_log,
            codespace: "sdk".to_owned(),
            ..wire::AbciQueryResponse::default()
        },
    };
    Ok(response.encode_to_vec())
}

/// A block by its height, with the SDK's text where there is none.
pub(super) fn block_at<A: App>(view: &View<A>, asked: i64) -> Result<&Block, Refusal> {
    if asked > signed(view.history.latest()) {
        let text = "requested block height is bigger then the chain length";
        return Err(status(GrpcCode::InvalidArgument, text));
    }
    let plain = |text: String| Refusal::from(QueryError::plain(text));
    let height = view.history.height(Some(asked)).map_err(|why| plain(why.to_string()))?;
    let block = view.history.block(height).map(AsRef::as_ref);
    block.ok_or_else(|| plain(format!("could not find block #{height}")))
}

type BlockParts = (
    Option<akash_proto::tendermint::types::BlockId>,
    Option<akash_proto::tendermint::types::Block>,
    Option<wire::Block>,
);

/// A block in CometBFT's and in the SDK's form.
pub(super) fn block_parts(block: &Block) -> BlockParts {
    let comet = block.to_wire();
    let header = comet.header.clone().map(|header| wire::Header {
        version: header.version,
        chain_id: header.chain_id,
        height: header.height,
        time: header.time,
        last_block_id: header.last_block_id,
        last_commit_hash: header.last_commit_hash,
        data_hash: header.data_hash,
        validators_hash: header.validators_hash,
        next_validators_hash: header.next_validators_hash,
        consensus_hash: header.consensus_hash,
        app_hash: header.app_hash,
        last_results_hash: header.last_results_hash,
        evidence_hash: header.evidence_hash,
        proposer_address: consensus_address(block.header.proposer),
    });
    let sdk = wire::Block {
        header,
        data: comet.data.clone(),
        evidence: comet.evidence.clone(),
        last_commit: comet.last_commit.clone(),
    };
    (Some(block.id.to_wire()), Some(comet), Some(sdk))
}

fn node_info<A: App>(context: &Context<A>, view: &View<A>) -> wire::GetNodeInfoResponse {
    let facts = &context.facts;
    let node = DefaultNodeInfo {
        protocol_version: Some(ProtocolVersion { p2p: 8, block: 11, app: 0 }),
        default_node_id: facts.id.clone(),
        listen_addr: facts.listen_addr.clone(),
        network: view.chain.chain_id.clone(),
        version: COMETBFT_VERSION.to_owned(),
        channels: CHANNELS.to_vec(),
        moniker: facts.moniker.clone(),
        other: Some(DefaultNodeInfoOther {
            tx_index: "on".to_owned(),
            rpc_address: facts.rpc_address.clone(),
        }),
    };
    // What it was built of is not claimed: there is no Go in it.
    let version = wire::VersionInfo {
        name: APP_NAME.to_owned(),
        app_name: APP_NAME.to_owned(),
        version: APP_VERSION.to_owned(),
        ..wire::VersionInfo::default()
    };
    wire::GetNodeInfoResponse { default_node_info: Some(node), application_version: Some(version) }
}

fn validator(validator: &Validator) -> wire::Validator {
    let key = PubKey { key: validator.public_key().to_vec() };
    wire::Validator {
        address: consensus_address(validator.address()),
        pub_key: Some(akash_proto::to_any(&key)),
        voting_power: VOTING_POWER,
        proposer_priority: 0,
    }
}

/// A validator's address as the SDK writes it.
fn consensus_address(address: ConsensusAddress) -> String {
    // The prefix is valid and twenty bytes are never too long.
    Hrp::parse("akashvalcons")
        .ok()
        .and_then(|hrp| bech32::encode::<Bech32>(hrp, &address).ok())
        .unwrap_or_default()
}
