//! What a devnet is started with.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::node::Chain;

/// How a devnet runs. Only the chain has no default.
#[derive(Clone, Debug)]
pub struct Config {
    pub chain: Chain,
    /// The genesis document that `genesis` answers with, as JSON; its state is the caller's to make.
    pub genesis_json: String,
    /// Where JSON-RPC, WebSocket and the faucet listen. Port 0 takes a free one.
    pub rpc: SocketAddr,
    /// Where gRPC listens. Port 0 takes a free one.
    pub grpc: SocketAddr,
    /// Where the REST API listens. Port 0 takes a free one.
    pub api: SocketAddr,
    /// Time from block to block; `None` for blocks on request only.
    pub block_time: Option<Duration>,
    /// Whether blocks are made when nothing waits for one.
    pub idle_blocks: bool,
    /// Where blocks are kept; `None` to forget them at the end.
    pub home: Option<PathBuf>,
    /// Who gives out coins; `None` for nobody.
    pub faucet: Option<FaucetConfig>,
    pub moniker: String,
    /// How long `broadcast_tx_commit` waits.
    pub commit_timeout: Duration,
}

#[derive(Clone)]
pub struct FaucetConfig {
    /// Its secp256k1 key. Genesis must have given it coins.
    pub secret: [u8; 32],
    /// What is given to whoever names no amount, e.g. `100000000uakt`.
    pub amount: String,
}

impl std::fmt::Debug for FaucetConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaucetConfig").field("amount", &self.amount).finish_non_exhaustive()
    }
}

impl Config {
    /// A devnet of a chain on free ports of this machine, a block every second, nothing kept.
    pub fn new(chain: Chain) -> Self {
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self {
            chain,
            genesis_json: "{}".to_owned(),
            rpc: anywhere,
            grpc: anywhere,
            api: anywhere,
            block_time: Some(Duration::from_secs(1)),
            idle_blocks: true,
            home: None,
            faucet: None,
            moniker: "devnet".to_owned(),
            commit_timeout: Duration::from_secs(10),
        }
    }
}
