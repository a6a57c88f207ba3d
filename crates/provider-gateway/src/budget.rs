//! Bytes that the process holds because of what clients send and do not read.

use std::net::IpAddr;

use akash_types::Address;

use crate::places::{Full, Place, Places, Refused, client};
use crate::port::Busy;

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
