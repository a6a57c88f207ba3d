//! A transaction that is not sent, as JSON.

use akash_chain::tx::{Fee, Message, SignedTx};
use akash_proto::cosmos::tx::v1beta1::{AuthInfo, TxBody, TxRaw};
use prost::Message as _;

use super::session::Session;
use crate::output::Document;
use akash_json as proto_json;

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

/// A transaction with its signature.
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
