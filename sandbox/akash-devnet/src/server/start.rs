//! Starting and stopping.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::net::TcpListener;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use super::context::{Context, NodeFacts, View, Views};
use super::faucet::{Faucet, FaucetError};
use super::faults::Faults;
use super::listen::{Speaks, serve};
use super::store::{Progress, Store, StoreError};
use super::task::{Command, Keeper, Owner, Pace};
use super::ws::Clients;
use super::{grpc, lcd, rpc};
use crate::node::{App, Block, Chain, Node, address_of, sha256};

/// Commands that may wait for the owner of the node; who sends more waits too.
const COMMANDS: usize = 256;
/// Blocks that a subscriber may be behind before it loses its subscriptions.
const BLOCKS: usize = 256;

/// Why a devnet does not start, or has stopped.
#[derive(Debug, thiserror::Error)]
pub enum DevnetError {
    #[error("listening on {address}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("reading the genesis document")]
    Genesis(#[source] serde_json::Error),
    #[error("preparing gRPC reflection")]
    Reflection(#[source] grpc::ReflectionError),
    #[error("preparing the faucet")]
    Faucet(#[source] FaucetError),
    #[error("the devnet has stopped")]
    Stopped,
}

/// A running devnet. Dropping it stops it as a crash would; nothing that clients saw is lost.
#[derive(Debug)]
pub struct Devnet {
    rpc: SocketAddr,
    grpc: SocketAddr,
    api: SocketAddr,
    faults: Faults,
    commands: mpsc::Sender<Command>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), DevnetError>>,
}

impl Devnet {
    /// Starts a devnet on a state before its first block. Blocks that its home has are made again
    /// first; `progress` hears about it every second.
    pub async fn start<A: App>(
        config: Config,
        app: A,
        progress: impl FnMut(Progress) + Send + 'static,
    ) -> Result<Self, DevnetError> {
        let faults = Faults::default();
        let (rpc_listener, rpc) = bind(config.rpc).await?;
        let (grpc_listener, grpc) = bind(config.grpc).await?;
        let (api_listener, api) = bind(config.api).await?;

        let mut node = Node::new(config.chain.clone(), app);
        let (home, genesis) = (config.home.clone(), config.genesis_json.clone());
        let opened = tokio::task::spawn_blocking(move || {
            let store = home.map(|home| Store::open(&home, &genesis, &mut node, progress));
            store.transpose().map(|store| Keeper { node, store })
        });
        let keeper = opened.await.map_err(|_| DevnetError::Stopped)??;

        let (commands, receiver) = mpsc::channel(COMMANDS);
        let (views, view_receiver) = watch::channel(Arc::new(View::of(&keeper.node)));
        let (blocks, _) = broadcast::channel(BLOCKS);
        let (alive, alive_receiver) = watch::channel(());
        let pace = Pace { block_time: config.block_time, idle_blocks: config.idle_blocks };
        let mut changed = view_receiver.clone();
        let context = Arc::new(Context {
            views: Views::new(view_receiver, faults.clone()),
            commands: commands.clone(),
            blocks: blocks.clone(),
            faults: faults.clone(),
            facts: facts(&config, rpc),
            genesis: RawValue::from_string(config.genesis_json).map_err(DevnetError::Genesis)?,
            commit_timeout: config.commit_timeout,
            clients: Clients::default(),
            alive: alive_receiver,
            faucet: config.faucet.map(Faucet::new).transpose().map_err(DevnetError::Faucet)?,
        });
        let rpc_port = rpc::serve_on(Arc::clone(&context));
        let rpc_port = serve(rpc_listener, Speaks::Any, faults.clone(), rpc_port);
        let api_port = lcd::serve_on(Arc::clone(&context));
        let api_port = serve(api_listener, Speaks::Any, faults.clone(), api_port);
        let grpc_port = grpc::serve_on(context).map_err(DevnetError::Reflection)?;
        let grpc_port = serve(grpc_listener, Speaks::Second, faults.clone(), grpc_port);
        let owner_faults = faults.clone();
        let owner =
            Owner { keeper, pace, faults: owner_faults, commands: receiver, views, blocks, alive };

        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(run(owner.run(), rpc_port, grpc_port, api_port, stopped));
        // The first block is made before anyone can ask: a state without blocks answers nothing.
        if changed.borrow_and_update().history.latest() == 0 && changed.changed().await.is_err() {
            let ended = task.await.unwrap_or(Err(DevnetError::Stopped));
            return Err(ended.err().unwrap_or(DevnetError::Stopped));
        }
        Ok(Self { rpc, grpc, api, faults, commands, stop: Some(stop), task })
    }

    pub const fn rpc_address(&self) -> SocketAddr {
        self.rpc
    }

    pub const fn grpc_address(&self) -> SocketAddr {
        self.grpc
    }

    pub const fn api_address(&self) -> SocketAddr {
        self.api
    }

    pub const fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Makes a block now; at the given time if that is later than the last block's, else the clock's.
    pub async fn produce_block(
        &self,
        time_unix_nanos: Option<i64>,
    ) -> Result<Arc<Block>, DevnetError> {
        self.ask(|reply| Command::Produce { time_unix_nanos, reply }).await
    }

    /// Throws away blocks and states below a height, as a node does that prunes.
    pub async fn prune_below(&self, height: u64) -> Result<(), DevnetError> {
        self.ask(|reply| Command::Prune { below: height, reply }).await
    }

    /// Stops and waits for the end.
    pub async fn shutdown(mut self) -> Result<(), DevnetError> {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        self.ended().await
    }

    /// Waits until it stops by itself, which it does only when something is wrong.
    pub async fn ended(&mut self) -> Result<(), DevnetError> {
        (&mut self.task).await.unwrap_or(Err(DevnetError::Stopped))
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, DevnetError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| DevnetError::Stopped)?;
        answer.await.map_err(|_| DevnetError::Stopped)
    }
}

impl Drop for Devnet {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Runs all parts; the end of one is the end of all.
async fn run(
    owner: impl Future<Output = Result<(), DevnetError>> + Send + 'static,
    rpc: impl Future<Output = ()> + Send + 'static,
    grpc: impl Future<Output = ()> + Send + 'static,
    api: impl Future<Output = ()> + Send + 'static,
    stopped: oneshot::Receiver<()>,
) -> Result<(), DevnetError> {
    let mut parts = JoinSet::new();
    parts.spawn(owner);
    parts.spawn(async move {
        rpc.await;
        Ok(())
    });
    parts.spawn(async move {
        grpc.await;
        Ok(())
    });
    parts.spawn(async move {
        api.await;
        Ok(())
    });
    tokio::select! {
        // A handle that was dropped has aborted this task anyway.
        _ = stopped => Ok(()),
        ended = parts.join_next() => match ended {
            Some(Ok(result)) => result,
            Some(Err(_)) | None => Err(DevnetError::Stopped),
        },
    }
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), DevnetError> {
    let failed = |source| DevnetError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

fn facts(config: &Config, rpc: SocketAddr) -> NodeFacts {
    let key = sha256(format!("akash-devnet node {}", config.moniker).as_bytes());
    NodeFacts {
        moniker: config.moniker.clone(),
        id: hex::encode(address_of(&key)),
        listen_addr: "tcp://127.0.0.1:26656".to_owned(),
        rpc_address: format!("tcp://{rpc}"),
    }
}

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
