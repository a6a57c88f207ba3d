//! Public keys of accounts, remembered.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use akash_types::Address;

use super::lookup::{KeyAnswer, Limited, LookupFailure, PublicKeys};
use super::recent::Recent;

/// How many keys are remembered: more tenants than a provider has.
const ROOM: usize = 20_000;
/// How many accounts without a key are remembered.
const ROOM_FOR_NONE: usize = 2_000;
/// How long it is believed that there is no key: the first transaction of an account publishes it.
const NONE_FOR: Duration = Duration::from_secs(5);

/// Keys of accounts, asked for once: an account never changes its key.
pub struct KeyCache {
    source: Arc<dyn PublicKeys>,
    limited: Limited,
    known: Mutex<Recent<Address, KeyAnswer>>,
    none: Mutex<Recent<Address, KeyAnswer>>,
}

impl KeyCache {
    /// Nothing remembered yet.
    #[must_use]
    pub fn new(source: Arc<dyn PublicKeys>) -> Self {
        Self {
            source,
            limited: Limited::new(),
            known: Mutex::new(Recent::new(ROOM)),
            none: Mutex::new(Recent::new(ROOM_FOR_NONE)),
        }
    }

    /// The key of an account. Ask for owners of leases ahead, so that they need not wait.
    ///
    /// # Errors
    ///
    /// When it is not remembered and the chain does not answer.
    pub async fn get(&self, account: Address) -> Result<KeyAnswer, LookupFailure> {
        if let Some(answer) = self.remembered(account, Instant::now()) {
            return Ok(answer);
        }
        let answer = self.limited.ask(self.source.public_key(account)).await?;
        let memory = if matches!(answer, KeyAnswer::Key(_)) { &self.known } else { &self.none };
        lock(memory).put(account, answer, Instant::now());
        Ok(answer)
    }

    fn remembered(&self, account: Address, now: Instant) -> Option<KeyAnswer> {
        let known = lock(&self.known).get(&account, now, Duration::MAX);
        known.or_else(|| lock(&self.none).get(&account, now, NONE_FOR))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyCache(…)")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use akash_chain::keys::SecretKey;
    use futures_util::future::BoxFuture;

    use super::*;
    use crate::auth::lookup::NoKey;

    /// Knows one account, and fails for another.
    struct Chain {
        key: SecretKey,
        broken: Address,
        asked: AtomicUsize,
    }

    impl PublicKeys for Chain {
        fn public_key(&self, account: Address) -> BoxFuture<'_, Result<KeyAnswer, LookupFailure>> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let key = self.key.public_key();
            let answer = match account {
                _ if account == key.address() => Ok(KeyAnswer::Key(key)),
                _ if account == self.broken => Err(LookupFailure::Unavailable("no node".into())),
                _ => Ok(KeyAnswer::None(NoKey::NoAccount)),
            };
            Box::pin(async move { answer })
        }
    }

    #[tokio::test]
    async fn what_is_known_is_asked_once_and_what_failed_is_asked_again() {
        let key = SecretKey::from_bytes(&[1; 32]).unwrap();
        let (known, broken) = (key.public_key().address(), Address::from_bytes(&[2; 20]).unwrap());
        let stranger = Address::from_bytes(&[3; 20]).unwrap();
        let chain = Arc::new(Chain { key, broken, asked: AtomicUsize::new(0) });
        let cache = KeyCache::new(chain.clone());
        for _ in 0..3 {
            assert!(matches!(cache.get(known).await, Ok(KeyAnswer::Key(_))));
            assert!(matches!(cache.get(stranger).await, Ok(KeyAnswer::None(NoKey::NoAccount))));
        }
        assert_eq!(chain.asked.load(Ordering::Relaxed), 2);
        for _ in 0..3 {
            assert!(cache.get(broken).await.is_err());
        }
        assert_eq!(chain.asked.load(Ordering::Relaxed), 5);
        let later = Instant::now() + NONE_FOR + Duration::from_secs(1);
        assert_eq!(cache.remembered(stranger, later), None);
        assert!(cache.remembered(known, later).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_never_answers_holds_nobody_for_ever() {
        struct Silent;
        impl PublicKeys for Silent {
            fn public_key(&self, _: Address) -> BoxFuture<'_, Result<KeyAnswer, LookupFailure>> {
                Box::pin(std::future::pending())
            }
        }
        let cache = KeyCache::new(Arc::new(Silent));
        let account = |n: u8| Address::from_bytes(&[n; 20]).unwrap();
        let asked = (0..100).map(|n| cache.get(account(n)));
        for answer in futures_util::future::join_all(asked).await {
            assert!(matches!(answer, Err(LookupFailure::Slow(_))));
        }
    }
}
