//! What was handed to the transaction lane, and has not ended.
//!
//! One wish per subject and kind is under way; the lane ends each exactly once. What failed is
//! wished for again by whoever still wants it, but not before its time.

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

/// What is wished for. The subject is an order id: a bid, its lease and its payment share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Wish {
    Bid(OrderId),
    /// The end of our bid, or of the lease from it.
    Close(OrderId),
    /// The announcement that the lease ends.
    Reclaim(OrderId),
    /// What the lease has earned.
    Withdraw(OrderId),
}

impl Wish {
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
pub(crate) struct Wishes {
    under_way: InFlight<Wish, ()>,
    failed: BTreeMap<Wish, Failures>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// It is made under this name.
    Now(IntentId),
    Already,
    /// It failed a short while ago.
    NotBefore(Now),
}

impl Wishes {
    pub(crate) fn make(&mut self, now: Now, wish: Wish) -> Made {
        if self.under_way.contains(&wish) {
            return Made::Already;
        }
        if let Some(failures) = self.failed.get(&wish).filter(|failed| failed.not_before > now) {
            return Made::NotBefore(failures.not_before);
        }
        Made::Now(IntentId(self.under_way.begin(wish, ())))
    }

    /// The name of a wish that is under way.
    pub(crate) fn under_way(&self, wish: Wish) -> Option<IntentId> {
        self.under_way.number_of(&wish).map(IntentId)
    }

    /// Everything that is under way.
    pub(crate) fn all_under_way(&self) -> impl Iterator<Item = (Wish, IntentId)> {
        self.under_way.numbers().map(|(wish, number)| (*wish, IntentId(number)))
    }

    /// Whether a bid or its end is under way for an order.
    pub(crate) fn is_pending(&self, order: OrderId) -> bool {
        [Wish::Bid(order), Wish::Close(order), Wish::Reclaim(order)]
            .iter()
            .any(|wish| self.under_way.contains(wish))
    }

    /// A wish ended. `failed` says whether it is to be held back for a while when made again.
    pub(crate) fn end(&mut self, now: Now, id: IntentId, failed: bool) -> Option<Wish> {
        let wish = self.under_way.answered(id.0)?;
        self.under_way.remove(&wish);
        if failed {
            let failures = self.failed.entry(wish).or_default();
            failures.count = failures.count.saturating_add(1);
            failures.not_before = now.after(RETRY.after(failures.count, id.0));
        } else {
            self.failed.remove(&wish);
        }
        Some(wish)
    }

    /// Nothing more is wished for about an order.
    pub(crate) fn forget(&mut self, order: OrderId) {
        for wish in [Wish::Bid, Wish::Close, Wish::Reclaim, Wish::Withdraw] {
            self.failed.remove(&wish(order));
        }
    }
}

impl Engine {
    pub(crate) fn tx_end(&mut self, end: TxEnd) {
        let failed = !end.outcome.holds();
        let Some(wish) = self.wishes.end(self.now, end.intent, failed) else { return };
        if let (Wish::Bid(_), Some(fee)) = (wish, &end.fee) {
            self.market.bid_fees.add(fee.clone());
            self.publish(Fact::BidFees(self.market.bid_fees.clone()));
        }
        let order = wish.order();
        if failed && !matches!(end.outcome, Outcome::Forgotten) {
            let what = match wish {
                Wish::Bid(_) => "the bid",
                Wish::Close(_) => "closing",
                Wish::Reclaim(_) => "announcing the end",
                Wish::Withdraw(_) => "the withdrawal",
            };
            self.note_order(order, Decision::Failed { what, why: words(&end.outcome) });
        }
        if let Wish::Withdraw(_) = wish {
            return self.withdraw_ended(order.bid_id(self.settings.provider).lease_id(), end);
        }
        match self.records.stage(order) {
            Some(Stage::Order(_)) => {
                let refused = matches!(wish, Wish::Bid(_)).then(|| refusal(&end.outcome)).flatten();
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
