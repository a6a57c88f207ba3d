//! What was handed to the transaction lane, and has not ended.
//!
//! One wish per subject and kind is under way; the lane ends each exactly once. What failed is
//! wished for again by whoever still wants it, but not before its time.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::time::Now;
use akash_types::{Backoff, IntentId, OrderId};

/// How intents are repeated that the chain refused and may yet take.
const RETRY: Backoff = Backoff { first: Duration::from_secs(2), most: Duration::from_secs(300) };

/// What is wished for. The subject is an order id: a bid, its lease and its payment share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Wish {
    Bid(OrderId),
    /// The end of our bid, or of the lease from it.
    Close(OrderId),
    /// The announcement that the lease ends.
    Reclaim(OrderId),
    /// What the lease has earned.
    Withdraw(OrderId),
}

impl Wish {
    pub(super) const fn order(self) -> OrderId {
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
pub(super) struct Wishes {
    next: u64,
    under_way: BTreeMap<Wish, IntentId>,
    by_id: BTreeMap<IntentId, Wish>,
    failed: BTreeMap<Wish, Failures>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// It is made under this name.
    Now(IntentId),
    Already,
    /// It failed a short while ago.
    NotBefore(Now),
}

impl Wishes {
    pub(super) fn make(&mut self, now: Now, wish: Wish) -> Made {
        if self.under_way.contains_key(&wish) {
            return Made::Already;
        }
        if let Some(failures) = self.failed.get(&wish).filter(|failed| failed.not_before > now) {
            return Made::NotBefore(failures.not_before);
        }
        self.next = self.next.wrapping_add(1);
        let id = IntentId(self.next);
        self.under_way.insert(wish, id);
        self.by_id.insert(id, wish);
        Made::Now(id)
    }

    pub(super) fn under_way(&self, wish: Wish) -> Option<IntentId> {
        self.under_way.get(&wish).copied()
    }

    pub(super) fn all_under_way(&self) -> impl Iterator<Item = (Wish, IntentId)> {
        self.under_way.iter().map(|(wish, id)| (*wish, *id))
    }

    /// Whether a bid or its end is under way for an order.
    pub(super) fn is_pending(&self, order: OrderId) -> bool {
        [Wish::Bid(order), Wish::Close(order), Wish::Reclaim(order)]
            .iter()
            .any(|wish| self.under_way.contains_key(wish))
    }

    /// A wish ended. `failed` says whether it is to be held back for a while when made again.
    pub(super) fn end(&mut self, now: Now, id: IntentId, failed: bool) -> Option<Wish> {
        let wish = self.by_id.remove(&id)?;
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
    pub(super) fn forget(&mut self, order: OrderId) {
        for wish in [Wish::Bid, Wish::Close, Wish::Reclaim, Wish::Withdraw] {
            self.failed.remove(&wish(order));
        }
    }
}
