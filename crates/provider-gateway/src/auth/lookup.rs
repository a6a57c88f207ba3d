//! What is asked of the chain, as ports, and the one way to ask: with a limit to how many ask at
//! once and how long they wait.

use std::collections::{HashMap, VecDeque};
use std::error::Error;
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};

use akash_chain::query::{Query, QueryError};
use akash_chain::transport::Transport;
use akash_keys::{AccountKey, PublicKey};
use akash_types::{Address, CertificateState};
use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;

/// Where public keys of accounts are found.
pub trait PublicKeys: Send + Sync + 'static {
    fn public_key(&self, account: Address) -> BoxFuture<'_, Result<KeyAnswer, LookupFailure>>;
}

/// Where certificates of accounts are found.
pub trait Certificates: Send + Sync + 'static {
    /// The certificate of `owner` with this serial number (decimal) as PEM, if there is one and it
    /// is not revoked.
    fn valid_certificate<'a>(
        &'a self,
        owner: Address,
        serial: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LookupFailure>>;
}

/// What is known of the key of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAnswer {
    Key(PublicKey),
    /// There is none to check anything with.
    None(NoKey),
}

/// Why an account has no key to check anything with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoKey {
    #[error("there is no such account")]
    NoAccount,
    #[error("the account has never signed anything: its key is not known")]
    NotPublished,
    #[error("the account's key is of another kind than those that sign tokens")]
    OtherKind,
}

/// The chain gave no answer, so nothing is known.
#[derive(Debug, thiserror::Error)]
pub enum LookupFailure {
    #[error("the chain could not be asked")]
    Unavailable(#[source] Box<dyn Error + Send + Sync>),
    #[error("the chain did not answer within {} s", .0.as_secs())]
    Slow(Duration),
}

impl From<QueryError> for LookupFailure {
    fn from(error: QueryError) -> Self {
        Self::Unavailable(Box::new(error))
    }
}

impl<T: Transport + Send + Sync + 'static> PublicKeys for Query<T> {
    fn public_key(&self, account: Address) -> BoxFuture<'_, Result<KeyAnswer, LookupFailure>> {
        Box::pin(async move {
            Ok(match self.account(account).await?.value {
                None => KeyAnswer::None(NoKey::NoAccount),
                Some(account) => match account.public_key {
                    Some(AccountKey::Secp256k1(key)) => KeyAnswer::Key(key),
                    Some(_) => KeyAnswer::None(NoKey::OtherKind),
                    None => KeyAnswer::None(NoKey::NotPublished),
                },
            })
        })
    }
}

impl<T: Transport + Send + Sync + 'static> Certificates for Query<T> {
    fn valid_certificate<'a>(
        &'a self,
        owner: Address,
        serial: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, LookupFailure>> {
        Box::pin(async move {
            let found = self.certificate(owner, serial, CertificateState::Valid).await?;
            Ok(found.value.map(|certificate| certificate.certificate))
        })
    }
}

/// How many questions about owners of leases are under way at once, and how many about others:
/// strangers cause those, and the chain's node serves the rest of the provider too.
const AT_ONCE: usize = 16;
/// How many questions about others wait for their turn. Each holds the request that it is about.
const WAITING: usize = 256;
/// How long somebody waits for an answer, the wait for their turn included.
const PATIENCE: Duration = Duration::from_secs(8);

/// Tells who has a lease here.
pub type IsTenant = Arc<dyn Fn(&Address) -> bool + Send + Sync>;

/// Limits questions, those about owners of leases apart from all others.
pub(super) struct Limited {
    is_tenant: IsTenant,
    tenants: Semaphore,
    strangers: Semaphore,
    /// One permit for each question about others that waits or is asked.
    places: Semaphore,
}

impl Limited {
    pub(super) fn new(is_tenant: IsTenant) -> Self {
        let [tenants, strangers] = [AT_ONCE; 2].map(Semaphore::new);
        Self { is_tenant, tenants, strangers, places: Semaphore::new(AT_ONCE + WAITING) }
    }

    pub(super) async fn ask<A>(
        &self,
        about: &Address,
        question: impl Future<Output = Result<A, LookupFailure>>,
    ) -> Result<A, LookupFailure> {
        let (turns, _place) = if (self.is_tenant)(about) {
            (&self.tenants, None)
        } else {
            let full = |_| LookupFailure::Unavailable("too many others wait for it".into());
            (&self.strangers, Some(self.places.try_acquire().map_err(full)?))
        };
        let turn = async {
            // Never closed.
            let _turn = turns.acquire().await;
            question.await
        };
        tokio::time::timeout(PATIENCE, turn).await.unwrap_or(Err(LookupFailure::Slow(PATIENCE)))
    }
}

/// The newest answers, each with the moment it was given. Knows no clock: `now` is given.
///
/// Bounded, because strangers choose the questions.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    room: usize,
    answers: HashMap<K, (V, Instant)>,
    /// Keys in the order they came, oldest first; each once.
    order: VecDeque<K>,
}

impl<K: Clone + Eq + Hash, V: Clone> Recent<K, V> {
    pub(super) fn new(room: usize) -> Self {
        Self { room: room.max(1), answers: HashMap::new(), order: VecDeque::new() }
    }

    /// The answer, if it is not older than `age`.
    pub(super) fn get(&self, key: &K, now: Instant, age: Duration) -> Option<V> {
        let (value, at) = self.answers.get(key)?;
        (now.saturating_duration_since(*at) <= age).then(|| value.clone())
    }

    pub(super) fn forget(&mut self, key: &K) {
        if self.answers.remove(key).is_some() {
            self.order.retain(|other| other != key);
        }
    }

    /// Remembers an answer; forgets the one that came first where there is no room.
    pub(super) fn put(&mut self, key: K, value: V, now: Instant) {
        if self.answers.insert(key.clone(), (value, now)).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > self.room {
            if let Some(oldest) = self.order.pop_front() {
                self.answers.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn questions_about_strangers_wait_in_a_bounded_queue_and_those_about_tenants_do_not() {
        let tenant = Address::from_bytes(&[1; 20]).unwrap();
        let stranger = Address::from_bytes(&[2; 20]).unwrap();
        let limited = Limited::new(Arc::new(move |account| *account == tenant));
        let silent = || std::future::pending::<Result<(), _>>();
        let flood = (0..1_000).map(|_| limited.ask(&stranger, silent()));
        let flood = futures_util::future::join_all(flood);
        let honest = async {
            tokio::time::sleep(PATIENCE / 2).await;
            let another = limited.ask(&stranger, async { Ok(()) }).await;
            (another, limited.ask(&tenant, async { Ok(()) }).await)
        };
        let (answers, (another, honest)) = tokio::join!(flood, honest);
        let waited = answers.iter().filter(|it| matches!(it, Err(LookupFailure::Slow(_)))).count();
        assert_eq!(waited, AT_ONCE + WAITING, "the others are refused at once");
        assert!(matches!(another, Err(LookupFailure::Unavailable(_))), "{another:?}");
        assert!(honest.is_ok(), "{honest:?}");
        assert!(limited.ask(&stranger, async { Ok(()) }).await.is_ok(), "places come back");
    }

    #[test]
    fn answers_age_and_the_first_make_room_for_the_last() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let age = Duration::from_secs(5);
        let mut recent = Recent::new(2);
        recent.put('a', 1, at(0));
        assert_eq!(recent.get(&'a', at(5), age), Some(1));
        assert_eq!(recent.get(&'a', at(6), age), None);
        recent.put('a', 2, at(6));
        recent.put('b', 3, at(6));
        recent.put('c', 4, at(6));
        assert_eq!(recent.get(&'a', at(6), age), None);
        assert_eq!(recent.get(&'b', at(6), age), Some(3));
        assert_eq!(recent.get(&'c', at(6), age), Some(4));
        assert_eq!((recent.answers.len(), recent.order.len()), (2, 2));
        recent.forget(&'b');
        assert_eq!(recent.get(&'b', at(6), age), None);
        assert_eq!((recent.answers.len(), recent.order.len()), (1, 1));
    }
}
