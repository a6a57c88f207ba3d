//! From messages to the result of a block: price, confirm, sign, broadcast, print.

use std::process::ExitCode;

use akash_chain::query::Event;
use akash_chain::tx::{Broadcast, Fee, Message, SignedTx, TxHash, TxResult};
use akash_keys::AccountKey;
use anyhow::{Context, bail};

use super::args::{Gas, TxFormat};
use super::file;
use super::session::Session;
use crate::chain::{AccountSigner, Maker, Turn, broadcast_in_turn, next_turn};
use crate::console::Streams;
use crate::output::Document;

/// Does with the messages what flags say.
pub(super) async fn send(
    session: &Session<'_>,
    messages: &[Message],
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let args = session.args;
    if args.generate_only {
        let fee = generated_fee(session, messages).await?;
        let document = file::document(session, messages, &fee)?;
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
    let maker = maker(session)?;
    let fee = maker.fee(limit)?;
    if !args.yes {
        let document = file::document(session, messages, &fee)?;
        streams.tell(&format!("{}\n\n", document.to_json()));
        let question = "confirm transaction before signing and broadcasting";
        if !streams.console.confirms(question)? {
            bail!("transaction canceled: nothing was sent");
        }
    }
    let signed = |turn| maker.sign(messages, &fee, &signer, turn);
    if args.offline {
        let document = file::signed(&signed(turn)?)?;
        return print(&document, args.output, streams);
    }
    let network = session.network("nothing can be broadcast")?;
    let mode = args.broadcast_mode.into();
    let (tx, outcome) = broadcast_in_turn(network, mode, turn, signed).await?;
    report(&tx, &outcome, args.output, streams)
}

/// Prints what became of a transaction.
pub(super) fn report(
    tx: &SignedTx,
    outcome: &Broadcast,
    format: TxFormat,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    print(&document(tx.hash(), outcome), format, streams)?;
    match outcome.refusal() {
        None => Ok(ExitCode::SUCCESS),
        Some(refusal) => {
            Err(anyhow::Error::new(refusal).context(format!("transaction {} failed", tx.hash())))
        }
    }
}

pub(super) fn chain_id<'a>(session: &Session<'a>) -> anyhow::Result<&'a str> {
    let given = session.args.chain_id.as_deref().filter(|id| !id.is_empty());
    given.context("--chain-id is missing: a signature is for one chain only")
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
    let due = next_turn(network, session.from()).await?;
    Ok(Turn {
        number: args.account_number.unwrap_or(due.number),
        sequence: args.sequence.unwrap_or(due.sequence),
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
    maker(session)?.gas(network, messages, signer, turn).await
}

/// How this session's transactions are made.
fn maker<'a>(session: &'a Session<'_>) -> anyhow::Result<Maker<'a>> {
    let args = session.args;
    Ok(Maker {
        // A simulation does not look at the chain id, but nothing is built without one.
        chain_id: args.chain_id.as_deref().filter(|id| !id.is_empty()).unwrap_or("-"),
        fees: args.fee_rule()?,
        adjustment: args.gas_adjustment,
        granter: args.fee_granter,
        memo: &args.note,
        timeout_height: args.timeout_height,
    })
}

async fn generated_fee(session: &Session<'_>, messages: &[Message]) -> anyhow::Result<Fee> {
    let limit = match session.args.gas {
        Gas::Limit(limit) => limit,
        Gas::Auto => {
            session.network("--gas auto needs a node to simulate; give --gas a number")?;
            let signer = simulating_signer(session).await?;
            gas(session, messages, &signer, turn(session).await?).await?.0
        }
    };
    maker(session)?.fee(limit)
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

/// The result, with nothing left out.
pub(crate) fn document(hash: TxHash, outcome: &Broadcast) -> Document {
    let nothing = TxResult::default();
    match outcome {
        Broadcast::Pending => response_document(hash, 0, &nothing),
        Broadcast::Delivered { height, result } => response_document(hash, *height, result),
        Broadcast::Refused(refusal) => {
            let result = TxResult {
                code: refusal.code,
                codespace: refusal.codespace.clone(),
                log: refusal.log.clone(),
                ..nothing
            };
            response_document(hash, 0, &result)
        }
    }
}

pub(crate) fn response_document(hash: TxHash, height: u64, result: &TxResult) -> Document {
    Document::map([
        ("height", Document::text(height.to_string())),
        ("txhash", Document::text(hash.to_string())),
        ("codespace", Document::text(&result.codespace)),
        ("code", Document::number(result.code)),
        ("data", Document::text(hex::encode_upper(&result.data))),
        ("raw_log", Document::text(&result.log)),
        ("logs", Document::List(Vec::new())),
        ("info", Document::text("")),
        ("gas_wanted", Document::text(result.gas_wanted.to_string())),
        ("gas_used", Document::text(result.gas_used.to_string())),
        ("tx", Document::Null),
        ("timestamp", Document::text("")),
        ("events", Document::List(result.events.iter().map(event).collect())),
    ])
}

fn event(event: &Event) -> Document {
    let attributes = event.attributes.iter().map(|(key, value)| {
        Document::map([
            ("key", Document::text(key)),
            ("value", Document::text(value)),
            // Nodes index all of them.
            ("index", Document::Bool(true)),
        ])
    });
    Document::map([
        ("type", Document::text(&event.kind)),
        ("attributes", Document::List(attributes.collect())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_printed_as_the_go_program_does() {
        let printed = include_str!("../../../../../fixtures/chain/bid-101-cli.json").trim_end();
        let parsed: serde_json::Value = serde_json::from_str(printed).unwrap();
        let text = |name: &str| parsed[name].as_str().unwrap().to_owned();
        let result = TxResult {
            gas_wanted: text("gas_wanted").parse().unwrap(),
            gas_used: text("gas_used").parse().unwrap(),
            events: serde_json::from_value(parsed["events"].clone()).unwrap(),
            data: hex::decode(text("data")).unwrap(),
            ..TxResult::default()
        };
        let document = response_document(text("txhash").parse().unwrap(), 102, &result);
        assert_eq!(document.to_json(), printed);
    }
}
