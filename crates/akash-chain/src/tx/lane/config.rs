//! What the lane is told once.

use std::collections::BTreeMap;

use akash_types::{Address, Class};

use super::super::{FeeRule, GasAdjustment};

/// How the lane works.
#[derive(Clone, Debug)]
pub struct LaneConfig {
    /// The account that signs.
    pub account: Address,
    /// The account that acts: the same, or one that has granted `account` its messages. Then each
    /// message goes in a `MsgExec` of its own, so that its place in the transaction still names it.
    pub owner: Address,
    /// How gas limits come about.
    pub gas: GasSetting,
    /// What is paid.
    pub fee: FeeRule,
    /// Up to how many percent of that the lane pays when a node asks for more.
    pub fee_cap_percent: u64,
    /// Who pays, if not the signer.
    pub fee_granter: Option<Address>,
    /// A note in every transaction.
    pub memo: String,
    /// A transaction may be included up to this many blocks after the one it was sent at.
    pub timeout_blocks: u64,
    /// How much gas of a block the lane asks for.
    pub block_gas: u64,
    /// How many bytes of a block the lane asks for.
    pub block_bytes: usize,
    /// How many bytes a transaction may have.
    pub tx_bytes: usize,
    /// Most messages of a transaction, by class.
    pub batch: BTreeMap<Class, usize>,
    /// After how many blocks an intent goes first.
    pub promote_after: u64,
}

/// How gas limits come about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GasSetting {
    /// What simulation uses, times this. `None` is [`OWN_ADJUSTMENT`].
    Auto(Option<GasAdjustment>),
    /// This much for every transaction.
    Fixed(u64),
}

/// Gas limit in percent of what simulation uses, where nobody sets a factor.
///
/// Simulated with its fee and a signature of the right length a transaction uses what it will use,
/// except for what lands before it in the block: each bid that others place on the same order adds
/// some. Blocks are filled by limit, not by use, so more than needed costs room and money.
pub const OWN_ADJUSTMENT: u64 = 130;

/// The part of a block that bids never take, as a divisor.
pub(super) const KEPT_SHARE: u64 = 5;

impl LaneConfig {
    /// The usual settings for an account that signs for itself, at a price per gas.
    pub fn new(account: Address, fee: FeeRule) -> Self {
        Self {
            account,
            owner: account,
            gas: GasSetting::Auto(None),
            fee,
            fee_cap_percent: 200,
            fee_granter: None,
            memo: String::new(),
            timeout_blocks: 10,
            block_gas: 60_000_000,
            block_bytes: 4 << 20,
            tx_bytes: 256 << 10,
            batch: [
                (Class::Bid, 10),
                (Class::Deadline, 5),
                (Class::Close, 5),
                (Class::Withdraw, 10),
                (Class::Housekeeping, 1),
            ]
            .into(),
            promote_after: 5,
        }
    }

    /// Whether the signer acts for another account.
    pub fn uses_authz(&self) -> bool {
        self.account != self.owner
    }

    /// The account that pays fees.
    pub fn fee_payer(&self) -> Address {
        self.fee_granter.unwrap_or(self.account)
    }

    /// Gas that bids may ask for in a block.
    pub(super) const fn bid_gas(&self) -> u64 {
        self.block_gas - self.block_gas / KEPT_SHARE
    }

    pub(super) fn largest_batch(&self, class: Class) -> usize {
        self.batch.get(&class).copied().unwrap_or(1).max(1)
    }
}
