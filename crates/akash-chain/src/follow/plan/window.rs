//! The heights after the cursor that are being fetched or wait for the consumer.

use std::collections::VecDeque;
use std::time::Duration;

use super::input::{Fetched, Ticket};
use crate::query::BlockHeader;

/// What a block may weigh before one was seen: a block full of orders is about as large.
const FIRST_GUESS: usize = 1 << 20;

/// One part of a block on its way.
#[derive(Clone, Debug)]
pub(super) enum Part<T> {
    /// To be asked for, not before a time, and rather not from the node that had nothing.
    Wanted { not_before: Duration, not_from: Option<usize>, tries: u32 },
    /// Asked for.
    Asked { ticket: Ticket, tries: u32 },
    /// Here, from a node.
    Here { node: usize, value: T },
}

impl<T> Part<T> {
    pub(super) const NEW: Self =
        Self::Wanted { not_before: Duration::ZERO, not_from: None, tries: 0 };

    pub(super) const fn is_here(&self) -> bool {
        matches!(self, Self::Here { .. })
    }

    pub(super) fn is_asked_as(&self, asked: Ticket) -> bool {
        matches!(self, Self::Asked { ticket, .. } if *ticket == asked)
    }

    /// How often it was asked for in vain.
    pub(super) const fn tries(&self) -> u32 {
        match self {
            Self::Wanted { tries, .. } | Self::Asked { tries, .. } => *tries,
            Self::Here { .. } => 0,
        }
    }

    /// Wanted again, later, rather from another node.
    pub(super) fn again(&mut self, not_before: Duration, not_from: usize) {
        let tries = self.tries().saturating_add(1);
        *self = Self::Wanted { not_before, not_from: Some(not_from), tries };
    }

    /// Whom rather not to ask, if it is to be asked for now.
    pub(super) fn due(&self, now: Duration) -> Option<Option<usize>> {
        match self {
            Self::Wanted { not_before, not_from, .. } if *not_before <= now => Some(*not_from),
            Self::Wanted { .. } | Self::Asked { .. } | Self::Here { .. } => None,
        }
    }

    pub(super) const fn not_before(&self) -> Option<Duration> {
        match self {
            Self::Wanted { not_before, .. } => Some(*not_before),
            Self::Asked { .. } | Self::Here { .. } => None,
        }
    }

    fn forget(&mut self, from: usize) {
        if matches!(self, Self::Here { node, .. } if *node == from) {
            *self = Self::NEW;
        }
    }
}

/// A height on its way.
#[derive(Clone, Debug)]
pub(super) struct Slot<B> {
    pub(super) header: Part<BlockHeader>,
    pub(super) results: Part<Fetched<B>>,
    /// How often each node did not have a block that is not its newest.
    pub(super) missed: Vec<(usize, u32)>,
}

impl<B> Slot<B> {
    const fn new() -> Self {
        Self { header: Part::NEW, results: Part::NEW, missed: Vec::new() }
    }

    pub(super) const fn is_complete(&self) -> bool {
        self.header.is_here() && self.results.is_here()
    }
}

/// Consecutive heights, the first of them next for the consumer.
#[derive(Clone, Debug)]
pub(super) struct Window<B> {
    first: u64,
    slots: VecDeque<Slot<B>>,
    waiting_bytes: usize,
    /// About the largest that came lately: a guess for what is on its way.
    largest: usize,
}

impl<B> Window<B> {
    pub(super) const fn new(first: u64) -> Self {
        Self { first, slots: VecDeque::new(), waiting_bytes: 0, largest: FIRST_GUESS }
    }

    /// Starts over at a height.
    pub(super) fn restart(&mut self, first: u64) {
        self.slots.clear();
        (self.first, self.waiting_bytes) = (first, 0);
    }

    /// Makes room up to a height, at most so many.
    pub(super) fn extend(&mut self, to: u64, most: u64) {
        let wanted = (to.saturating_add(1)).saturating_sub(self.first).min(most);
        while u64::try_from(self.slots.len()).is_ok_and(|len| len < wanted) {
            self.slots.push_back(Slot::new());
        }
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = (u64, &Slot<B>)> {
        (self.first..).zip(&self.slots)
    }

    /// The height that the consumer gets next.
    pub(super) const fn next_height(&self) -> u64 {
        self.first
    }

    pub(super) fn slot(&mut self, height: u64) -> Option<&mut Slot<B>> {
        let index = usize::try_from(height.checked_sub(self.first)?).ok()?;
        self.slots.get_mut(index)
    }

    pub(super) fn front(&self) -> Option<&Slot<B>> {
        self.slots.front()
    }

    /// Results have come.
    pub(super) fn fill(&mut self, height: u64, node: usize, fetched: Fetched<B>) {
        let bytes = fetched.bytes;
        if let Some(slot) = self.slot(height) {
            slot.results = Part::Here { node, value: fetched };
            self.waiting_bytes = self.waiting_bytes.saturating_add(bytes);
            // Falls slowly: one large block is followed by others.
            self.largest = bytes.max(self.largest - self.largest / 64);
        }
    }

    /// Takes the first height out if it is whole.
    pub(super) fn take(&mut self) -> Option<(BlockHeader, B)> {
        let slot = self.slots.pop_front_if(|slot| slot.is_complete())?;
        self.first = self.first.saturating_add(1);
        match (slot.header, slot.results) {
            (Part::Here { value: header, .. }, Part::Here { value: fetched, .. }) => {
                self.waiting_bytes = self.waiting_bytes.saturating_sub(fetched.bytes);
                Some((header, fetched.block))
            }
            _ => None,
        }
    }

    /// Throws away what came from a node.
    pub(super) fn forget(&mut self, node: usize) {
        for slot in &mut self.slots {
            if let Part::Here { node: from, value } = &slot.results
                && *from == node
            {
                self.waiting_bytes = self.waiting_bytes.saturating_sub(value.bytes);
            }
            slot.results.forget(node);
            slot.header.forget(node);
        }
    }

    /// Throws the first height's parts away.
    pub(super) fn forget_front(&mut self) {
        if let Some(slot) = self.slots.front_mut() {
            if let Part::Here { value, .. } = &slot.results {
                self.waiting_bytes = self.waiting_bytes.saturating_sub(value.bytes);
            }
            *slot = Slot::new();
        }
    }

    /// How many more results may be asked for now, if `asked` are on their way.
    pub(super) fn room(&self, asked: usize, most_bytes: usize) -> usize {
        let guess = self.largest.max(1);
        let left = most_bytes.saturating_sub(self.waiting_bytes);
        (left / guess).saturating_sub(asked)
    }
}
