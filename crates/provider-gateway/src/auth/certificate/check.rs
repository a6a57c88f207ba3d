//! Looking up whether a certificate is published, and remembering it for a while.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use akash_types::Address;
use tokio::time::Instant as Clock;

use super::{ClientCertificate, Refusal};
use crate::auth::lookup::{Certificates, IsTenant, Limited};
use crate::auth::recent::Recent;

/// How many answers are remembered.
const ROOM: usize = 4_096;
/// How long an answer is believed. A revoked certificate is good for this much longer.
const BELIEVED: Duration = Duration::from_mins(1);
/// How long a good answer is believed while nobody answers: that a node is down does not make
/// certificates bad, and what they open is the tenant's own.
const BELIEVED_IN_NEED: Duration = Duration::from_mins(15);
/// How long it is believed that there is no such certificate: who publishes one uses it at once.
const NONE_BELIEVED: Duration = Duration::from_secs(5);

/// What was published under an owner and serial number.
type Published = Option<Arc<[u8]>>;

/// Finds out whose a client's certificate is.
pub struct CertificateCheck {
    source: Arc<dyn Certificates>,
    limited: Limited,
    recent: Mutex<Recent<(Address, String), Published>>,
}

impl CertificateCheck {
    /// Nothing remembered yet.
    #[must_use]
    pub fn new(source: Arc<dyn Certificates>, is_tenant: IsTenant) -> Self {
        let limited = Limited::new(is_tenant);
        Self { source, limited, recent: Mutex::new(Recent::new(ROOM)) }
    }

    /// Whose it is at `now`.
    ///
    /// # Errors
    ///
    /// When it is nobody's, or the chain cannot be asked.
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

    async fn published(&self, key: (Address, String)) -> Result<Published, Refusal> {
        let question = self.source.valid_certificate(key.0, &key.1);
        match self.limited.ask(&key.0, question).await {
            Ok(found) => {
                let found: Published = found.map(Arc::from);
                self.recent().put(key, found.clone(), Clock::now().into_std());
                Ok(found)
            }
            Err(failure) => {
                let known =
                    self.recent().get(&key, Clock::now().into_std(), BELIEVED_IN_NEED).flatten();
                known.map(Some).ok_or(Refusal::Unknown(failure))
            }
        }
    }

    /// What is remembered and still believed.
    fn remembered(&self, key: &(Address, String), now: Instant) -> Option<Published> {
        let recent = self.recent();
        let found = recent.get(key, now, BELIEVED)?;
        if found.is_none() { recent.get(key, now, NONE_BELIEVED) } else { Some(found) }
    }

    fn recent(&self) -> std::sync::MutexGuard<'_, Recent<(Address, String), Published>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CertificateCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CertificateCheck(…)")
    }
}
