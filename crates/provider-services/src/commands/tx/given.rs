//! `tx sign`, `tx broadcast`, `tx encode` and `tx decode`: transactions that were made elsewhere.

use std::path::PathBuf;
use std::process::ExitCode;

use akash_chain::tx::{GivenTx, SignFor, SignedTx, Wait, broadcast, signed_elsewhere};
use akash_proto::cosmos::tx::v1beta1::Tx;
use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, Subcommand, ValueHint};
use prost::Message as _;

use super::args::TxArgs;
use super::session::Session;
use super::{file, send};
use crate::chain::{AccountSigner, Network};
use crate::console::Streams;
use crate::surroundings::Surroundings;

const SIGN_HELP: &str = "\
The transaction is signed as it is, with the fee it has, and printed.

Examples:
  provider-services tx bank send akash1… 5akt --from akash1… --generate-only > unsigned.json
  provider-services tx sign unsigned.json --from faucet --chain-id akashnet-2 > signed.json
  provider-services tx sign unsigned.json --from faucet --chain-id akashnet-2 --offline -a 7 -s 2";

const BROADCAST_HELP: &str = "\
Examples:
  provider-services tx broadcast signed.json
  provider-services tx sign unsigned.json --from faucet --chain-id akashnet-2 |
    provider-services tx broadcast -";

const ENCODE_HELP: &str = "\
Examples:
  provider-services tx encode signed.json";

const DECODE_HELP: &str = "\
Examples:
  provider-services tx decode Co8BCowB…
  provider-services tx decode --hex 0a8f010a8c01…";

/// Commands on transactions that were made elsewhere.
#[derive(Debug, Subcommand)]
pub(super) enum GivenCommand {
    /// Sign a transaction that was made before, and print it
    #[command(after_help = SIGN_HELP)]
    Sign(TxFile),
    /// Send a transaction that was signed before
    #[command(after_help = BROADCAST_HELP)]
    Broadcast(TxFile),
    /// Print the bytes of a transaction in base64
    #[command(after_help = ENCODE_HELP)]
    Encode(TxFile),
    /// Print a transaction of which only the bytes are there
    #[command(after_help = DECODE_HELP)]
    Decode(Encoded),
}

#[derive(Debug, Args)]
pub(super) struct TxFile {
    /// The transaction, as --generate-only or tx sign prints it; - is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) path: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct Encoded {
    /// The bytes of a transaction in base64
    #[arg(value_name = "BYTES")]
    bytes: String,
    /// The bytes are hexadecimal digits
    #[arg(short = 'x', long)]
    hex: bool,
}

pub(super) async fn run(
    command: &GivenCommand,
    args: &TxArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    match command {
        GivenCommand::Sign(file) => {
            let session = Session::open(args, None, surroundings, streams.console)?;
            sign(file, &session, streams).await
        }
        GivenCommand::Broadcast(file) => send_signed(file, args, surroundings, streams).await,
        GivenCommand::Encode(file) => encode(file, streams),
        GivenCommand::Decode(encoded) => decode(encoded, args, streams),
    }
}

async fn sign(
    args: &TxFile,
    session: &Session<'_>,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let given = GivenTx::new(file::read(&args.path, streams.stdin)?)?;
    let signer = AccountSigner::new(session.account.secret()?);
    let chain_id = send::chain_id(session)?;
    let turn = send::turn(session).await?;
    let sign_for = SignFor { chain_id, account_number: turn.number, sequence: turn.sequence };
    let signed = given.unsigned(sign_for, signer)?.sign();
    send::print(&file::signed(&signed)?, session.args.output, streams)
}

/// Sends, and prints what became of it.
async fn send_signed(
    given: &TxFile,
    args: &TxArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(!args.offline, "--offline: nothing can be broadcast");
    let tx = signed_elsewhere(&file::read(&given.path, streams.stdin)?)?;
    let grpc = args.grpc_addr.as_deref();
    let network =
        Network::new(surroundings.node(), grpc, args.grpc_insecure, &surroundings.to_node()?)?;
    let mode = args.broadcast_mode.into();
    let outcome = broadcast(network.node(), &tx, mode, Wait::default()).await?;
    send::report(&tx, &outcome, args.output, streams)
}

/// Prints the bytes of a transaction.
fn encode(args: &TxFile, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    let tx = file::read(&args.path, streams.stdin)?;
    streams.print(&(STANDARD.encode(tx.encode_to_vec()) + "\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a transaction of which only the bytes are there.
fn decode(args: &Encoded, common: &TxArgs, streams: &mut Streams<'_>) -> anyhow::Result<ExitCode> {
    let bytes = match args.hex {
        true => hex::decode(args.bytes.trim()).context("these are no hexadecimal digits")?,
        false => STANDARD.decode(args.bytes.trim()).context("this is not base64")?,
    };
    Tx::decode(bytes.as_slice()).context("these are not the bytes of a transaction")?;
    send::print(&file::signed(&SignedTx::from_raw(bytes))?, common.output, streams)
}
