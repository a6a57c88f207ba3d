//! A chain with one account, one mempool, and messages that can fail.

use std::collections::{BTreeMap, BTreeSet};

use akash_types::{Action, BidId, DeploymentId, Intent, IntentId, LeaseId, Wanted};

use super::super::{LaneBlock, OurTx, TxOutcome};
use super::build::bid;
use crate::tx::Refusal;

pub(super) type Signature = Vec<u8>;

#[derive(Clone, Debug)]
pub(super) struct ModelTx {
    pub(super) sequence: u64,
    pub(super) signature: Signature,
    pub(super) timeout_height: u64,
    pub(super) intents: Vec<IntentId>,
}

#[derive(Default)]
pub(super) struct Chain {
    pub(super) height: u64,
    pub(super) committed: u64,
    pub(super) mempool: Vec<ModelTx>,
    pub(super) intents: BTreeMap<IntentId, Intent>,
    pub(super) closed_orders: BTreeSet<u64>,
    /// Bids that were there from the start, and those created: height, and height of the close.
    bids: BTreeMap<BidId, (u64, Option<u64>)>,
    withdrawals: BTreeMap<LeaseId, Vec<u64>>,
    settled: BTreeMap<DeploymentId, u64>,
    /// How often the message of an intent took effect, and where.
    pub(super) executed: BTreeMap<IntentId, Vec<u64>>,
    /// What is in blocks, by signature.
    pub(super) included: BTreeMap<Signature, (u64, TxOutcome)>,
}

impl Chain {
    pub(super) fn open_bid(&mut self, dseq: u64) {
        self.bids.insert(bid(dseq), (0, None));
    }

    /// The sequence that the mempool waits for.
    pub(super) fn pending(&self) -> u64 {
        self.mempool.last().map_or(self.committed, |tx| tx.sequence + 1)
    }

    pub(super) fn check(&mut self, tx: ModelTx) -> Result<(), Refusal> {
        let (expected, got) = (self.pending(), tx.sequence);
        if self.mempool.iter().any(|other| other.signature == tx.signature)
            || self.included.contains_key(&tx.signature)
        {
            return Err(refusal("sdk", 19, String::new()));
        }
        if self.height > tx.timeout_height {
            return Err(refusal("sdk", 30, String::new()));
        }
        if expected != got {
            return Err(mismatch(expected, got));
        }
        self.mempool.push(tx);
        Ok(())
    }

    /// A foreign transaction of the same account, behind those that wait.
    pub(super) fn foreign(&mut self, number: u64) {
        let sequence = self.pending();
        let signature = format!("foreign {number}").into_bytes();
        let tx = ModelTx { sequence, signature, timeout_height: u64::MAX, intents: Vec::new() };
        self.mempool.push(tx);
    }

    /// Loses transaction `index` of the mempool, and with it those behind.
    pub(super) fn lose(&mut self, index: usize) {
        if index < self.mempool.len() {
            self.mempool.remove(index);
            self.recheck();
        }
    }

    /// Makes a block; `first` is a foreign transaction that no mempool of ours ever saw.
    pub(super) fn block(&mut self, first: Option<Signature>, most: usize) -> LaneBlock {
        self.height += 1;
        let mut txs = Vec::new();
        if let Some(signature) = first {
            let result = TxOutcome { refusal: None, gas_used: 1 };
            txs.push(OurTx { sequence: self.committed, signature, result });
            self.committed += 1;
        }
        let most = most.min(self.mempool.len());
        for tx in self.mempool.drain(..most).collect::<Vec<_>>() {
            // What fails before its messages leaves no trace that could be recognised.
            if tx.sequence != self.committed || self.height > tx.timeout_height {
                continue;
            }
            self.committed += 1;
            let result = TxOutcome { refusal: self.deliver(&tx).err(), gas_used: 100_000 };
            self.included.insert(tx.signature.clone(), (self.height, result.clone()));
            txs.push(OurTx { sequence: tx.sequence, signature: tx.signature, result });
        }
        self.recheck();
        LaneBlock { height: self.height, unix_time: self.height * 6, txs }
    }

    fn recheck(&mut self) {
        let mut expected = self.committed;
        let height = self.height;
        self.mempool.retain(|tx| {
            let keep = tx.sequence == expected && height <= tx.timeout_height;
            expected += u64::from(keep);
            keep
        });
    }

    /// All messages or none.
    fn deliver(&mut self, tx: &ModelTx) -> Result<(), Refusal> {
        let before = (self.bids.clone(), self.withdrawals.clone(), self.settled.clone());
        for (index, id) in tx.intents.iter().enumerate() {
            if let Err(error) = self.execute(*id, self.height) {
                (self.bids, self.withdrawals, self.settled) = before;
                return Err(at(error, index));
            }
        }
        for id in &tx.intents {
            self.executed.entry(*id).or_default().push(self.height);
        }
        Ok(())
    }

    /// What simulation says: on the state of the last block.
    pub(super) fn simulate(&self, sequence: u64, intents: &[IntentId]) -> Result<(), Refusal> {
        if self.pending() != sequence {
            return Err(mismatch(self.pending(), sequence));
        }
        let mut copy = Self {
            height: self.height,
            intents: self.intents.clone(),
            closed_orders: self.closed_orders.clone(),
            bids: self.bids.clone(),
            withdrawals: self.withdrawals.clone(),
            settled: self.settled.clone(),
            ..Self::default()
        };
        for (index, id) in intents.iter().enumerate() {
            copy.execute(*id, self.height).map_err(|error| at(error, index))?;
        }
        Ok(())
    }

    fn execute(&mut self, id: IntentId, height: u64) -> Result<(), Refusal> {
        match self.intents[&id].action.clone() {
            Action::CreateBid(offer) => {
                let dseq = offer.id.dseq();
                if self.closed_orders.contains(&dseq) {
                    return Err(refusal("market", 24, "order closed".to_owned()));
                }
                if dseq % 19 == 0 {
                    return Err(panic("recovered: invalid coin denominations"));
                }
                if self.bids.contains_key(&offer.id) {
                    return Err(refusal("market", 21, "bid exists".to_owned()));
                }
                self.bids.insert(offer.id, (height, None));
            }
            Action::CloseBid { bid, .. } => match self.bids.get_mut(&bid) {
                Some((_, closed @ None)) => {
                    *closed = Some(height);
                    self.settled.insert(bid.deployment_id(), height);
                }
                Some(_) => return Err(refusal("market", 8, "unknown lease".to_owned())),
                None => return Err(refusal("market", 6, "unknown bid".to_owned())),
            },
            Action::Withdraw { lease } => {
                if self.settled.insert(lease.deployment_id(), height) == Some(height) {
                    return Err(panic("recovered: couldn't find payment"));
                }
                self.withdrawals.entry(lease).or_default().push(height);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether a state held after the block at `height`.
    pub(super) fn holds(&self, wanted: &Wanted, height: u64) -> bool {
        match wanted {
            Wanted::Bid(bid) => self.bids.get(bid).is_some_and(|(created, _)| *created <= height),
            Wanted::BidOver(bid) => match self.bids.get(bid) {
                None => true,
                Some((created, closed)) => {
                    *created > height || closed.is_some_and(|closed| closed <= height)
                }
            },
            Wanted::Withdrawn { lease, since } => {
                let heights = self.withdrawals.get(lease);
                heights.into_iter().flatten().any(|at| at >= since && *at <= height)
            }
            other => panic!("nobody asks for {other:?}"),
        }
    }
}

pub(super) fn refusal(codespace: &str, code: u32, log: String) -> Refusal {
    Refusal { codespace: codespace.to_owned(), code, log }
}

fn mismatch(expected: u64, got: u64) -> Refusal {
    refusal("sdk", 32, format!("account sequence mismatch, expected {expected}, got {got}: no"))
}

fn panic(text: &str) -> Refusal {
    refusal("sdk", 111_222, text.to_owned())
}

/// A panic does not say where.
fn at(error: Refusal, index: usize) -> Refusal {
    if error.code == 111_222 {
        return error;
    }
    let log = format!("failed to execute message; message index: {index}: {}", error.log);
    Refusal { log, ..error }
}
