//! `query block`, `query tx` and `query txs`: what a node keeps of blocks.

use akash_chain::query::{TxFound, TxHash};
use akash_proto::cosmos::tx::v1beta1::{AuthInfo, TxBody, TxRaw};
use anyhow::Context;
use clap::Args;
use prost::Message;
use prost_types::Timestamp;
use serde::Deserialize;

use super::Found;
use crate::chain::Network;
use crate::commands::tx::response_document;
use crate::output::{Document, tables};
use akash_json as proto_json;

const BLOCK_HELP: &str = "\
Examples:
  provider-services query block
  provider-services query block 101 -o json";

const TX_HELP: &str = "\
Examples:
  provider-services query tx 08741814A8484F3A3973BE1F50467753A6171F296B7E2D26176EC0C5B2CBBE09";

const TXS_HELP: &str = "\
Examples:
  provider-services query txs --query \"message.sender='akash1…'\" -o table
  provider-services query txs --query \"tx.height=101\" --limit 10";

#[derive(Debug, Args)]
#[command(after_help = BLOCK_HELP)]
pub(super) struct Block {
    /// Its height [default: the newest]
    #[arg(value_name = "HEIGHT")]
    at: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = TX_HELP)]
pub(super) struct Tx {
    /// Its hash
    hash: TxHash,
}

#[derive(Debug, Args)]
#[command(after_help = TXS_HELP)]
pub(super) struct Txs {
    /// What they did, as CometBFT searches for it
    #[arg(long, value_name = "QUERY")]
    query: String,
    /// Which page of --limit transactions, from 1
    #[arg(long, value_name = "N", default_value_t = 1)]
    page: u64,
    /// How many at most
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u64,
    /// In which order: asc or desc
    #[arg(long, value_parser = ["asc", "desc"], default_value = "asc")]
    order_by: String,
}

impl Block {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        let height = self.at.map(|height| height.to_string());
        let params = match &height {
            Some(height) => serde_json::json!({ "height": height }),
            None => serde_json::json!({}),
        };
        let block = network.node().rpc().call::<serde_json::Value>("block", &params).await;
        Ok(Found::one(block.context("cannot read the block")?.into()))
    }
}

impl Tx {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        let hash = self.hash;
        let found = network.node().tx(hash).await?;
        let found = found.with_context(|| format!("the node knows no transaction {hash}"))?;
        let time = network.node().block(found.height).await.ok().map(|block| block.time);
        let time = time.map(|time| Timestamp::from(time).to_string()).unwrap_or_default();
        Ok(Found::one(document(&found, &time)))
    }
}

#[derive(Deserialize)]
struct Search {
    txs: Vec<TxFound>,
    total_count: String,
}

impl Txs {
    pub(super) async fn ask(&self, network: &Network) -> anyhow::Result<Found> {
        let params = serde_json::json!({
            "query": self.query,
            "prove": false,
            "page": self.page.to_string(),
            "per_page": self.limit.to_string(),
            "order_by": self.order_by,
        });
        let search = network.node().rpc().call::<Search>("tx_search", &params).await;
        let search = search.context("cannot search for transactions")?;
        let total: u64 = search.total_count.parse().context("the node's count is no number")?;
        let number = |number: u64| Document::text(number.to_string());
        let count = u64::try_from(search.txs.len()).unwrap_or(u64::MAX);
        let txs = search.txs.iter().map(|found| document(found, "")).collect();
        let answer = Document::map([
            ("total_count", number(total)),
            ("count", number(count)),
            ("page_number", number(self.page)),
            ("page_total", number(total.div_ceil(self.limit.max(1)))),
            ("limit", number(self.limit)),
            ("txs", Document::List(txs)),
        ]);
        Ok(Found::list(answer, tables::transactions))
    }
}

/// A result with its transaction and its time.
fn document(found: &TxFound, time: &str) -> Document {
    let mut document = response_document(found.hash, found.height, &found.result);
    if let Document::Map(entries) = &mut document {
        for (key, value) in entries {
            match key.as_str() {
                "tx" => *value = transaction(&found.raw).unwrap_or(Document::Null),
                "timestamp" => *value = Document::text(time),
                _ => {}
            }
        }
    }
    document
}

/// A raw transaction as JSON; `None` where it is none.
fn transaction(raw: &[u8]) -> Option<Document> {
    let raw = TxRaw::decode(raw).ok()?;
    let body = TxBody::decode(raw.body_bytes.as_slice()).ok()?;
    let auth_info = AuthInfo::decode(raw.auth_info_bytes.as_slice()).ok()?;
    let signatures = raw.signatures.iter().map(|signature| proto_json::base64_text(signature));
    Some(Document::map([
        ("@type", Document::text("/cosmos.tx.v1beta1.Tx")),
        ("body", proto_json::message(&body).ok()?),
        ("auth_info", proto_json::message(&auth_info).ok()?),
        ("signatures", Document::List(signatures.collect())),
    ]))
}
