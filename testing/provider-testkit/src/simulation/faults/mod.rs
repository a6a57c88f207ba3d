//! What goes wrong, and when. Nothing does once the time of trouble is over.

mod kind;
mod strike;

use std::collections::BTreeSet;
use std::time::Duration;

pub use kind::FaultKind;

use super::dice::Dice;

/// Something that goes wrong, or right again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FaultEvent {
    Strike(FaultKind),
    /// It begins as soon as an order is in the rarest stage, or after so many looks.
    Aim(FaultKind, u32),
    /// Nodes are up to date again.
    LagEnds,
    /// A node of the cluster comes back.
    NodeBack(provider_engine::cluster::view::Name),
    /// The mempool has room again.
    MempoolFree,
    ApiWorks,
    /// The provider sees the cluster again that it had.
    ClusterBack,
    /// The provider is started with the right manifest namespace again.
    RightNamespace,
    /// The operator ends some lease.
    OperatorCloses,
    /// The operator looks, and accepts a cluster that is unknown.
    Operator,
    /// All trouble is over.
    Peace,
}

/// The state of what goes wrong.
#[derive(Debug)]
pub(crate) struct Faults {
    dice: Dice,
    peace: bool,
    /// Steps after which the process dies.
    crashes: BTreeSet<u64>,
    halted_until: Duration,
    lags: [u64; 2],
    mempool_full: bool,
    tx_trouble: u32,
}

/// What becomes of a transaction on its way to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TxFate {
    /// It arrives, and the answer too.
    Fine,
    /// It arrives, and the answer does not.
    Unanswered,
    /// It does not arrive, and nobody says so.
    Lost,
    /// A node says that it has it, and has not.
    Swallowed,
    /// A node has no room for it.
    Full,
}

impl TxFate {
    pub(crate) const fn kind(self) -> Option<FaultKind> {
        match self {
            Self::Fine => None,
            Self::Full => Some(FaultKind::MempoolFull),
            Self::Unanswered | Self::Lost | Self::Swallowed => Some(FaultKind::TxLost),
        }
    }

    pub(crate) const fn is_full(self) -> bool {
        matches!(self, Self::Full)
    }

    pub(crate) const fn arrives(self) -> bool {
        matches!(self, Self::Fine | Self::Unanswered)
    }

    pub(crate) const fn is_answered(self) -> bool {
        matches!(self, Self::Fine | Self::Swallowed | Self::Full)
    }
}

impl Faults {
    pub(crate) fn new(mut dice: Dice) -> Self {
        // Not before the process had a chance to live, and all of them in the time of trouble.
        let crashes = (0..34).map(|_| dice.between(200, 8_000)).collect();
        Self {
            dice,
            peace: false,
            crashes,
            halted_until: Duration::ZERO,
            lags: [0, 0],
            mempool_full: false,
            tx_trouble: 80,
        }
    }

    /// Whether the process dies after this step.
    pub(crate) fn crashes_at(&mut self, step: u64) -> bool {
        !self.peace && self.crashes.first().is_some_and(|at| *at <= step) && {
            self.crashes.pop_first();
            true
        }
    }

    /// Whether no blocks are made.
    pub(crate) fn is_halted(&self, now: Duration) -> bool {
        now < self.halted_until
    }

    /// How many blocks a node is behind.
    pub(crate) fn lag(&self, node: usize) -> u64 {
        self.lags.get(node).copied().unwrap_or(0)
    }

    /// How long a message takes.
    pub(crate) fn latency(&mut self) -> Duration {
        let most = if self.peace { 50 } else { 400 };
        self.dice.span(Duration::from_millis(1), Duration::from_millis(most))
    }

    fn trouble(&mut self, per_mille: u32) -> bool {
        !self.peace && self.dice.chance(per_mille)
    }

    /// Whether an answer is lost.
    pub(crate) fn loses(&mut self) -> bool {
        self.trouble(15)
    }

    /// Whether something comes twice.
    pub(crate) fn doubles(&mut self) -> bool {
        self.trouble(15)
    }

    /// Whether an answer is late.
    pub(crate) fn delays(&mut self) -> bool {
        self.trouble(15)
    }

    /// Whether a node fails to answer.
    pub(crate) fn node_fails(&mut self) -> bool {
        self.trouble(25)
    }

    /// What becomes of a transaction.
    pub(crate) fn fate_of_tx(&mut self) -> TxFate {
        if self.mempool_full {
            return TxFate::Full;
        }
        if !self.trouble(self.tx_trouble) {
            return TxFate::Fine;
        }
        match self.dice.below(3) {
            0 => TxFate::Unanswered,
            1 => TxFate::Lost,
            _ => TxFate::Swallowed,
        }
    }
}
