//! A cluster made again from what was kept of it.

use std::time::Duration;

use akash_types::LeaseId;
use serde::{Deserialize, Serialize};

use super::lease::Lease;
use super::machine::Timer;
use super::pod::{Failure, PodState};
use super::{ClusterSpec, Settings, SimCluster, Touched};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LeaseRecord(Lease);

impl LeaseRecord {
    pub const fn lease(&self) -> LeaseId {
        self.0.id
    }
}

impl SimCluster {
    /// What is to be kept of a lease; `None` if nothing is there of it.
    pub fn record(&self, id: LeaseId) -> Option<LeaseRecord> {
        self.leases.get(&id).cloned().map(LeaseRecord)
    }

    /// Every lease, as it is to be kept.
    pub fn records(&self) -> impl Iterator<Item = LeaseRecord> + '_ {
        self.leases.values().cloned().map(LeaseRecord)
    }

    /// The cluster as it was, at the moment `now`. Machines may be others than before: a pod whose
    /// node is not there any more looks for another.
    pub fn restore(
        spec: ClusterSpec,
        settings: Settings,
        seed: u64,
        now: Duration,
        maintenance: bool,
        records: impl IntoIterator<Item = LeaseRecord>,
    ) -> Self {
        let mut cluster = Self::new(spec, settings, seed);
        cluster.now = now;
        cluster.maintenance = maintenance;
        for LeaseRecord(lease) in records {
            cluster.adopt(lease);
        }
        let waiting: Vec<_> = cluster.waiting.iter().copied().collect();
        for (id, key) in waiting {
            cluster.with_lease(id, |cluster, lease| cluster.place(lease, key));
        }
        cluster.touched = Touched::default();
        cluster
    }

    fn adopt(&mut self, mut lease: Lease) {
        let id = lease.id;
        for name in lease.hostnames.keys() {
            self.hostnames.insert(name.clone(), id);
        }
        self.node_ports.extend(lease.ports.iter().map(|port| port.node_port));
        for (name, address) in &lease.ips {
            self.endpoints.insert((id.owner(), name.clone()), id);
            self.addresses.iter_mut().for_each(|free| free.retain(|other| other != address));
        }
        for (_, (class, bytes)) in &lease.volumes {
            if let Some(class) = self.classes.get_mut(class) {
                class.used = class.used.saturating_add(*bytes);
            }
        }
        if let Some(due) = lease.gone_at {
            self.timers.set(due, Timer::Lease(id));
        }
        let keys: Vec<_> = lease.pods.keys().copied().collect();
        for key in keys {
            let Some(pod) = lease.pods.get_mut(&key) else { continue };
            let node = pod.node.clone();
            match node.as_ref().and_then(|node| self.machines.get_mut(node)) {
                Some(machine) => {
                    machine.book(pod.template.need.asks, pod.template.card.as_ref(), 1);
                }
                // Forgotten before it is evicted: there is no machine to give anything back to.
                None if node.is_some() && pod.state != PodState::Ending => {
                    pod.node = None;
                    pod.state = PodState::Waiting(String::new());
                    pod.until = None;
                }
                None => {}
            }
            if matches!(pod.state, PodState::Waiting(_)) {
                self.waiting.insert((id, key));
            }
            if let Some(due) = pod.until {
                self.timers.set(due, Timer::Pod(id, key));
            }
            // Nobody remembers that the node was lost, so it is not.
            if pod.state == PodState::Failing(Failure::NodeLost) {
                self.found_again(&mut lease, key);
            }
        }
        self.leases.insert(id, lease);
    }
}
