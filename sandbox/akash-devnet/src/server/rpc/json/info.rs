//! The node, its validator, its limits.

use serde::Serialize;

use crate::node::{Block, BlockLimits, VOTING_POWER, Validator, rfc3339};
use crate::server::context::{APP_NAME, APP_VERSION, CHANNELS, COMETBFT_VERSION, NodeFacts};

use super::{Base64, Hex, Text};

/// The answer of `status`.
#[derive(Serialize)]
pub(crate) struct Status<'a> {
    pub(crate) node_info: NodeInfoJson<'a>,
    pub(crate) sync_info: SyncInfo,
    pub(crate) validator_info: ValidatorInfo,
}

#[derive(Serialize)]
pub(crate) struct NodeInfoJson<'a> {
    protocol_version: Protocol,
    id: &'a str,
    listen_addr: &'a str,
    network: &'a str,
    version: &'static str,
    channels: Hex<[u8; 10]>,
    moniker: &'a str,
    other: Other<'a>,
}

#[derive(Serialize)]
struct Protocol {
    p2p: &'static str,
    block: &'static str,
    app: &'static str,
}

#[derive(Serialize)]
struct Other<'a> {
    tx_index: &'static str,
    rpc_address: &'a str,
}

impl<'a> NodeInfoJson<'a> {
    pub(crate) fn of(facts: &'a NodeFacts, network: &'a str) -> Self {
        Self {
            protocol_version: Protocol { p2p: "8", block: "11", app: "0" },
            id: &facts.id,
            listen_addr: &facts.listen_addr,
            network,
            version: COMETBFT_VERSION,
            channels: Hex(CHANNELS),
            moniker: &facts.moniker,
            other: Other { tx_index: "on", rpc_address: &facts.rpc_address },
        }
    }
}

#[derive(Serialize)]
pub(crate) struct SyncInfo {
    latest_block_hash: Hex<Vec<u8>>,
    latest_app_hash: Hex<Vec<u8>>,
    latest_block_height: Text<u64>,
    latest_block_time: String,
    earliest_block_hash: Hex<Vec<u8>>,
    earliest_app_hash: Hex<Vec<u8>>,
    earliest_block_height: Text<u64>,
    earliest_block_time: String,
    catching_up: bool,
}

impl SyncInfo {
    pub(crate) fn of(earliest: Option<&Block>, latest: Option<&Block>, catching_up: bool) -> Self {
        let hash = |block: Option<&Block>| Hex(block.map_or(Vec::new(), |b| b.id.hash.to_vec()));
        let app = |block: Option<&Block>| {
            Hex(block.map_or(Vec::new(), |block| block.header.app_hash.to_vec()))
        };
        let height = |block: Option<&Block>| Text(block.map_or(0, Block::height));
        let time = |block: Option<&Block>| {
            // What Go writes for a time that was never set.
            let never = || "0001-01-01T00:00:00Z".to_owned();
            block.map_or_else(never, |block| rfc3339(block.header.time_unix_nanos))
        };
        Self {
            latest_block_hash: hash(latest),
            latest_app_hash: app(latest),
            latest_block_height: height(latest),
            latest_block_time: time(latest),
            earliest_block_hash: hash(earliest),
            earliest_app_hash: app(earliest),
            earliest_block_height: height(earliest),
            earliest_block_time: time(earliest),
            catching_up,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct PubKeyJson {
    r#type: &'static str,
    value: Base64<[u8; 32]>,
}

impl PubKeyJson {
    fn of(validator: &Validator) -> Self {
        Self { r#type: "tendermint/PubKeyEd25519", value: Base64(validator.public_key()) }
    }
}

#[derive(Serialize)]
pub(crate) struct ValidatorInfo {
    address: Hex<[u8; 20]>,
    pub_key: PubKeyJson,
    voting_power: Text<i64>,
}

impl ValidatorInfo {
    pub(crate) fn of(validator: &Validator) -> Self {
        Self {
            address: Hex(validator.address()),
            pub_key: PubKeyJson::of(validator),
            voting_power: Text(VOTING_POWER),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct ValidatorJson {
    #[serde(flatten)]
    info: ValidatorInfo,
    proposer_priority: Text<i64>,
}

/// The answer of `validators`.
#[derive(Serialize)]
pub(crate) struct Validators {
    block_height: Text<u64>,
    validators: [ValidatorJson; 1],
    count: Text<u8>,
    total: Text<u8>,
}

impl Validators {
    pub(crate) fn of(validator: &Validator, height: u64) -> Self {
        let info = ValidatorInfo::of(validator);
        let validators = [ValidatorJson { info, proposer_priority: Text(0) }];
        Self { block_height: Text(height), validators, count: Text(1), total: Text(1) }
    }
}

#[derive(Serialize)]
struct BlockParams {
    max_bytes: Text<i64>,
    max_gas: Text<i64>,
}

#[derive(Serialize)]
struct EvidenceParams {
    max_age_num_blocks: &'static str,
    max_age_duration: &'static str,
    max_bytes: &'static str,
}

#[derive(Serialize)]
struct ValidatorParams {
    pub_key_types: [&'static str; 1],
}

#[derive(Serialize)]
struct Nothing {}

const EVIDENCE: EvidenceParams = EvidenceParams {
    max_age_num_blocks: "100000",
    max_age_duration: "172800000000000",
    max_bytes: "1048576",
};
const VALIDATOR: ValidatorParams = ValidatorParams { pub_key_types: ["ed25519"] };

impl BlockParams {
    fn of(limits: &BlockLimits) -> Self {
        Self { max_bytes: Text(limits.signed_bytes()), max_gas: Text(limits.signed_gas()) }
    }
}

/// The limits in the results of a block, where zeros are left out.
#[derive(Serialize)]
pub(crate) struct ParamUpdates {
    block: BlockParams,
    evidence: EvidenceParams,
    validator: ValidatorParams,
    version: Nothing,
    abci: Nothing,
}

impl ParamUpdates {
    pub(crate) fn of(limits: &BlockLimits) -> Self {
        Self {
            block: BlockParams::of(limits),
            evidence: EVIDENCE,
            validator: VALIDATOR,
            version: Nothing {},
            abci: Nothing {},
        }
    }
}

/// The answer of `consensus_params`.
#[derive(Serialize)]
pub(crate) struct ConsensusParamsJson {
    block_height: Text<u64>,
    consensus_params: Params,
}

#[derive(Serialize)]
struct Params {
    block: BlockParams,
    evidence: EvidenceParams,
    validator: ValidatorParams,
    version: AppVersion,
    abci: AbciParams,
}

#[derive(Serialize)]
struct AppVersion {
    app: &'static str,
}

#[derive(Serialize)]
struct AbciParams {
    vote_extensions_enable_height: &'static str,
}

impl ConsensusParamsJson {
    pub(crate) fn of(limits: &BlockLimits, height: u64) -> Self {
        let consensus_params = Params {
            block: BlockParams::of(limits),
            evidence: EVIDENCE,
            validator: VALIDATOR,
            version: AppVersion { app: "0" },
            abci: AbciParams { vote_extensions_enable_height: "0" },
        };
        Self { block_height: Text(height), consensus_params }
    }
}

/// The answer of `net_info`: the node is alone.
#[derive(Serialize)]
pub(crate) struct NetInfo<'a> {
    listening: bool,
    listeners: [String; 1],
    n_peers: &'static str,
    peers: [&'a str; 0],
}

impl NetInfo<'_> {
    pub(crate) fn of(facts: &NodeFacts) -> Self {
        let listener = format!("Listener(@{})", facts.listen_addr.trim_start_matches("tcp://"));
        Self { listening: true, listeners: [listener], n_peers: "0", peers: [] }
    }
}

/// The answer of `abci_info`.
#[derive(Serialize)]
pub(crate) struct AbciInfo {
    response: AbciInfoResponse,
}

#[derive(Serialize)]
struct AbciInfoResponse {
    data: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_block_height: Option<Text<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_block_app_hash: Option<Base64<[u8; 32]>>,
}

impl AbciInfo {
    pub(crate) fn of(latest: Option<&Block>) -> Self {
        let response = AbciInfoResponse {
            data: APP_NAME,
            version: APP_VERSION,
            last_block_height: latest.map(|block| Text(block.height())),
            last_block_app_hash: latest.map(|block| Base64(block.app_hash)),
        };
        Self { response }
    }
}

/// The answer of `abci_query`.
#[derive(Serialize)]
pub(crate) struct AbciQuery {
    response: AbciQueryResponse,
}

#[derive(Serialize)]
struct AbciQueryResponse {
    code: u32,
    log: String,
    info: &'static str,
    index: &'static str,
    key: Option<()>,
    value: Option<Base64<Vec<u8>>>,
    #[serde(rename = "proofOps")]
    proof_ops: Option<()>,
    height: Text<u64>,
    codespace: String,
}

impl AbciQuery {
    pub(crate) fn answer(value: Vec<u8>, height: u64) -> Self {
        Self::new(0, String::new(), Base64::or_null(value), height, "")
    }

    pub(crate) fn refusal(code: u32, log: String, height: u64) -> Self {
        Self::new(code, log, None, height, "sdk")
    }

    fn new(
        code: u32,
        log: String,
        value: Option<Base64<Vec<u8>>>,
        height: u64,
        codespace: &str,
    ) -> Self {
        let response = AbciQueryResponse {
            code,
            log,
            info: "",
            index: "0",
            key: None,
            value,
            proof_ops: None,
            height: Text(height),
            codespace: codespace.to_owned(),
        };
        Self { response }
    }
}
