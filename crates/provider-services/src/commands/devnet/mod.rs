//! `devnet`: a chain for one machine.

mod genesis;
mod guide;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use akash_devnet::node::Chain;
use akash_devnet::server::{Config, Devnet, FaucetConfig, Progress};
use akash_devnet::state::State;
use akash_keys::keyring::{Backend, Keyring, OpenOptions};
use akash_types::Dec;
use anyhow::{Context, bail};
use clap::{Args, ValueHint};

use crate::app::{block_on, stop_signal};
use crate::chain::values;
use crate::console::Streams;
use crate::surroundings::Surroundings;
use genesis::{Grant, Start};

pub(crate) use guide::quoted;

/// What the faucet gives to whoever names no amount.
const FAUCET_AMOUNT: &str = "100000000uakt";
/// The key of the faucet, where keys are made.
const FAUCET: &str = "faucet";

const HELP: &str = "\
Without --accounts, keys operator, tenant and faucet are made and given coins. Keys and blocks are
kept in --state; started again, the chain goes on where it was.

Examples:
  provider-services devnet
  provider-services devnet --state /tmp/chain --block-time 500ms
  provider-services devnet --accounts alice=akash1…=1000akt,1000act";

/// Arguments of `devnet`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct DevnetArgs {
    /// Directory of the chain, its keys included [default: devnet in --home]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    state: Option<PathBuf>,
    /// Time from block to block
    #[arg(long, value_name = "SPAN", value_parser = values::span, default_value = "1s")]
    block_time: Duration,
    /// Where RPC, WebSocket and faucet listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:26657")]
    rpc_addr: SocketAddr,
    /// Where gRPC listens; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9090")]
    grpc_addr: SocketAddr,
    /// Where the REST API (LCD) listens, gRPC queries as JSON; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:1317")]
    api_addr: SocketAddr,
    /// Name of the chain [default: local]
    #[arg(long, value_name = "ID")]
    chain_id: Option<String>,
    /// Who has coins at the start; may be given several times
    #[arg(long, value_name = "NAME=ADDRESS=COINS")]
    accounts: Vec<Grant>,
    /// What the oracle says that 1 AKT is worth in USD [default: it has no price]
    #[arg(long, value_name = "USD")]
    akt_price: Option<Dec>,
}

pub(crate) fn run(
    args: &DevnetArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let state = match &args.state {
        Some(state) => state.clone(),
        None => surroundings.home()?.join("devnet"),
    };
    let keyring = keyring(&state)?;
    let start = match Start::read(&state)? {
        Some(start) => known(start, args, &state)?,
        None => Start::new(args.chain_id.as_deref(), &args.accounts, &keyring)?,
    };
    block_on(serve(args, start, &state, &keyring, streams))
}

/// A chain that was there already; flags cannot change how it started.
fn known(start: Start, args: &DevnetArgs, state: &Path) -> anyhow::Result<Start> {
    let other_id = args.chain_id.as_ref().filter(|id| **id != start.chain_id);
    let other_accounts = !args.accounts.is_empty() && args.accounts != start.accounts;
    if other_id.is_some() || other_accounts {
        bail!(
            "the chain in {} started as {} with other accounts or another name: leave out --chain-id \
             and --accounts, or give another --state",
            state.display(),
            start.chain_id
        );
    }
    Ok(start)
}

/// The keyring of a devnet: keys that are worth nothing, without a passphrase.
fn keyring(state: &Path) -> anyhow::Result<Keyring> {
    let options = OpenOptions {
        directory: state.to_owned(),
        passphrase: Box::new(|_: akash_keys::keyring::Ask<'_>| {
            Err(akash_keys::keyring::NoPassphrase("none is needed".into()))
        }),
        session_bus: None,
    };
    Ok(Keyring::open(Backend::Test, options)?)
}

async fn serve(
    args: &DevnetArgs,
    start: Start,
    state: &Path,
    keyring: &Keyring,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let mut genesis = start.genesis();
    genesis.params.akt_price = args.akt_price;
    let app = State::from_genesis(&genesis)?;
    let pace = Pace {
        rpc: args.rpc_addr,
        grpc: args.grpc_addr,
        api: args.api_addr,
        block_time: args.block_time,
    };
    let config = config(&start, state, keyring, pace);
    let has_faucet = config.faucet.is_some();
    // Heard before the chain starts: a signal meanwhile stops it too.
    let mut stop = std::pin::pin!(stop_signal()?);
    let mut devnet = tokio::select! {
        devnet = Devnet::start(config, app, replayed) => devnet.context("cannot start the devnet")?,
        () = &mut stop => return Ok(ExitCode::SUCCESS),
    };
    let guide = guide::Guide {
        start: &start,
        state,
        rpc: devnet.rpc_address(),
        grpc: devnet.grpc_address(),
        api: devnet.api_address(),
        block_time: args.block_time,
        has_faucet,
        has_keys: !keyring.names()?.is_empty(),
    };
    streams.print(&guide.render(&streams.stdout_palette))?;
    tokio::select! {
        ended = devnet.ended() => ended.context("the devnet ended by itself")?,
        () = stop => devnet.shutdown().await?,
    }
    streams.tell("devnet stopped\n");
    Ok(ExitCode::SUCCESS)
}

/// Where a devnet listens, and how fast it goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) rpc: SocketAddr,
    pub(crate) grpc: SocketAddr,
    pub(crate) api: SocketAddr,
    pub(crate) block_time: Duration,
}

fn config(start: &Start, state: &Path, keyring: &Keyring, pace: Pace) -> Config {
    let mut config = Config::new(Chain::new(&start.chain_id, 1, start.time_unix_nanos));
    config.genesis_json = start.to_json();
    config.rpc = pace.rpc;
    config.grpc = pace.grpc;
    config.api = pace.api;
    config.block_time = Some(pace.block_time);
    config.home = Some(state.to_owned());
    config.faucet = faucet(keyring);
    config
}

/// A devnet in this process, for other commands.
pub(crate) struct Launched {
    /// The chain; dropped, it ends.
    pub(crate) devnet: Devnet,
    pub(crate) chain_id: String,
    /// The keys of operator, tenant and faucet.
    pub(crate) keyring: Keyring,
}

/// Starts the chain of a directory, or goes on with it.
pub(crate) async fn launch(state: &Path, pace: Pace) -> anyhow::Result<Launched> {
    let keyring = keyring(state)?;
    let start = match Start::read(state)? {
        Some(start) => start,
        None => Start::new(None, &[], &keyring)?,
    };
    let app = State::from_genesis(&start.genesis())?;
    let config = config(&start, state, &keyring, pace);
    let devnet = Devnet::start(config, app, replayed).await.context("cannot start the devnet")?;
    Ok(Launched { devnet, chain_id: start.chain_id, keyring })
}

/// Says how far it is with blocks that were kept; heard on a thread of its own.
fn replayed(progress: Progress) {
    let Progress { height, percent } = progress;
    // If nobody sees it, nobody waits for it.
    let _ = writeln!(io::stderr(), "making kept blocks again: {height} ({percent}%)");
}

fn faucet(keyring: &Keyring) -> Option<FaucetConfig> {
    let secret = keyring.get(FAUCET).ok()?.secret_key().ok()?;
    Some(FaucetConfig { secret: *secret.to_bytes(), amount: FAUCET_AMOUNT.to_owned() })
}
