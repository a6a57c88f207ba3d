//! When a stream has to end although neither side wants it to.

use std::sync::Arc;

use akash_types::LeaseId;
use provider_engine::engine::Published;
use tokio::sync::watch;

/// Why a stream has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The lease is over.
    LeaseClosed,
    /// The provider stops.
    Stopping,
}

/// Looks for the end of a lease, or of the provider.
#[derive(Debug)]
pub(crate) struct LeaseWatch {
    lease: LeaseId,
    /// Whether the lease was seen alive.
    was_alive: bool,
    published: watch::Receiver<Arc<Published>>,
    stopping: watch::Receiver<bool>,
}

impl LeaseWatch {
    /// Watches a lease that was `shown` like this when somebody was allowed to read it. One that
    /// ends right then, before anything is watched, has ended all the same.
    pub(crate) fn new(
        lease: LeaseId,
        shown: &Published,
        published: watch::Receiver<Arc<Published>>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let was_alive = look(shown, lease, false) == Look::Alive;
        Self { lease, was_alive, published, stopping }
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
    use provider_engine::engine::{ClusterStatus, LeaseIndex, LeaseStatus, Status};

    use super::*;

    const OWNER: &str = "akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";

    fn published(ready: bool, alive: Option<bool>) -> Published {
        let lease = alive.map(|alive| LeaseStatus {
            id: lease(),
            price: "1uakt".parse().unwrap(),
            stage: "running",
            alive,
            lacks_manifest: false,
        });
        Published {
            status: Status {
                height: 1,
                ready,
                cluster_fresh: true,
                cluster: ClusterStatus::default(),
                rival: false,
                breaker_open: false,
                maintenance: false,
                cannot_pay: None,
                orders: vec![],
                leases: vec![],
            },
            leases: LeaseIndex::from_iter(lease),
            bids: vec![],
            inventory: None,
            deployments: 0,
            manifests: 0,
            drift: std::collections::BTreeMap::new(),
        }
    }

    fn lease() -> LeaseId {
        format!("{OWNER}/1/1/1/{OWNER}").parse().unwrap()
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
        let shown = Arc::new(published(true, Some(true)));
        let (sender, receiver) = watch::channel(shown.clone());
        let (_stop, stopping) = watch::channel(false);
        let mut watch = LeaseWatch::new(lease(), &shown, receiver, stopping);
        let waiting = tokio::spawn(async move { watch.ended().await });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        sender.send_replace(Arc::new(published(true, None)));
        assert_eq!(waiting.await.unwrap(), Ending::LeaseClosed);
    }

    #[tokio::test]
    async fn a_lease_that_ended_before_it_was_watched_has_ended() {
        let shown = published(true, Some(true));
        let (_sender, receiver) = watch::channel(Arc::new(published(true, None)));
        let (_stop, stopping) = watch::channel(false);
        let mut watch = LeaseWatch::new(lease(), &shown, receiver, stopping);
        let ended = tokio::time::timeout(std::time::Duration::from_secs(5), watch.ended()).await;
        assert_eq!(ended, Ok(Ending::LeaseClosed));
    }
}
