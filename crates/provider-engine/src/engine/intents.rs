//! Intents that were handed to the transaction lane, and have not ended.
//!
//! One intent per subject and kind is in flight; the lane ends each exactly once. One that failed
//! can be begun again, but not before its time.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::{Backoff, IntentId, OrderId, Outcome};

use super::in_flight::InFlight;
use super::{Engine, Stage};
use crate::effect::Fact;
use crate::input::TxEnd;
use crate::journal::Decision;
use crate::lease::LeaseInput;
use crate::order::OrderInput;
use crate::order::decline::Decline;
use crate::time::Now;

/// How intents are repeated that the chain refused and may yet take.
const RETRY: Backoff = Backoff { first: Duration::from_secs(2), most: Duration::from_secs(300) };

/// What an intent is about. The subject is an order id: a bid, its lease and its payment share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum IntentKey {
    Bid(OrderId),
    /// The end of our bid, or of the lease from it.
    Close(OrderId),
    /// The announcement that the lease ends.
    Reclaim(OrderId),
    /// What the lease has earned.
    Withdraw(OrderId),
}

impl IntentKey {
    pub(crate) const fn order(self) -> OrderId {
        match self {
            Self::Bid(order)
            | Self::Close(order)
            | Self::Reclaim(order)
            | Self::Withdraw(order) => order,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Failures {
    count: u32,
    not_before: Now,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct InFlightIntents {
    in_flight: InFlight<IntentKey, ()>,
    failed: BTreeMap<IntentKey, Failures>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// It is in flight under this id.
    Now(IntentId),
    Already,
    /// It failed a short while ago.
    NotBefore(Now),
}

impl InFlightIntents {
    pub(crate) fn begin(&mut self, now: Now, key: IntentKey) -> Begun {
        if self.in_flight.contains(&key) {
            return Begun::Already;
        }
        if let Some(failures) = self.failed.get(&key).filter(|failed| failed.not_before > now) {
            return Begun::NotBefore(failures.not_before);
        }
        Begun::Now(IntentId(self.in_flight.begin(key, ())))
    }

    /// The id of an intent that is in flight.
    pub(crate) fn id_of(&self, key: IntentKey) -> Option<IntentId> {
        self.in_flight.number_of(&key).map(IntentId)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (IntentKey, IntentId)> {
        self.in_flight.numbers().map(|(key, number)| (*key, IntentId(number)))
    }

    /// Whether a bid or its end is in flight for an order.
    pub(crate) fn is_pending(&self, order: OrderId) -> bool {
        [IntentKey::Bid(order), IntentKey::Close(order), IntentKey::Reclaim(order)]
            .iter()
            .any(|key| self.in_flight.contains(key))
    }

    /// An intent ended. `failed` says whether it is held back for a while when it is begun again.
    pub(crate) fn end(&mut self, now: Now, id: IntentId, failed: bool) -> Option<IntentKey> {
        let key = self.in_flight.answered(id.0)?;
        self.in_flight.remove(&key);
        // Withdrawals are held back by the escrow account, which outlives the order's record.
        if failed && !matches!(key, IntentKey::Withdraw(_)) {
            let failures = self.failed.entry(key).or_default();
            failures.count = failures.count.saturating_add(1);
            failures.not_before = now.after(RETRY.after(failures.count, id.0));
        } else {
            self.failed.remove(&key);
        }
        Some(key)
    }

    /// Failures of an order's intents hold nothing back any more.
    pub(crate) fn forget(&mut self, order: OrderId) {
        for key in [IntentKey::Bid, IntentKey::Close, IntentKey::Reclaim] {
            self.failed.remove(&key(order));
        }
    }
}

impl Engine {
    pub(crate) fn tx_end(&mut self, end: TxEnd) {
        let failed = !end.outcome.holds();
        let Some(key) = self.intents.end(self.now, end.intent, failed) else { return };
        if let (IntentKey::Bid(_), Some(fee)) = (key, &end.fee) {
            self.market.bid_fees.add(fee.clone());
            self.publish(Fact::BidFees(self.market.bid_fees.clone()));
        }
        let order = key.order();
        if failed && !matches!(end.outcome, Outcome::Forgotten) {
            let what = match key {
                IntentKey::Bid(_) => "the bid",
                IntentKey::Close(_) => "closing",
                IntentKey::Reclaim(_) => "announcing the end",
                IntentKey::Withdraw(_) => "the withdrawal",
            };
            self.note_order(order, Decision::Failed { what, why: words(&end.outcome) });
        }
        if let IntentKey::Withdraw(_) = key {
            return self.withdraw_ended(order.bid_id(self.settings.provider).lease_id(), end);
        }
        match self.records.stage(order) {
            Some(Stage::Order(_)) => {
                let refused =
                    matches!(key, IntentKey::Bid(_)).then(|| refusal(&end.outcome)).flatten();
                let input = refused.map_or(OrderInput::IntentEnded, OrderInput::BidRefused);
                self.step_order(order, input);
            }
            Some(Stage::Lease(_)) => self.step_lease(order, LeaseInput::IntentEnded),
            // The life ended while this was under way. If it took effect, the chain has something
            // of ours that nobody looks after: look.
            None if !failed => self.look_at(order.bid_id(self.settings.provider).lease_id()),
            None => {}
        }
    }
}

/// What the chain would say again, however often it is asked.
fn refusal(outcome: &Outcome) -> Option<Decline> {
    match outcome {
        Outcome::Refused { codespace, code, log } => Some(Decline::ChainRefused {
            codespace: codespace.clone(),
            code: *code,
            log: log.clone(),
        }),
        Outcome::Invalid { reason } => {
            Some(Decline::ChainRefused { codespace: String::new(), code: 0, log: reason.clone() })
        }
        _ => None,
    }
}

fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Refused { log, .. } => log.clone(),
        Outcome::Invalid { reason } => reason.clone(),
        Outcome::Expired => "it came into no block in time".to_owned(),
        Outcome::Unknown => "what became of it cannot be found out".to_owned(),
        Outcome::Forgotten => "its reason was gone".to_owned(),
        Outcome::Executed { .. } | Outcome::AlreadyHolds => "it did happen".to_owned(),
    }
}
