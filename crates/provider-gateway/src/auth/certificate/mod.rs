//! Certificates of clients: an account proves itself with a certificate that it published.
//!
//! ```text
//! chain of the handshake ─ ClientCertificate::presented ─▶ ClientCertificate   (says whose it is)
//!                                      │                          │
//!                                   Refusal ◀──── agrees ─────────┤  what the chain holds under its
//!                                                                 ▼  owner and serial number, and now
//!                                                           owner: Address
//! ```
//!
//! The decisions are in `presented.rs`, without lookup or clock. [`CertificateCheck`] looks up and
//! remembers, for a minute: a certificate that is revoked is refused from then on, also within a
//! connection. Whether the client has the key of its certificate is proved by the TLS handshake
//! and not known here.

mod presented;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use akash_types::Address;
use tokio::time::Instant as Clock;

use crate::auth::lookup::{Certificates, IsTenant, Limited, Recent};

pub use presented::{ClientCertificate, Refusal};

/// How many certificates are remembered.
const ROOM: usize = 4_096;
/// How many questions are remembered that found none. Apart from the others: strangers choose them,
/// and they are not to push out what is known of tenants.
const ROOM_FOR_NONE: usize = 2_048;
/// How long an answer is believed. A revoked certificate is good for this much longer.
const BELIEVED: Duration = Duration::from_mins(1);
/// How long a good answer is believed while nobody answers: that a node is down does not make
/// certificates bad, and what they open is the tenant's own.
const BELIEVED_IN_NEED: Duration = Duration::from_mins(15);
/// How long it is believed that there is no such certificate: who publishes one uses it at once.
const NONE_BELIEVED: Duration = Duration::from_secs(5);

/// An owner and a serial number.
type Key = (Address, String);
type Published = Option<Arc<[u8]>>;

/// Finds out whose a client's certificate is.
#[derive(derive_more::Debug)]
#[debug("CertificateCheck(…)")]
pub struct CertificateCheck {
    source: Arc<dyn Certificates>,
    limited: Limited,
    known: Mutex<Recent<Key, Arc<[u8]>>>,
    none: Mutex<Recent<Key, ()>>,
}

impl CertificateCheck {
    pub fn new(source: Arc<dyn Certificates>, is_tenant: IsTenant) -> Self {
        let limited = Limited::new(is_tenant);
        let known = Mutex::new(Recent::new(ROOM));
        Self { source, limited, known, none: Mutex::new(Recent::new(ROOM_FOR_NONE)) }
    }

    /// Whose it is at `now`.
    pub async fn owner(
        &self,
        certificate: &ClientCertificate,
        now: SystemTime,
    ) -> Result<Address, Refusal> {
        let key = (certificate.owner(), certificate.serial().to_owned());
        let published = match self.remembered(&key, Clock::now().into_std()) {
            Some(published) => published,
            None => self.published(key).await?,
        };
        certificate.agrees(published.as_deref(), now)
    }

    async fn published(&self, key: Key) -> Result<Published, Refusal> {
        let question = self.source.valid_certificate(key.0, &key.1);
        let asked = self.limited.ask(&key.0, question).await;
        let now = Clock::now().into_std();
        match asked {
            Ok(Some(found)) => {
                let found: Arc<[u8]> = found.into();
                lock(&self.known).put(key, Arc::clone(&found), now);
                Ok(Some(found))
            }
            Ok(None) => {
                // Revoked: not to be believed again when the chain does not answer.
                lock(&self.known).forget(&key);
                lock(&self.none).put(key, (), now);
                Ok(None)
            }
            Err(failure) => {
                let known = lock(&self.known).get(&key, now, BELIEVED_IN_NEED);
                known.map(Some).ok_or(Refusal::Unknown(failure))
            }
        }
    }

    /// What is remembered and still believed.
    fn remembered(&self, key: &Key, now: Instant) -> Option<Published> {
        let known = lock(&self.known).get(key, now, BELIEVED);
        let none = || lock(&self.none).get(key, now, NONE_BELIEVED).map(|()| None);
        known.map(Some).or_else(none)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
