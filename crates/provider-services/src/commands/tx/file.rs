//! A transaction in a file, as `--generate-only` and `tx sign` print it.

use std::fs::File;
use std::io;
use std::io::Read;
use std::path::Path;

use akash_chain::tx::{Fee, Message, SignedTx};
use akash_json as proto_json;
use akash_proto::cosmos::tx::v1beta1::{AuthInfo, Tx, TxBody, TxRaw};
use anyhow::Context;
use prost::Message as _;

use super::session::Session;
use crate::output::{Document, printable};

/// A node takes none that is longer on the wire.
const MAX_BYTES: u64 = 4 << 20;

/// Reads a transaction from a file, or from standard input where the path is `-`.
pub(super) fn read(path: &Path, stdin: &mut dyn Read) -> anyhow::Result<Tx> {
    let name = match path.as_os_str() == "-" {
        true => "standard input".to_owned(),
        false => printable(&path.to_string_lossy()),
    };
    let text = text(path, stdin).with_context(|| format!("cannot read {name}"))?;
    parse(&text).with_context(|| format!("{name} is not a transaction as --generate-only prints"))
}

fn text(path: &Path, stdin: &mut dyn Read) -> io::Result<String> {
    let mut text = String::new();
    let limit = MAX_BYTES.saturating_add(1);
    match path.as_os_str() == "-" {
        true => stdin.take(limit).read_to_string(&mut text)?,
        false => File::open(path)?.take(limit).read_to_string(&mut text)?,
    };
    match u64::try_from(text.len()) {
        Ok(..=MAX_BYTES) => Ok(text),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

fn parse(text: &str) -> anyhow::Result<Tx> {
    let mut json: serde_json::Value = serde_json::from_str(text)?;
    // What `query tx` prints says what it is.
    if let Some(entries) = json.as_object_mut()
        && entries.get("@type").is_some_and(|kind| kind == "/cosmos.tx.v1beta1.Tx")
    {
        entries.remove("@type");
    }
    let tx: Tx = proto_json::read(&json)?;
    tx.body.as_ref().context("\"body\" is missing")?;
    Ok(tx)
}

/// A transaction without signature, for whoever signs elsewhere.
pub(super) fn document(
    session: &Session<'_>,
    messages: &[Message],
    fee: &Fee,
) -> anyhow::Result<Document> {
    let body = TxBody {
        messages: messages.iter().map(|message| message.as_any().clone()).collect(),
        memo: session.args.note.clone(),
        timeout_height: session.args.timeout_height,
        ..TxBody::default()
    };
    let auth_info = AuthInfo { fee: Some(fee.into()), ..AuthInfo::default() };
    Ok(Document::map([
        ("body", proto_json::message(&body)?),
        ("auth_info", proto_json::message(&auth_info)?),
        ("signatures", Document::List(Vec::new())),
    ]))
}

pub(super) fn signed(tx: &SignedTx) -> anyhow::Result<Document> {
    let raw = TxRaw::decode(tx.raw())?;
    let body = TxBody::decode(raw.body_bytes.as_slice())?;
    let auth_info = AuthInfo::decode(raw.auth_info_bytes.as_slice())?;
    let signatures =
        raw.signatures.iter().map(|signature| proto_json::base64_text(signature)).collect();
    Ok(Document::map([
        ("body", proto_json::message(&body)?),
        ("auth_info", proto_json::message(&auth_info)?),
        ("signatures", Document::List(signatures)),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_has_a_body_and_nothing_unknown() {
        let body = r#"{"body":{"messages":[],"memo":"hello"},"auth_info":null,"signatures":[]}"#;
        assert_eq!(parse(body).unwrap().body.unwrap().memo, "hello");
        let queried = r#"{"@type":"/cosmos.tx.v1beta1.Tx","body":{}}"#;
        assert!(parse(queried).is_ok());
        for wrong in ["", "[]", "{}", r#"{"body":{"memos":""}}"#, r#"{"body":{},"@type":"x"}"#] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_more_is_read_than_a_node_would_take() {
        let error = read(Path::new("-"), &mut io::repeat(b' ')).unwrap_err();
        assert!(format!("{error:#}").contains("cannot read standard input"), "{error:#}");
    }
}
