//! What the lane shows of itself.

use akash_types::{Class, Coin};

use super::hold::HoldReason;
use super::machine::Lane;
use super::sequence::Phase;

/// How the lane is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneStatus {
    /// How many intents wait, by class.
    pub queued: Vec<(Class, usize)>,
    /// Transactions that were given to a node and are in no block yet.
    pub txs_in_flight: usize,
    /// How many of those wait for the node's answer.
    pub txs_unanswered: usize,
    /// Messages in them.
    pub messages_in_flight: usize,
    /// Intents of which the chain is asked whether they hold.
    pub doubtful: usize,
    /// What is known of the account's sequence.
    pub sequence: SequenceStatus,
    /// What keeps the lane, or a class of it, from sending, or did until the last try.
    pub held: Vec<(Option<Class>, HoldReason)>,
    /// Fees of the current day (UTC, by block time).
    pub fees_today: Vec<Coin>,
    /// Fees since the lane started.
    pub fees_total: Vec<Coin>,
    /// The newest block that was seen.
    pub height: u64,
    /// The newest block with a transaction of the lane in it.
    pub confirmed_height: Option<u64>,
}

/// What is known of the account's sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SequenceStatus {
    /// It is being read.
    #[default]
    Reading,
    /// It cannot be read.
    Unreadable {
        /// Why.
        reason: String,
    },
    /// Transactions of an earlier lane may be under way; nothing is sent.
    WaitingForEarlier {
        /// They are in once this sequence is the account's next.
        sequence: u64,
        /// They have timed out after this block.
        height: u64,
    },
    /// The next transaction has this sequence.
    Ready {
        /// The sequence.
        next: u64,
    },
}

impl Lane {
    /// How the lane is doing.
    pub fn status(&self) -> LaneStatus {
        LaneStatus {
            queued: Class::ALL
                .into_iter()
                .map(|class| (class, self.queue.count_waiting(class)))
                .collect(),
            txs_in_flight: self.flights.len(),
            txs_unanswered: self.flights.unanswered(),
            messages_in_flight: self.flights.messages(),
            doubtful: self.queue.doubts().count(),
            sequence: self.sequence_status(),
            held: self.holds.reasons(),
            fees_today: self.fees.today(),
            fees_total: self.fees.total(),
            height: self.height,
            confirmed_height: self.confirmed,
        }
    }

    /// Whether no intent is under way.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    fn sequence_status(&self) -> SequenceStatus {
        match (&self.sequence.problem, self.sequence.phase) {
            (Some(reason), _) => SequenceStatus::Unreadable { reason: reason.clone() },
            (None, Phase::Unread) => SequenceStatus::Reading,
            (None, Phase::Waiting { sequence, height }) => {
                SequenceStatus::WaitingForEarlier { sequence, height }
            }
            (None, Phase::Ready) => SequenceStatus::Ready { next: self.sequence.next },
        }
    }
}
