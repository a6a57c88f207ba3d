//! Bounded shares: so much for all together, and so much for each key.
//!
//! Connections (by address), streams (by owner and by lease) and bytes held for requests (by
//! owner or address) are all counted here. Nothing waits: what does not fit is refused.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use akash_types::Address;

use crate::port::Busy;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// The total is used up.
    All,
    /// The share of this key is used up.
    Share,
}

/// How often there was no place since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Because the total was used up.
    pub(crate) all: u64,
    /// Because the share of a key was used up.
    pub(crate) share: u64,
}

#[derive(Debug)]
struct Taken<K> {
    all: usize,
    shares: HashMap<K, usize>,
    refused: Refused,
}

/// A total that is given out in shares. Every clone is the same total.
#[derive(Clone, Debug)]
pub(crate) struct Places<K> {
    all: usize,
    per_key: usize,
    taken: Arc<Mutex<Taken<K>>>,
}

/// A part of the total, returned when dropped.
#[derive(Debug)]
pub(crate) struct Place<K: Copy + Eq + Hash> {
    key: K,
    weight: usize,
    of: Places<K>,
}

impl<K: Copy + Eq + Hash> Places<K> {
    pub(crate) fn new(all: usize, per_key: usize) -> Self {
        let taken = Taken { all: 0, shares: HashMap::new(), refused: Refused::default() };
        Self { all, per_key, taken: Arc::new(Mutex::new(taken)) }
    }

    pub(crate) fn take(&self, key: K, weight: usize) -> Result<Place<K>, Full> {
        let mut place = self.empty(key);
        place.grow(weight)?;
        Ok(place)
    }

    /// A place that holds nothing yet.
    pub(crate) fn empty(&self, key: K) -> Place<K> {
        Place { key, weight: 0, of: self.clone() }
    }

    pub(crate) fn taken(&self) -> usize {
        self.lock().all
    }

    pub(crate) fn refused(&self) -> Refused {
        self.lock().refused
    }

    fn lock(&self) -> MutexGuard<'_, Taken<K>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash> Place<K> {
    /// Takes more. A refusal leaves what is held as it is.
    pub(crate) fn grow(&mut self, more: usize) -> Result<(), Full> {
        let mut taken = self.of.lock();
        let all = taken.all.saturating_add(more);
        if all > self.of.all {
            taken.refused.all = taken.refused.all.saturating_add(1);
            return Err(Full::All);
        }
        let share = taken.shares.get(&self.key).copied().unwrap_or_default().saturating_add(more);
        if share > self.of.per_key {
            taken.refused.share = taken.refused.share.saturating_add(1);
            return Err(Full::Share);
        }
        taken.all = all;
        if share > 0 {
            taken.shares.insert(self.key, share);
        }
        self.weight = self.weight.saturating_add(more);
        Ok(())
    }

    /// Returns everything that is held and keeps the key.
    pub(crate) fn clear(&mut self) {
        let mut taken = self.of.lock();
        taken.all = taken.all.saturating_sub(self.weight);
        if let Some(share) = taken.shares.get_mut(&self.key) {
            *share = share.saturating_sub(self.weight);
            if *share == 0 {
                taken.shares.remove(&self.key);
            }
        }
        self.weight = 0;
    }
}

impl<K: Copy + Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        if self.weight > 0 {
            self.clear();
        }
    }
}

/// The client that an address stands for: one IPv6 address comes with a network of 2^64.
pub(crate) fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// Bytes held for clients that have no lease here: heads that are not complete, bodies, and
/// answers that they have not read. One for all listeners; every clone is the same.
#[derive(Clone, Debug)]
pub struct Budget(Places<IpAddr>);

impl Budget {
    /// So many bytes, and so many of them for one address (IPv6: one network of 64 bits).
    pub fn new(bytes: usize, per_client: usize) -> Self {
        Self(Places::new(bytes, per_client))
    }

    /// Bytes that are held now.
    pub fn held(&self) -> usize {
        self.0.taken()
    }

    /// How often there was no room.
    pub(crate) fn refused(&self) -> Refused {
        self.0.refused()
    }

    /// Nothing yet, for what a client will send.
    pub(crate) fn held_for(&self, address: IpAddr) -> Place<IpAddr> {
        self.0.empty(client(address))
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(8 << 20, 4 << 20)
    }
}

/// Bytes that one request holds, in the share of a tenant or of a stranger.
#[derive(Debug)]
pub(crate) enum Held {
    Tenant(Place<Address>),
    Stranger(Place<IpAddr>),
}

impl Held {
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Busy> {
        let grown = match self {
            Self::Tenant(place) => place.grow(bytes),
            Self::Stranger(place) => place.grow(bytes),
        };
        grown.map_err(|_: Full| Busy::Full)
    }

    pub(crate) fn clear(&mut self) {
        match self {
            Self::Tenant(place) => place.clear(),
            Self::Stranger(place) => place.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        client(text.parse().unwrap())
    }

    #[test]
    fn places_are_bounded_and_come_back() {
        let places = Places::new(3, 2);
        let a = places.take(ip("192.0.2.1"), 1).unwrap();
        let mapped = places.take(ip("::ffff:192.0.2.1"), 1).unwrap();
        assert_eq!(places.take(ip("192.0.2.1"), 1).unwrap_err(), Full::Share);
        let other = places.take(ip("192.0.2.2"), 1).unwrap();
        assert_eq!(places.take(ip("192.0.2.3"), 1).unwrap_err(), Full::All);
        assert_eq!(places.refused(), Refused { all: 1, share: 1 });
        drop((a, mapped, other));
        assert_eq!(places.taken(), 0);
        assert!(places.lock().shares.is_empty());
        let _one = places.take(ip("2001:db8::1"), 1).unwrap();
        let _two = places.take(ip("2001:db8::2"), 1).unwrap();
        assert_eq!(places.take(ip("2001:db8::ffff:3"), 1).unwrap_err(), Full::Share);
        assert!(places.take(ip("2001:db8:0:1::1"), 1).is_ok());
    }

    #[test]
    fn a_place_grows_within_its_share_and_returns_all_of_it() {
        let places = Places::new(100, 60);
        let mut one = places.empty('a');
        one.grow(50).unwrap();
        assert_eq!(one.grow(11), Err(Full::Share));
        let mut other = places.take('b', 40).unwrap();
        assert_eq!(other.grow(11), Err(Full::All));
        one.clear();
        assert_eq!(places.taken(), 40);
        other.grow(11).unwrap();
        drop((one, other));
        assert_eq!(places.taken(), 0);
        assert!(places.lock().shares.is_empty());
    }
}
