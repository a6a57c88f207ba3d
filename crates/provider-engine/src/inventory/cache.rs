//! What is free, as it was computed last, until that is no longer true.

use super::{Booking, Free};

#[derive(Clone, Debug, Default)]
pub(crate) struct FreeCache {
    free: Option<Free>,
    /// Whether `free` may be off because of a booking, though not because of the view.
    is_stale: bool,
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
    }

    /// What is reserved is less, or for something else.
    pub(crate) fn released(&mut self) {
        self.clear();
    }

    /// What is reserved for a lease was computed on `free`, or on what is kept here.
    pub(crate) fn rebooked(&mut self, free: Option<Free>) {
        self.free = free.or(self.free.take());
        self.is_stale = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_free_is_current_until_the_view_or_the_booking_of_a_lease_changes() {
        let mut cache = FreeCache::default();
        assert!(!cache.is_current());
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
}
