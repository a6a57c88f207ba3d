//! Public keys of accounts, remembered.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use akash_types::Address;
use futures_util::stream::{self, StreamExt};
use provider_engine::engine::Published;
use tokio::sync::watch;

use super::lookup::{IsTenant, KeyAnswer, Limited, LookupFailure, PublicKeys, Recent};

/// How many keys are remembered: more tenants than a provider has.
const ROOM: usize = 20_000;
/// How many accounts without a key are remembered.
const ROOM_FOR_NONE: usize = 2_000;
/// How long it is believed that there is no key: the first transaction of an account publishes it.
const NONE_FOR: Duration = Duration::from_secs(5);
/// How many keys are read ahead at once: less than the owners' turns, so that one who asks for
/// themselves gets one.
const AHEAD_AT_ONCE: usize = 8;
/// How soon keys that could not be read ahead are asked for again.
const AHEAD_AGAIN: Duration = Duration::from_secs(5);
/// How long new leases are gathered before their owners' keys are read ahead.
const AHEAD_PAUSE: Duration = Duration::from_millis(500);

/// Keys of accounts, asked for once: an account never changes its key.
#[derive(derive_more::Debug)]
#[debug("KeyCache(…)")]
pub struct KeyCache {
    source: Arc<dyn PublicKeys>,
    limited: Limited,
    known: Mutex<Recent<Address, KeyAnswer>>,
    none: Mutex<Recent<Address, KeyAnswer>>,
}

impl KeyCache {
    pub fn new(source: Arc<dyn PublicKeys>, is_tenant: IsTenant) -> Self {
        Self {
            source,
            limited: Limited::new(is_tenant),
            known: Mutex::new(Recent::new(ROOM)),
            none: Mutex::new(Recent::new(ROOM_FOR_NONE)),
        }
    }

    /// Reads the keys of all owners of leases, and of each that comes, before they ask: they do
    /// not wait for the chain. What is not answered is asked again.
    pub async fn read_ahead(&self, mut changes: watch::Receiver<Arc<Published>>) {
        loop {
            let published = changes.borrow_and_update().clone();
            let mut is_complete = true;
            let owners: HashSet<Address> = published
                .leases
                .iter()
                .filter(|lease| lease.alive)
                .map(|lease| lease.id.owner())
                .filter(|owner| self.remembered(*owner, Instant::now()).is_none())
                .collect();
            let mut asked =
                stream::iter(owners).map(|owner| self.get(owner)).buffer_unordered(AHEAD_AT_ONCE);
            while let Some(answer) = asked.next().await {
                is_complete &= answer.is_ok();
            }
            if is_complete {
                if changes.changed().await.is_err() {
                    return;
                }
                tokio::time::sleep(AHEAD_PAUSE).await;
            } else {
                tokio::time::sleep(AHEAD_AGAIN).await;
            }
        }
    }

    pub async fn get(&self, account: Address) -> Result<KeyAnswer, LookupFailure> {
        if let Some(answer) = self.remembered(account, Instant::now()) {
            return Ok(answer);
        }
        let answer = self.limited.ask(&account, self.source.public_key(account)).await?;
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use akash_keys::SecretKey;
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
        let cache = KeyCache::new(chain.clone(), Arc::new(|_| false));
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

    /// Never answers about those whose address begins with 0.
    struct SilentAboutStrangers(SecretKey);

    impl PublicKeys for SilentAboutStrangers {
        fn public_key(&self, account: Address) -> BoxFuture<'_, Result<KeyAnswer, LookupFailure>> {
            let is_stranger = account.as_bytes().first() == Some(&0);
            let key = self.0.public_key();
            Box::pin(async move {
                if is_stranger { std::future::pending().await } else { Ok(KeyAnswer::Key(key)) }
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn strangers_do_not_delay_owners_of_leases() {
        let key = SecretKey::from_bytes(&[1; 32]).unwrap();
        let tenant = Address::from_bytes(&[9; 20]).unwrap();
        let chain = Arc::new(SilentAboutStrangers(key));
        let cache = Arc::new(KeyCache::new(chain, Arc::new(move |one| *one == tenant)));
        for n in 0..200 {
            let mut bytes = [0; 20];
            bytes[19] = n;
            let (cache, stranger) = (Arc::clone(&cache), Address::from_bytes(&bytes).unwrap());
            tokio::spawn(async move { cache.get(stranger).await });
        }
        tokio::task::yield_now().await;
        let asked = tokio::time::Instant::now();
        assert!(matches!(cache.get(tenant).await, Ok(KeyAnswer::Key(_))));
        assert_eq!(asked.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_never_answers_holds_nobody_for_ever() {
        struct Silent;
        impl PublicKeys for Silent {
            fn public_key(&self, _: Address) -> BoxFuture<'_, Result<KeyAnswer, LookupFailure>> {
                Box::pin(std::future::pending())
            }
        }
        let cache = KeyCache::new(Arc::new(Silent), Arc::new(|_| false));
        let account = |n: u8| Address::from_bytes(&[n; 20]).unwrap();
        let asked = (0..100).map(|n| cache.get(account(n)));
        for answer in futures_util::future::join_all(asked).await {
            assert!(matches!(answer, Err(LookupFailure::Slow(_))));
        }
    }

    /// Answers after a number of questions, and counts them.
    struct Late {
        keys: Vec<SecretKey>,
        unanswered: AtomicUsize,
        asked: AtomicUsize,
    }

    impl PublicKeys for Late {
        fn public_key(&self, account: Address) -> BoxFuture<'_, Result<KeyAnswer, LookupFailure>> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let is_late = self.unanswered.load(Ordering::Relaxed) > 0;
            if is_late {
                self.unanswered.fetch_sub(1, Ordering::Relaxed);
            }
            let found = self.keys.iter().map(SecretKey::public_key);
            let found = found.into_iter().find(|key| key.address() == account);
            let none = || LookupFailure::Unavailable("no node".into());
            let answer = found.filter(|_| !is_late).map(KeyAnswer::Key).ok_or_else(none);
            Box::pin(async move { answer })
        }
    }

    fn published(owners: &[Address]) -> Arc<Published> {
        use provider_engine::engine::{LeaseIndex, LeaseStatus, Status};
        let lease = |owner: &Address| LeaseStatus {
            id: format!("{owner}/1/1/1/{owner}").parse().unwrap(),
            price: "1uakt".parse().unwrap(),
            stage: "running",
            alive: true,
            lacks_manifest: false,
            funds: None,
        };
        Arc::new(Published {
            status: Status { height: 1, ready: true, cluster_fresh: true, ..Status::default() },
            leases: LeaseIndex::from_iter(owners.iter().map(lease)),
            bids: vec![],
            inventory: None,
            deployments: 0,
            manifests: 0,
            drift: std::collections::BTreeMap::new(),
        })
    }

    #[tokio::test(start_paused = true)]
    async fn keys_of_owners_are_read_ahead_until_they_are_there() {
        let keys = [1, 2].map(|seed| SecretKey::from_bytes(&[seed; 32]).unwrap());
        let [first, second] = keys.each_ref().map(|key| key.public_key().address());
        let chain = Arc::new(Late {
            keys: keys.into(),
            unanswered: AtomicUsize::new(3),
            asked: AtomicUsize::new(0),
        });
        let cache = Arc::new(KeyCache::new(chain.clone(), Arc::new(|_| true)));
        let (sender, changes) = watch::channel(published(&[first]));
        let ahead = Arc::clone(&cache);
        let reading = tokio::spawn(async move { ahead.read_ahead(changes).await });
        let until = |count: usize| {
            let chain = Arc::clone(&chain);
            async move {
                while chain.asked.load(Ordering::Relaxed) < count {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        };
        // Three that are not answered, and one that is.
        tokio::time::timeout(Duration::from_mins(5), until(4)).await.expect("asked again");
        // A new lease: its owner is asked for, and the first is not.
        sender.send_replace(published(&[first, second]));
        tokio::time::timeout(Duration::from_mins(5), until(5)).await.expect("asked for");
        tokio::time::sleep(Duration::from_mins(5)).await;
        for owner in [first, second] {
            assert!(matches!(cache.get(owner).await, Ok(KeyAnswer::Key(_))));
        }
        assert_eq!(chain.asked.load(Ordering::Relaxed), 5, "nobody waits for the chain");
        drop(sender);
        reading.await.unwrap();
    }
}
