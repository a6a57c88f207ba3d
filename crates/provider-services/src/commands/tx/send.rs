//! From messages to the result of a block: price, confirm, sign, broadcast, print.

use std::process::ExitCode;

use akash_chain::keys::AccountKey;
use akash_chain::tx::{
    Broadcast, Fee, Message, RefusalKind, SignedTx, SimulateError, TxPlan, Unsigned, Wait,
    broadcast, simulate,
};
use anyhow::{Context, bail};

use super::args::{Gas, TxFormat};
use super::session::Session;
use super::{response, unsigned};
use crate::chain::AccountSigner;
use crate::output::Document;
use crate::streams::Streams;

/// Gas for which the fee of a simulated transaction is computed: the fee only has to be there.
const ASSUMED_GAS: u64 = 200_000;

/// Number and sequence of the sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) number: u64,
    pub(super) sequence: u64,
    /// Whether the sequence may be another one, because nobody asked for this one.
    free: bool,
}

/// Does with the messages what flags say.
///
/// # Errors
///
/// When nothing could be sent. A transaction that was sent and refused is printed, and told.
pub(super) async fn send(
    session: &Session<'_>,
    messages: &[Message],
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let args = session.args;
    if args.generate_only {
        let fee = generated_fee(session, messages).await?;
        let document = unsigned::document(session, messages, &fee)?;
        return print(&document, args.output, streams);
    }
    if args.dry_run {
        let signer = simulating_signer(session).await?;
        let (gas, _) = gas(session, messages, &signer, turn(session).await?).await?;
        streams.tell(&format!("gas estimate: {gas}\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let signer = AccountSigner::new(session.account.secret()?);
    chain_id(session)?;
    let (limit, turn) = gas(session, messages, &signer, turn(session).await?).await?;
    let fee = fee(session, limit)?;
    if !args.yes {
        let document = unsigned::document(session, messages, &fee)?;
        streams.tell(&format!("{}\n\n", document.to_json()));
        let question = "confirm transaction before signing and broadcasting";
        if !streams.console.confirms(question)? {
            bail!("transaction canceled: nothing was sent");
        }
    }
    let signed = |turn| sign(session, messages, &fee, &signer, turn);
    if args.offline {
        let document = unsigned::signed(&signed(turn)?)?;
        return print(&document, args.output, streams);
    }
    let (tx, outcome) = broadcast_once_or_twice(session, signed, turn).await?;
    report(&tx, &outcome, args.output, streams)
}

/// Prints what became of a transaction.
///
/// # Errors
///
/// When it failed.
pub(super) fn report(
    tx: &SignedTx,
    outcome: &Broadcast,
    format: TxFormat,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    print(&response::document(tx.hash(), outcome), format, streams)?;
    match outcome.refusal() {
        None => Ok(ExitCode::SUCCESS),
        Some(refusal) => {
            Err(anyhow::Error::new(refusal).context(format!("transaction {} failed", tx.hash())))
        }
    }
}

/// The chain to sign for.
pub(super) fn chain_id<'a>(session: &Session<'a>) -> anyhow::Result<&'a str> {
    let given = session.args.chain_id.as_deref().filter(|id| !id.is_empty());
    given.context("--chain-id is missing: a signature is for one chain only")
}

/// Sends; once more if others of this account were faster and the node says which sequence is due.
async fn broadcast_once_or_twice(
    session: &Session<'_>,
    signed: impl Fn(Turn) -> anyhow::Result<SignedTx>,
    turn: Turn,
) -> anyhow::Result<(SignedTx, Broadcast)> {
    let network = session.network("nothing can be broadcast")?;
    let mode = session.args.broadcast_mode.into();
    let tx = signed(turn)?;
    let outcome = broadcast(network.node(), &tx, mode, Wait::default()).await?;
    let due = outcome
        .refusal()
        .filter(|refusal| refusal.kind() == RefusalKind::WrongSequence && turn.free)
        .and_then(|refusal| refusal.sequence_mismatch());
    let Some(due) = due else { return Ok((tx, outcome)) };
    let tx = signed(Turn { sequence: due.expected, ..turn })?;
    let outcome = broadcast(network.node(), &tx, mode, Wait::default()).await?;
    Ok((tx, outcome))
}

pub(super) fn print(
    document: &Document,
    format: TxFormat,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    streams.print(&match format {
        TxFormat::Json => document.to_json() + "\n",
        TxFormat::Text => document.to_yaml(),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Number and sequence, from flags or else from the chain.
pub(super) async fn turn(session: &Session<'_>) -> anyhow::Result<Turn> {
    let args = session.args;
    if let (Some(number), Some(sequence)) = (args.account_number, args.sequence) {
        return Ok(Turn { number, sequence, free: false });
    }
    let network = session.network("give --account-number and --sequence")?;
    let address = session.from();
    let account = network.query().account(address).await?.value;
    let account = account.with_context(|| {
        format!("account {address} is not on chain yet: it must receive something first")
    })?;
    Ok(Turn {
        number: args.account_number.unwrap_or(account.number),
        sequence: args.sequence.unwrap_or(account.sequence),
        free: args.sequence.is_none(),
    })
}

/// The gas limit, and the turn with the sequence that the simulation found to be due.
async fn gas(
    session: &Session<'_>,
    messages: &[Message],
    signer: &AccountSigner,
    turn: Turn,
) -> anyhow::Result<(u64, Turn)> {
    if let (Gas::Limit(limit), false) = (session.args.gas, session.args.dry_run) {
        return Ok((limit, turn));
    }
    let network = session.network("--gas auto needs a node to simulate; give --gas a number")?;
    // A simulation does not look at the chain id, but nothing is built without one.
    let chain_id = session.args.chain_id.as_deref().filter(|id| !id.is_empty()).unwrap_or("-");
    let fee = fee(session, ASSUMED_GAS)?;
    let mut turn = turn;
    let mut again = turn.free;
    loop {
        let plan = plan(session, chain_id, messages, &fee, turn);
        let raw = Unsigned::new(&plan, signer)?.to_simulate();
        match simulate(network.query(), raw).await {
            Ok(simulation) => {
                let limit = session.args.gas_adjustment.apply(simulation.gas_used)?;
                return Ok((limit, turn));
            }
            Err(SimulateError::Refused(refusal))
                if again && refusal.sequence_mismatch.is_some() =>
            {
                // Others of this account wait to be included.
                let due = refusal.sequence_mismatch.map(|mismatch| mismatch.expected);
                turn.sequence = due.unwrap_or(turn.sequence);
                again = false;
            }
            Err(error) => return Err(anyhow::Error::new(error).context("nothing was sent")),
        }
    }
}

fn fee(session: &Session<'_>, gas_limit: u64) -> anyhow::Result<Fee> {
    let amount = session.args.fee_rule()?.fee(gas_limit)?;
    Ok(Fee { amount, gas_limit, granter: session.args.fee_granter })
}

/// The fee of a transaction that is only generated.
async fn generated_fee(session: &Session<'_>, messages: &[Message]) -> anyhow::Result<Fee> {
    let limit = match session.args.gas {
        Gas::Limit(limit) => limit,
        Gas::Auto => {
            session.network("--gas auto needs a node to simulate; give --gas a number")?;
            let signer = simulating_signer(session).await?;
            gas(session, messages, &signer, turn(session).await?).await?.0
        }
    };
    fee(session, limit)
}

/// Somebody to simulate as: a signature is not needed, a public key is.
async fn simulating_signer(session: &Session<'_>) -> anyhow::Result<AccountSigner> {
    let address = session.from();
    if let Some(key) = session.account.public_key() {
        return Ok(AccountSigner::only_public(address, key));
    }
    let network = session.network("give --gas a number")?;
    let account = network.query().account(address).await?.value;
    match account.and_then(|account| account.public_key) {
        Some(AccountKey::Secp256k1(key)) => Ok(AccountSigner::only_public(address, key.to_bytes())),
        _ => bail!("the public key of {address} is not known: give --gas a number"),
    }
}

fn plan<'a>(
    session: &'a Session<'_>,
    chain_id: &'a str,
    messages: &'a [Message],
    fee: &'a Fee,
    turn: Turn,
) -> TxPlan<'a> {
    TxPlan {
        chain_id,
        account_number: turn.number,
        sequence: turn.sequence,
        messages,
        fee,
        memo: &session.args.note,
        timeout_height: session.args.timeout_height,
    }
}

fn sign(
    session: &Session<'_>,
    messages: &[Message],
    fee: &Fee,
    signer: &AccountSigner,
    turn: Turn,
) -> anyhow::Result<SignedTx> {
    let chain_id = session.args.chain_id.as_deref().unwrap_or_default();
    Ok(Unsigned::new(&plan(session, chain_id, messages, fee, turn), signer)?.sign())
}
