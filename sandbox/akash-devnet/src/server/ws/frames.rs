//! What subscribers hear of a block.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::node::{Block, BlockLimits};
use crate::server::rpc::{
    Base64, BlockIdJson, BlockJson, EventJson, HeaderJson, ParamUpdates, Response, SparseResult,
    Text, TxResultJson,
};
use crate::state::Event;

use super::subscriptions::{Subscription, Subscriptions};

/// The frames of a block for the subscriptions of one client, in the order in which CometBFT
/// publishes: block, header, the block's own events, then each transaction.
pub(super) fn frames(
    block: &Block,
    limits: &BlockLimits,
    subscriptions: &Subscriptions,
) -> Vec<String> {
    let mut frames = Vec::new();
    for publication in publications(block) {
        let mut data = None;
        for subscription in subscriptions.iter() {
            if !publication.matches(subscription) {
                continue;
            }
            // Made once, and only if someone wants it.
            let data = data.get_or_insert_with(|| publication.data(block, limits));
            frames.extend(publication.frame(subscription, data.as_deref()));
        }
    }
    frames
}

#[derive(Clone, Copy)]
enum Kind {
    NewBlock,
    NewBlockHeader,
    NewBlockEvents,
    Tx(usize),
}

struct Publication<'a> {
    kind: Kind,
    tags: Vec<(&'static str, String)>,
    events: &'a [Event],
}

fn publications(block: &Block) -> Vec<Publication<'_>> {
    let of_block = |kind, name: &str, events| Publication {
        kind,
        tags: vec![("tm.event", name.to_owned())],
        events,
    };
    let mut all = vec![
        of_block(Kind::NewBlock, "NewBlock", block.events.as_slice()),
        of_block(Kind::NewBlockHeader, "NewBlockHeader", &[]),
        of_block(Kind::NewBlockEvents, "NewBlockEvents", &block.events),
    ];
    for (index, (hash, result)) in block.tx_hashes.iter().zip(&block.results).enumerate() {
        let tags = vec![
            ("tm.event", "Tx".to_owned()),
            ("tx.hash", hex::encode_upper(hash)),
            ("tx.height", block.height().to_string()),
        ];
        all.push(Publication { kind: Kind::Tx(index), tags, events: &result.events });
    }
    all
}

impl Publication<'_> {
    fn matches(&self, subscription: &Subscription) -> bool {
        let tags: Vec<(&str, &str)> =
            self.tags.iter().map(|(tag, value)| (*tag, value.as_str())).collect();
        subscription.query.matches(&tags, self.events)
    }

    fn frame(&self, subscription: &Subscription, data: Option<&RawValue>) -> Option<String> {
        let frame = Frame { query: &subscription.text, data: data?, events: self.event_values() };
        let result = serde_json::value::to_raw_value(&frame).ok()?;
        Some(Response::new(Some(subscription.id.clone()), Ok(result)).to_json())
    }

    /// All values of all attributes by their tag.
    fn event_values(&self) -> BTreeMap<String, Vec<&str>> {
        let mut values: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for event in self.events {
            for (key, value, _) in &event.attributes {
                values.entry(format!("{}.{key}", event.kind)).or_default().push(value);
            }
        }
        for (tag, value) in &self.tags {
            values.entry((*tag).to_owned()).or_default().push(value);
        }
        values
    }

    fn data(&self, block: &Block, limits: &BlockLimits) -> Option<Box<RawValue>> {
        match self.kind {
            Kind::NewBlock => data("NewBlock", &NewBlock::of(block, limits)),
            Kind::NewBlockHeader => {
                data("NewBlockHeader", &NewHeader { header: HeaderJson::of(&block.header) })
            }
            Kind::NewBlockEvents => data(
                "NewBlockEvents",
                &NewEvents {
                    height: Text(block.height()),
                    events: block.events.iter().map(EventJson::of).collect(),
                    num_txs: Text(block.txs.len()),
                },
            ),
            Kind::Tx(index) => {
                let (tx, _, result) = block.tx(index)?;
                data("Tx", &TxData { result: SparseResult::of(block, index, tx, result) })
            }
        }
    }
}

fn data(kind: &str, value: &impl Serialize) -> Option<Box<RawValue>> {
    let kind = format!("tendermint/event/{kind}");
    serde_json::value::to_raw_value(&Data { r#type: &kind, value }).ok()
}

#[derive(Serialize)]
struct Frame<'a> {
    query: &'a str,
    data: &'a RawValue,
    events: BTreeMap<String, Vec<&'a str>>,
}

#[derive(Serialize)]
struct Data<'a, T> {
    r#type: &'a str,
    value: &'a T,
}

#[derive(Serialize)]
struct NewHeader<'a> {
    header: HeaderJson<'a>,
}

#[derive(Serialize)]
struct NewEvents<'a> {
    height: Text<u64>,
    events: Vec<EventJson<'a>>,
    num_txs: Text<usize>,
}

#[derive(Serialize)]
struct TxData<'a> {
    #[serde(rename = "TxResult")]
    result: SparseResult<'a>,
}

#[derive(Serialize)]
struct NewBlock<'a> {
    block: BlockJson<'a>,
    block_id: BlockIdJson,
    result_finalize_block: FinalizeBlock<'a>,
}

#[derive(Serialize)]
struct FinalizeBlock<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<EventJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tx_results: Vec<TxResultJson<'a>>,
    validator_updates: Option<[(); 0]>,
    consensus_param_updates: ParamUpdates,
    app_hash: Base64<&'a [u8]>,
}

impl<'a> NewBlock<'a> {
    fn of(block: &'a Block, limits: &BlockLimits) -> Self {
        Self {
            block: BlockJson::of(block),
            block_id: BlockIdJson::of(Some(&block.id)),
            result_finalize_block: FinalizeBlock {
                events: block.events.iter().map(EventJson::of).collect(),
                tx_results: block.results.iter().map(TxResultJson::of).collect(),
                validator_updates: None,
                consensus_param_updates: ParamUpdates::of(limits),
                app_hash: Base64(&block.app_hash),
            },
        }
    }
}
