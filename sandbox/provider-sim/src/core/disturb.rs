//! What goes wrong with the machines, and with the way to them.

use std::time::Duration;

use akash_types::LeaseId;
use provider_engine::cluster::view::{Amounts, Name};
use serde::{Deserialize, Serialize};

use super::api::Faults;
use super::events::What;
use super::pod::{Cause, Failure, Pod, PodKey, PodState};
use super::{SimCluster, SimOutput};

/// Something that goes wrong, or right again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Disturbance {
    /// A node does not answer any more. Its pods fail, and after a while are made elsewhere.
    NodeLost(Name),
    /// It answers again; its pods that are still there work again.
    NodeBack(Name),
    /// A node is taken out for good.
    NodeRemoved(Name),
    /// New pods are kept away from a node, or not any more.
    Cordon(Name, bool),
    /// Pods that are not of leases ask for this much on a node.
    Others(Name, #[serde(with = "crate::wire::amounts")] Amounts),
    /// So many of a thousand running containers are killed.
    KillContainers {
        /// How many of a thousand.
        per_mille: u32,
    },
    /// The API does not answer any more; for a time, or until it is told to.
    ApiDown(Option<Duration>),
    ApiUp,
    /// How often something goes wrong with a command from now on.
    Faults(Faults),
    /// Objects of so many of a thousand leases are deleted by somebody else.
    Lose {
        what: Loss,
        /// How many of a thousand.
        per_mille: u32,
    },
    /// Manifests are looked for in the wrong namespace, or not any more.
    HideManifests(bool),
}

/// Which objects of a lease are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Loss {
    Everything,
    Manifests,
    Workloads,
}

impl SimCluster {
    pub(super) fn disturb(&mut self, disturbance: Disturbance, outputs: &mut Vec<SimOutput>) {
        match disturbance {
            Disturbance::NodeLost(name) => self.node_lost(&name),
            Disturbance::NodeBack(name) => self.node_back(&name),
            Disturbance::NodeRemoved(name) => {
                if self.machines.remove(&name).is_some() {
                    self.touched.nodes.insert(name.clone());
                    for (id, key) in self.pods_where(|pod| pod.node.as_ref() == Some(&name)) {
                        self.with_lease(id, |cluster, lease| cluster.evict(lease, key));
                    }
                }
            }
            Disturbance::Cordon(name, on) => self.change_node(&name, |node| node.cordoned = on),
            Disturbance::Others(name, amounts) => {
                self.change_node(&name, |machine| machine.node.others = amounts);
            }
            Disturbance::KillContainers { per_mille } => {
                for (id, key) in self.pods_where(|pod| pod.state == PodState::Ready) {
                    if self.random.chance(per_mille) {
                        self.with_lease(id, |cluster, lease| {
                            cluster.container_ends(lease, key, Cause::Killed);
                        });
                    }
                }
            }
            Disturbance::ApiDown(span) => self.api_down(span, outputs),
            Disturbance::ApiUp => self.api_up(),
            Disturbance::Faults(faults) => self.api.faults = faults,
            Disturbance::Lose { what, per_mille } => {
                let ids: Vec<_> = self.leases.keys().copied().collect();
                for id in ids {
                    if self.random.chance(per_mille) {
                        self.lose(id, what);
                    }
                }
            }
            Disturbance::HideManifests(true) => self.hide_manifests(),
            Disturbance::HideManifests(false) => self.show_manifests(),
        }
    }

    fn hide_manifests(&mut self) {
        for lease in self.leases.values_mut().filter(|lease| lease.gone_at.is_none()) {
            if let Some(workload) = lease.held.take() {
                let deployed = std::mem::take(&mut lease.deployed);
                self.hidden.insert(lease.id, (workload, deployed));
                self.touched.leases.insert(lease.id);
            }
        }
    }

    fn show_manifests(&mut self) {
        for (id, (workload, deployed)) in std::mem::take(&mut self.hidden) {
            let lease = self.leases.get_mut(&id).filter(|lease| lease.gone_at.is_none());
            if let Some(lease) = lease.filter(|lease| lease.held.is_none()) {
                (lease.held, lease.deployed) = (Some(workload), deployed);
                self.touched.leases.insert(id);
            }
        }
    }

    fn lose(&mut self, id: LeaseId, what: Loss) {
        self.with_lease(id, |cluster, lease| {
            if lease.gone_at.is_some() {
                return;
            }
            cluster.touched.leases.insert(id);
            lease.deployed = false;
            if what != Loss::Workloads {
                lease.held = None;
            }
            if what != Loss::Manifests {
                cluster.unexpose(lease);
                lease.services.clear();
                let keys: Vec<_> = lease.pods.keys().copied().collect();
                for key in keys {
                    cluster.release(lease, key);
                }
            }
            if what == Loss::Everything {
                lease.gone_at = Some(cluster.now);
            }
        });
        self.lease_due(id);
    }

    fn node_lost(&mut self, name: &Name) {
        if !self.machines.get(name).is_some_and(|machine| machine.up) {
            return;
        }
        self.change_node(name, |machine| machine.up = false);
        let due = self.now.saturating_add(self.settings.delays.evict);
        for (id, key) in self.pods_where(|pod| pod.node.as_ref() == Some(name)) {
            self.with_lease(id, |cluster, lease| {
                let Some(pod) = lease.pods.get_mut(&key) else { return };
                if pod.state != PodState::Ending {
                    pod.state = PodState::Failing(Failure::NodeLost);
                    let pod = pod.clone();
                    lease.happen(cluster.settings.events_kept, What::NodeLost, &pod, name);
                    cluster.wake_pod(lease, key, Some(due));
                    cluster.touched.leases.insert(id);
                }
            });
        }
    }

    fn node_back(&mut self, name: &Name) {
        if self.machines.get(name).is_none_or(|machine| machine.up) {
            return;
        }
        self.change_node(name, |machine| machine.up = true);
        let lost = PodState::Failing(Failure::NodeLost);
        for (id, key) in self.pods_where(|pod| pod.node.as_ref() == Some(name) && pod.state == lost)
        {
            self.with_lease(id, |cluster, lease| cluster.found_again(lease, key));
        }
    }

    /// A pod whose node is back: its container ran on meanwhile, if it ran.
    pub(super) fn found_again(&mut self, lease: &mut super::Lease, key: PodKey) {
        let Some(pod) = lease.pods.get_mut(&key) else { return };
        let runs = pod.run.as_ref().is_some_and(|run| run.ended.is_none());
        pod.state = if runs { PodState::Ready } else { PodState::Starting };
        let image = pod.template.image.clone();
        let due = (!runs).then(|| self.now.saturating_add(self.start_span(&image)));
        self.wake_pod(lease, key, due);
        self.touched.leases.insert(lease.id);
    }

    fn change_node(&mut self, name: &Name, change: impl FnOnce(&mut super::Machine)) {
        if let Some(machine) = self.machines.get_mut(name) {
            change(machine);
            self.touched.nodes.insert(name.clone());
            self.look_soon();
        }
    }

    fn pods_where(&self, is_meant: impl Fn(&Pod) -> bool) -> Vec<(LeaseId, PodKey)> {
        let pods = self
            .leases
            .values()
            .flat_map(|lease| lease.pods.iter().map(|(key, pod)| (lease.id, *key, pod)));
        pods.filter(|(.., pod)| is_meant(pod)).map(|(id, key, _)| (id, key)).collect()
    }
}
