//! The answer of `block_results`.

use std::borrow::Cow;

use akash_types::Address;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::event;
use crate::follow::block::{BlockEffects, BlockEvent, TxOutcome, TxPlace, TxSigner};

/// Reads the `result` of `block_results`.
pub fn read_results(json: &str) -> Result<(u64, BlockEffects), serde_json::Error> {
    let Results { height, effects } = serde_json::from_str(json)?;
    Ok((height, effects))
}

/// The answer, read.
pub(crate) struct Results {
    pub(crate) height: u64,
    pub(crate) effects: BlockEffects,
}

impl<'de> Deserialize<'de> for Results {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        let height = wire.height.parse();
        let height = height.map_err(|_| serde::de::Error::custom("height must be a number"))?;
        Ok(Self { height, effects: wire.into_effects() })
    }
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    height: Cow<'a, str>,
    #[serde(borrow, default)]
    txs_results: Option<Vec<WireTx<'a>>>,
    #[serde(borrow, default)]
    finalize_block_events: Option<Vec<WireEvent<'a>>>,
}

#[derive(Deserialize)]
struct WireTx<'a> {
    #[serde(default)]
    code: u32,
    #[serde(default)]
    codespace: String,
    #[serde(default)]
    log: String,
    #[serde(borrow, default)]
    gas_wanted: Cow<'a, str>,
    #[serde(borrow, default)]
    gas_used: Cow<'a, str>,
    #[serde(borrow, default)]
    events: Option<Vec<WireEvent<'a>>>,
}

/// An event whose attributes are left as text until somebody wants them.
#[derive(Deserialize)]
struct WireEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    attributes: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Attribute<'a> {
    #[serde(borrow)]
    pub(super) key: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) value: Option<Cow<'a, str>>,
}

impl<'a> WireEvent<'a> {
    /// The attributes; `None` if they are not a list of texts.
    fn attributes(&self) -> Option<Vec<Attribute<'a>>> {
        self.attributes.map_or(Some(Vec::new()), |raw| serde_json::from_str(raw.get()).ok())
    }
}

impl Wire<'_> {
    fn into_effects(self) -> BlockEffects {
        let mut effects = BlockEffects::default();
        let txs = self.txs_results.unwrap_or_default();
        effects.txs.reserve_exact(txs.len());
        for (index, tx) in (0..).zip(txs) {
            let place = TxPlace { index, code: tx.code };
            let mut outcome = TxOutcome {
                code: tx.code,
                codespace: tx.codespace,
                log: tx.log,
                gas_wanted: tx.gas_wanted.parse().unwrap_or_default(),
                gas_used: tx.gas_used.parse().unwrap_or_default(),
                ..TxOutcome::default()
            };
            for event in tx.events.unwrap_or_default() {
                match event.kind.as_ref() {
                    "tx" => outcome.read(&event),
                    _ => effects.read(&event, Some(place)),
                }
            }
            effects.txs.push(outcome);
        }
        for event in self.finalize_block_events.unwrap_or_default() {
            effects.read(&event, None);
        }
        effects
    }
}

impl BlockEffects {
    fn read(&mut self, event: &WireEvent<'_>, tx: Option<TxPlace>) {
        let Some(kind) = event::Kind::of(&event.kind) else { return };
        let read = event.attributes().and_then(|attributes| kind.read(&attributes));
        match read {
            Some(event) => self.events.push(BlockEvent { tx, event }),
            None => self.unreadable = self.unreadable.saturating_add(1),
        }
    }
}

impl TxOutcome {
    fn read(&mut self, event: &WireEvent<'_>) {
        for Attribute { key, value } in event.attributes().unwrap_or_default() {
            let Some(value) = value else { continue };
            match key.as_ref() {
                "acc_seq" => self.signers.extend(signer(&value)),
                "signature" => self.signatures.push(value.into_owned()),
                _ => {}
            }
        }
    }
}

/// `address/sequence`.
fn signer(text: &str) -> Option<TxSigner> {
    let (address, sequence) = text.split_once('/')?;
    Some(TxSigner { address: address.parse::<Address>().ok()?, sequence: sequence.parse().ok()? })
}
