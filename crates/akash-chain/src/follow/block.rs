//! What the consumer gets.

use std::time::SystemTime;

use akash_types::{Address, ChainEvent};

use super::plan::Resync;

/// An item of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// The next block.
    Block(FollowedBlock),
    /// Blocks that are left out: ask for the state of the chain instead. The next block is the one
    /// after `to`.
    Resync(Resync),
}

/// A block and what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedBlock {
    /// Its height.
    pub height: u64,
    /// The time that validators agreed on.
    pub time: SystemTime,
    /// What it did.
    pub effects: BlockEffects,
}

/// What a block did, as far as a provider cares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockEffects {
    /// What happened, in order: transactions first, then what the block itself did.
    pub events: Vec<BlockEvent>,
    /// What became of each transaction, in order.
    pub txs: Vec<TxOutcome>,
    /// Events that have the name of one we know and cannot be read.
    pub unreadable: u32,
}

/// Something that happened in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockEvent {
    /// The transaction that did it; `None` for the block itself.
    pub tx: Option<TxPlace>,
    /// What happened.
    pub event: ChainEvent,
}

/// A transaction in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxPlace {
    /// Its place, from 0.
    pub index: u32,
    /// 0 if it succeeded. One that failed changed nothing but the fee and the sequence.
    pub code: u32,
}

/// What became of a transaction.
///
/// Whose it is shows in its signers. A transaction that was refused before its signatures were
/// looked at has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TxOutcome {
    /// 0 if it succeeded.
    pub code: u32,
    /// Module that refused it; empty if it succeeded.
    pub codespace: String,
    /// Why it failed.
    pub log: String,
    /// What it could use at most.
    pub gas_wanted: u64,
    /// What it used.
    pub gas_used: u64,
    /// Who signed it, with which sequence.
    pub signers: Vec<TxSigner>,
    /// Its signatures in base64, as the chain writes them.
    pub signatures: Vec<String>,
}

/// Who signed a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxSigner {
    /// The account.
    pub address: Address,
    /// Its sequence in this transaction.
    pub sequence: u64,
}

impl TxOutcome {
    /// Whether it succeeded.
    pub const fn is_ok(&self) -> bool {
        self.code == 0
    }

    /// The sequence that an account signed it with, if it did.
    pub fn sequence_of(&self, address: &Address) -> Option<u64> {
        let signer = self.signers.iter().find(|signer| signer.address == *address);
        signer.map(|signer| signer.sequence)
    }
}
