//! Places for connections: so many, and so many for one client.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// All are taken.
    All,
    /// All that one client may have are taken.
    Client,
}

/// How many places are taken, and by whom.
#[derive(Debug)]
struct Taken {
    all: usize,
    clients: HashMap<IpAddr, usize>,
}

/// The places of a listener.
#[derive(Clone, Debug)]
pub(super) struct Places {
    all: usize,
    per_client: usize,
    taken: Arc<Mutex<Taken>>,
}

/// A place that is taken, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    client: IpAddr,
    taken: Arc<Mutex<Taken>>,
}

impl Places {
    pub(super) fn new(all: usize, per_client: usize) -> Self {
        let taken = Taken { all: 0, clients: HashMap::new() };
        Self { all, per_client, taken: Arc::new(Mutex::new(taken)) }
    }

    pub(super) fn take(&self, address: IpAddr) -> Result<Place, Full> {
        let client = client(address);
        let mut taken = lock(&self.taken);
        if taken.all >= self.all {
            return Err(Full::All);
        }
        let mine = taken.clients.entry(client).or_default();
        if *mine >= self.per_client {
            return Err(Full::Client);
        }
        *mine += 1;
        taken.all += 1;
        Ok(Place { client, taken: self.taken.clone() })
    }

    pub(super) fn taken(&self) -> usize {
        lock(&self.taken).all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.all = taken.all.saturating_sub(1);
        if let Some(mine) = taken.clients.get_mut(&self.client) {
            *mine = mine.saturating_sub(1);
            if *mine == 0 {
                taken.clients.remove(&self.client);
            }
        }
    }
}

/// Who an address stands for: whoever has one IPv6 address has 2^64.
fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        v4 @ IpAddr::V4(_) => v4,
    }
}

fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_and_come_back() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let places = Places::new(3, 2);
        let a = places.take(ip("192.0.2.1")).unwrap();
        let mapped = places.take(ip("::ffff:192.0.2.1")).unwrap();
        assert_eq!(places.take(ip("192.0.2.1")).unwrap_err(), Full::Client);
        let other = places.take(ip("192.0.2.2")).unwrap();
        assert_eq!(places.take(ip("192.0.2.3")).unwrap_err(), Full::All);
        drop((a, mapped, other));
        assert_eq!(places.taken(), 0);
        assert!(lock(&places.taken).clients.is_empty());
        let _one = places.take(ip("2001:db8::1")).unwrap();
        let _two = places.take(ip("2001:db8::2")).unwrap();
        assert_eq!(places.take(ip("2001:db8::ffff:3")).unwrap_err(), Full::Client);
        assert!(places.take(ip("2001:db8:0:1::1")).is_ok());
    }
}
