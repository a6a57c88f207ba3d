//! When a stream has to end although neither side wants it to.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use akash_types::LeaseId;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use provider_engine::engine::Published;
use tokio::sync::watch;
use tokio::time::Sleep;

/// Why a stream has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    LeaseClosed,
    Stopping,
    /// The certificate that it was opened with is revoked.
    Revoked,
    /// It has lasted as long as a stream may.
    TooOld,
}

/// Looks for the end of a lease, or of the provider, or of the right to read the lease.
pub(crate) struct LeaseWatch {
    lease: LeaseId,
    /// Whether the lease was seen alive.
    was_alive: bool,
    published: watch::Receiver<Arc<Published>>,
    stopping: watch::Receiver<bool>,
    lifetime: Pin<Box<Sleep>>,
    revoked: BoxFuture<'static, ()>,
}

impl LeaseWatch {
    /// Watches a lease, which `was_alive` or not when somebody was allowed to read it, until
    /// `revoked`. One that ends right then, before anything is watched, has ended all the same.
    pub(crate) fn new(
        lease: LeaseId,
        was_alive: bool,
        published: watch::Receiver<Arc<Published>>,
        stopping: watch::Receiver<bool>,
        lifetime: Duration,
        revoked: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let lifetime = Box::pin(tokio::time::sleep(lifetime));
        Self { lease, was_alive, published, stopping, lifetime, revoked: revoked.boxed() }
    }

    /// One of a lease that never ends.
    #[cfg(test)]
    pub(crate) fn endless() -> Self {
        tests::endless()
    }

    /// Waits for the end. May be dropped and called again.
    pub(crate) async fn ended(&mut self) -> Ending {
        loop {
            let now = self.published.borrow_and_update().clone();
            match look(&now, self.lease, self.was_alive) {
                Look::Alive => self.was_alive = true,
                Look::Unknown => {}
                Look::Over => return Ending::LeaseClosed,
            }
            if *self.stopping.borrow_and_update() {
                return Ending::Stopping;
            }
            tokio::select! {
                changed = self.published.changed() => if changed.is_err() {
                    return Ending::Stopping;
                },
                changed = self.stopping.changed() => if changed.is_err() {
                    return Ending::Stopping;
                },
                () = &mut self.revoked => return Ending::Revoked,
                () = &mut self.lifetime => return Ending::TooOld,
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Alive,
    Unknown,
    Over,
}

/// How a lease is. That it is not listed says nothing before everything was read, and nothing of a
/// lease that was never listed.
fn look(published: &Published, lease: LeaseId, was_alive: bool) -> Look {
    match published.leases.get(lease) {
        Some(lease) if lease.alive => Look::Alive,
        Some(_) => Look::Over,
        None if was_alive && published.status.ready => Look::Over,
        None => Look::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use provider_engine::engine::{LeaseIndex, LeaseStatus, Status};

    use super::*;

    const OWNER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

    fn published(ready: bool, alive: Option<bool>) -> Published {
        let lease = alive.map(|alive| LeaseStatus {
            id: lease(),
            price: "1uakt".parse().unwrap(),
            stage: "running",
            alive,
            lacks_manifest: false,
            funds: None,
        });
        Published {
            status: Status { height: 1, ready, cluster_fresh: true, ..Status::default() },
            leases: LeaseIndex::from_iter(lease),
            bids: vec![],
            inventory: None,
            deployments: 0,
            manifests: 0,
            drift: std::collections::BTreeMap::new(),
        }
    }

    const DAY: Duration = Duration::from_hours(24);

    fn lease() -> LeaseId {
        format!("{OWNER}/1/1/1/{OWNER}").parse().unwrap()
    }

    /// Watches a lease for as long as the test runs.
    pub(super) fn endless() -> LeaseWatch {
        let (sender, receiver) = watch::channel(Arc::new(published(true, Some(true))));
        let (stop, stopping) = watch::channel(false);
        let senders = async move {
            let _kept = (sender, stop);
            pending::<()>().await;
        };
        LeaseWatch::new(lease(), true, receiver, stopping, DAY, senders)
    }

    #[test]
    fn only_what_is_known_ends_a_stream() {
        for (ready, alive, was_alive, found) in [
            (true, Some(true), false, Look::Alive),
            (true, Some(false), false, Look::Over),
            (true, None, true, Look::Over),
            (true, None, false, Look::Unknown),
            (false, None, true, Look::Unknown),
        ] {
            let published = published(ready, alive);
            assert_eq!(
                look(&published, lease(), was_alive),
                found,
                "{ready} {alive:?} {was_alive}"
            );
        }
    }

    #[tokio::test]
    async fn the_end_of_a_lease_is_noticed() {
        let (sender, receiver) = watch::channel(Arc::new(published(true, Some(true))));
        let (_stop, stopping) = watch::channel(false);
        let mut watch = LeaseWatch::new(lease(), true, receiver, stopping, DAY, pending());
        let waiting = tokio::spawn(async move { watch.ended().await });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        sender.send_replace(Arc::new(published(true, None)));
        assert_eq!(waiting.await.unwrap(), Ending::LeaseClosed);
    }

    #[tokio::test]
    async fn a_lease_that_ended_before_it_was_watched_has_ended() {
        let (_sender, receiver) = watch::channel(Arc::new(published(true, None)));
        let (_stop, stopping) = watch::channel(false);
        let mut watch = LeaseWatch::new(lease(), true, receiver, stopping, DAY, pending());
        let ended = tokio::time::timeout(std::time::Duration::from_secs(5), watch.ended()).await;
        assert_eq!(ended, Ok(Ending::LeaseClosed));
    }

    #[tokio::test(start_paused = true)]
    async fn streams_end_with_their_certificate_and_after_their_lifetime() {
        let (_sender, receiver) = watch::channel(Arc::new(published(true, Some(true))));
        let (_stop, stopping) = watch::channel(false);
        let watch = |revoked: BoxFuture<'static, ()>| {
            LeaseWatch::new(lease(), true, receiver.clone(), stopping.clone(), DAY, revoked)
        };
        let begun = tokio::time::Instant::now();
        assert_eq!(watch(pending().boxed()).ended().await, Ending::TooOld);
        assert_eq!(begun.elapsed(), DAY);
        let revoked = tokio::time::sleep(DAY / 2).boxed();
        assert_eq!(watch(revoked).ended().await, Ending::Revoked);
    }
}
