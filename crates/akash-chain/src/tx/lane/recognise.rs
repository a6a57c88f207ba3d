//! The account's own transactions in the results of a block.

use std::time::UNIX_EPOCH;

use akash_types::Address;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::super::Refusal;
use super::input::{LaneBlock, OurTx, TxOutcome};
use crate::follow::{FollowedBlock, TxOutcome as FollowedTx};
use crate::query::{BlockResults, Event, TxResult};

impl LaneBlock {
    /// What a block did with transactions of `account`. Every transaction that got as far as its
    /// messages says whose sequence it used, also one that failed; one that did not used none.
    pub fn of(results: &BlockResults, unix_time: u64, account: Address) -> Self {
        let prefix = format!("{account}/");
        let txs = results.txs.iter().filter_map(|result| ours(result, &prefix)).collect();
        Self { height: results.height, unix_time, txs }
    }

    /// The same of a block that was followed.
    pub fn of_followed(block: &FollowedBlock, account: Address) -> Self {
        let since = block.time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let txs = block.effects.txs.iter().filter_map(|tx| followed(tx, account)).collect();
        Self { height: block.height, unix_time: since.as_secs(), txs }
    }
}

fn followed(tx: &FollowedTx, account: Address) -> Option<OurTx> {
    let place = tx.signers.iter().position(|signer| signer.address == account)?;
    let sequence = tx.signers.get(place)?.sequence;
    // A transaction with a signature that cannot be read used its sequence up all the same.
    let signature = tx.signatures.get(place).and_then(|text| STANDARD.decode(text).ok());
    let refusal = (!tx.is_ok()).then(|| Refusal {
        codespace: tx.codespace.clone(),
        code: tx.code,
        log: tx.log.clone(),
    });
    let result = TxOutcome { refusal, gas_used: tx.gas_used };
    Some(OurTx { sequence, signature: signature.unwrap_or_default(), result })
}

fn ours(result: &TxResult, prefix: &str) -> Option<OurTx> {
    let mut values = result.events.iter().filter(|event| event.kind == "tx");
    let sequence = values
        .find_map(|event| event.attribute("acc_seq")?.strip_prefix(prefix)?.parse::<u64>().ok())?;
    // The signature of a signer follows its sequence.
    let signature = values.find_map(|event: &Event| event.attribute("signature"))?;
    let refusal = (!result.is_ok()).then(|| Refusal {
        codespace: result.codespace.clone(),
        code: result.code,
        log: result.log.clone(),
    });
    Some(OurTx {
        sequence,
        signature: STANDARD.decode(signature).ok()?,
        result: TxOutcome { refusal, gas_used: result.gas_used },
    })
}
