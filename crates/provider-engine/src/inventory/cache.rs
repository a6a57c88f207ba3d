//! What is free, as it was computed last, until that is no longer true.

use super::{Booking, Free};

#[derive(Clone, Debug, Default)]
pub(crate) struct FreeCache {
    free: Option<Free>,
    /// Whether `free` may be off because of a booking, though not because of the view.
    is_stale: bool,
    /// Whether it was not told yet that what is reserved has changed.
    changed: bool,
}

impl FreeCache {
    /// What is free, as far as the view goes: what is reserved may have changed.
    pub(crate) const fn get(&self) -> Option<&Free> {
        self.free.as_ref()
    }

    /// What is free; nothing before it was computed.
    pub(crate) fn get_or_default(&mut self) -> &Free {
        self.free.get_or_insert_with(Free::default)
    }

    /// Whether what is free is known and true.
    pub(crate) const fn is_current(&self) -> bool {
        self.free.is_some() && !self.is_stale
    }

    pub(crate) fn set(&mut self, free: Free) {
        self.is_stale = false;
        self.free = Some(free);
    }

    /// The view changed.
    pub(crate) fn clear(&mut self) {
        self.free = None;
    }

    /// Something was reserved, of which nothing runs yet.
    pub(crate) fn reserved(&mut self, booking: &Booking) {
        if let Some(free) = &self.free {
            self.free = Some(free.without(booking));
        }
        self.changed = true;
    }

    /// What is reserved is less, or for something else.
    pub(crate) fn released(&mut self) {
        self.clear();
        self.changed = true;
    }

    /// What is reserved for a lease was computed on `free`, or on what is kept here.
    pub(crate) fn rebooked(&mut self, free: Option<Free>) {
        self.free = free.or(self.free.take());
        self.is_stale = true;
        self.changed = true;
    }

    /// What is there, or what it is reserved for, changed otherwise.
    pub(crate) const fn mark_changed(&mut self) {
        self.changed = true;
    }

    /// Whether something changed since this was asked last.
    pub(crate) const fn take_change(&mut self) -> bool {
        std::mem::replace(&mut self.changed, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_is_current_until_the_view_or_the_booking_of_a_lease_changes() {
        let mut cache = FreeCache::default();
        assert!(!cache.is_current() && !cache.take_change());
        cache.set(Free::default());
        cache.reserved(&Booking::default());
        assert!(cache.is_current(), "a booking just made is taken off at once");
        cache.rebooked(None);
        assert!(!cache.is_current() && cache.get().is_some(), "stale, and good enough to place by");
        cache.set(Free::default());
        assert!(cache.is_current());
        cache.released();
        assert!(!cache.is_current() && cache.get().is_none());
    }

    #[test]
    fn a_change_is_told_once() {
        let mut cache = FreeCache::default();
        for change in [
            |cache: &mut FreeCache| cache.reserved(&Booking::default()),
            FreeCache::released,
            |cache: &mut FreeCache| cache.rebooked(Some(Free::default())),
            FreeCache::mark_changed,
        ] {
            change(&mut cache);
            assert_eq!((cache.take_change(), cache.take_change()), (true, false));
        }
        cache.clear();
        assert!(!cache.take_change(), "what is free says nothing about what is reserved");
    }
}
