//! A view kept up to date from what a driver tells.

use std::time::Duration;

use akash_types::LeaseId;
use provider_engine::cluster::port::Changes;
use provider_engine::cluster::view::{ClusterView, Condition, LeaseView, ViewChange};
use tokio::time::{Instant, timeout_at};

use super::report::Breach;

/// A view kept up to date.
#[derive(Debug)]
pub struct Watch<C> {
    changes: C,
    pub view: ClusterView,
    /// Whether the cluster answers.
    pub is_lost: bool,
}

impl<C: Changes> Watch<C> {
    /// Begins with the whole view.
    pub async fn begin(mut changes: C, patience: Duration) -> Result<Self, Breach> {
        let deadline = Instant::now() + patience;
        // A driver that cannot ask yet says so first.
        loop {
            match timeout_at(deadline, changes.next()).await {
                Ok(ViewChange::Whole(view)) => {
                    return Ok(Self { changes, view: *view, is_lost: false });
                }
                Ok(ViewChange::Lost) => {}
                Ok(other) => return Err(Breach(format!("a view began with {other:?}"))),
                Err(_) => return Err(Breach("no whole view came in time".to_owned())),
            }
        }
    }

    /// Watches until something holds.
    pub async fn until(
        &mut self,
        what: &str,
        patience: Duration,
        mut holds: impl FnMut(&ClusterView, bool) -> bool,
    ) -> Result<(), Breach> {
        let deadline = Instant::now() + patience;
        while !holds(&self.view, self.is_lost) {
            match timeout_at(deadline, self.changes.next()).await {
                Ok(change) => self.apply(change),
                Err(_) => {
                    let seen: Vec<&LeaseView> = self.view.leases.values().collect();
                    return Err(Breach(format!("{what} did not happen; seen: {seen:?}")));
                }
            }
        }
        Ok(())
    }

    /// Watches until a lease is as it should be; `None` is a lease of which nothing is there.
    pub async fn until_lease(
        &mut self,
        what: &str,
        patience: Duration,
        lease: LeaseId,
        mut holds: impl FnMut(Option<&LeaseView>) -> bool,
    ) -> Result<(), Breach> {
        self.until(what, patience, |view, lost| !lost && holds(view.leases.get(&lease))).await
    }

    fn apply(&mut self, change: ViewChange) {
        let view = &mut self.view;
        match change {
            ViewChange::Whole(whole) => (*view, self.is_lost) = (*whole, false),
            ViewChange::Lost => self.is_lost = true,
            ViewChange::Node(name, node) => drop(view.nodes.insert(name, node)),
            ViewChange::NodeGone(name) => drop(view.nodes.remove(&name)),
            ViewChange::Storage(name, class) => drop(view.storage.insert(name, class)),
            ViewChange::StorageGone(name) => drop(view.storage.remove(&name)),
            ViewChange::Ips(pool) => view.ips = pool,
            ViewChange::Ports(pool) => view.ports = pool,
            ViewChange::Lease(lease) => drop(view.leases.insert(lease.id, *lease)),
            ViewChange::LeaseGone(id) => drop(view.leases.remove(&id)),
            ViewChange::Maintenance(on) => view.maintenance = on,
        }
    }
}

/// Whether a lease has exactly so many replicas, all of them at work.
pub(super) fn is_ready(lease: Option<&LeaseView>, replicas: usize) -> bool {
    lease.is_some_and(|lease| {
        lease.replicas.len() == replicas
            && lease.replicas.iter().all(|replica| replica.condition == Condition::Ready)
    })
}
