//! How streams share the processor: one after the other, and those of one owner no faster than a
//! rate, however many they are.
//!
//! What a stream carries is encrypted, decrypted and encoded here, so bytes are processor time. A
//! rate for each owner keeps most of it free for what others ask.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use akash_types::Address;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// How much a pause is worth: what an owner may carry at once after it, as time at the rate.
const BURST: Duration = Duration::from_millis(250);

/// Until when what the streams of an owner have carried is paid for.
type Paid = Mutex<Instant>;

/// Where streams wait for one another. Every clone is the same.
#[derive(Clone)]
pub(crate) struct Streams {
    turn: Arc<Semaphore>,
    owners: Arc<Mutex<HashMap<Address, Weak<Paid>>>>,
}

impl Default for Streams {
    fn default() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)), owners: Arc::default() }
    }
}

impl Streams {
    /// For a stream of `owner` that carries at most so many bytes a second, together with the
    /// owner's others.
    pub(crate) fn turns(&self, owner: Address, bytes_per_second: u32) -> Turns {
        let mut owners = lock(&self.owners);
        let paid = owners.get(&owner).and_then(Weak::upgrade).unwrap_or_else(|| {
            owners.retain(|_, paid| paid.strong_count() > 0);
            let paid = Arc::new(Mutex::new(Instant::now()));
            owners.insert(owner, Arc::downgrade(&paid));
            paid
        });
        Turns { turn: Arc::clone(&self.turn), paid, bytes_per_second }
    }
}

/// The turns of one stream.
pub(crate) struct Turns {
    turn: Arc<Semaphore>,
    paid: Arc<Paid>,
    bytes_per_second: u32,
}

impl Turns {
    /// Waits after `bytes` were carried: until the owner's rate allows more, and until everything
    /// else that can run has done so. However many streams have something to carry at once, the
    /// runtime has one of them to run between what others ask.
    pub(crate) async fn next(&self, bytes: usize) {
        let now = Instant::now();
        let paid = self.pay(bytes, now);
        if paid > now {
            tokio::time::sleep_until(paid).await;
        }
        // Never closed.
        let _turn = self.turn.acquire().await;
        tokio::task::yield_now().await;
    }

    /// When the owner may go on.
    fn pay(&self, bytes: usize, now: Instant) -> Instant {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let nanoseconds = bytes.saturating_mul(1_000_000_000);
        let lasts = nanoseconds.checked_div(self.bytes_per_second.into()).unwrap_or_default();
        let mut paid = lock(&self.paid);
        let earliest = now.checked_sub(BURST).unwrap_or(now);
        let from = earliest.max(*paid);
        *paid = from.checked_add(Duration::from_nanos(lasts)).unwrap_or(from);
        *paid
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turns").field("bytes_per_second", &self.bytes_per_second).finish()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(byte: u8) -> Address {
        Address::from_bytes(&[byte; 20]).unwrap()
    }

    /// How long it takes several streams to carry a megabyte each in small messages.
    async fn carry(turns: Vec<Turns>) -> Duration {
        let begun = Instant::now();
        let carrying = turns.into_iter().map(|turns| async move {
            for _ in 0..100 {
                turns.next(10_000).await;
            }
        });
        futures_util::future::join_all(carrying).await;
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn streams_of_one_owner_share_a_rate_and_other_owners_have_their_own() {
        let streams = Streams::default();
        let turns = |byte| streams.turns(owner(byte), 1_000_000);
        let alone = carry(vec![turns(1)]).await;
        let expected = Duration::from_secs(1);
        assert!((expected - BURST..=expected).contains(&alone), "{alone:?}");
        // A pause allows no more than the burst.
        tokio::time::sleep(Duration::from_hours(1)).await;
        let four = carry((0..4).map(|_| turns(1)).collect()).await;
        assert!((expected * 4 - BURST..=expected * 4).contains(&four), "{four:?}");
        let each = carry((2..6).map(turns).collect()).await;
        assert!(each <= expected, "{each:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_owner_without_streams_is_forgotten() {
        let streams = Streams::default();
        for byte in 0..100 {
            drop(streams.turns(owner(byte), 1));
        }
        assert_eq!(lock(&streams.owners).len(), 1);
    }
}
