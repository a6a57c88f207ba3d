//! What goes wrong with the machines, and with the way to them.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_types::LeaseId;
use provider_engine::cluster::command::{Command, CommandAnswer, CommandFailure};
use provider_engine::cluster::view::{Amounts, Name, ViewChange};
use serde::{Deserialize, Serialize};

use super::events::What;
use super::machine::Timer;
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

/// How often out of a thousand commands something goes wrong on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Faults {
    /// It is not done, and the answer says that nobody answered.
    pub fail: u32,
    /// It is done, and the answer says that nobody answered.
    pub fail_after: u32,
    /// It is done, and no answer comes.
    pub lose: u32,
    /// The answer comes twice.
    pub double: u32,
    /// The answer comes late.
    pub late: u32,
    /// By how much, at most.
    pub late_by: Duration,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Api {
    pub(super) down: bool,
    /// When it answers again by itself.
    back_at: Option<Duration>,
    pub(super) faults: Faults,
    /// It answers again since the last step.
    pub(super) is_back: bool,
    late: BTreeMap<u64, CommandAnswer>,
    next_late: u64,
}

/// What is said while it does not answer.
pub(super) const DOWN: &str = "the simulated API is switched off";

impl SimCluster {
    /// Does what was asked, and sees to the answer's fate.
    pub(super) fn command(&mut self, command: Command, outputs: &mut Vec<SimOutput>) {
        let Command { id, operation } = command;
        let faults = self.api.faults;
        let unavailable = |why: &str| Err(CommandFailure::Unavailable(why.to_owned()));
        let result = if self.api.down {
            unavailable(DOWN)
        } else if self.random.chance(faults.fail) {
            unavailable("a simulated fault: nothing was done")
        } else {
            let result = self.operate(operation);
            match self.random.chance(faults.fail_after) {
                true => unavailable("a simulated fault: the connection broke"),
                false => result,
            }
        };
        if self.random.chance(faults.lose) {
            return;
        }
        let answer = CommandAnswer { id, result };
        if self.random.chance(faults.double) {
            self.answer_late(answer.clone());
        }
        match self.random.chance(faults.late) {
            true => self.answer_late(answer),
            false => outputs.push(SimOutput::Answer(answer)),
        }
    }

    fn answer_late(&mut self, answer: CommandAnswer) {
        let most = u64::try_from(self.api.faults.late_by.as_millis()).unwrap_or(u64::MAX);
        let due = self.now.saturating_add(Duration::from_millis(self.random.below(most)));
        let number = self.api.next_late;
        self.api.next_late = number.wrapping_add(1);
        self.api.late.insert(number, answer);
        self.timers.set(due, Timer::Answer(number));
    }

    /// Gives the answer that was held back.
    pub(super) fn late_answer(&mut self, number: u64, outputs: &mut Vec<SimOutput>) {
        outputs.extend(self.api.late.remove(&number).map(SimOutput::Answer));
    }

    /// Stops answering, for ever or for a time.
    pub(super) fn api_down(&mut self, span: Option<Duration>, outputs: &mut Vec<SimOutput>) {
        if !self.api.down {
            outputs.push(SimOutput::View(ViewChange::Lost));
        }
        self.api.down = true;
        self.api.is_back = false;
        self.api.back_at = span.map(|span| self.now.saturating_add(span));
        if let Some(due) = self.api.back_at {
            self.timers.set(due, Timer::ApiBack);
        }
    }

    pub(super) fn api_up(&mut self) {
        self.api.is_back = self.api.is_back || self.api.down;
        self.api.down = false;
        self.api.back_at = None;
    }

    /// The moment has come to answer again, unless it was put off since.
    pub(super) fn api_due(&mut self) {
        if self.api.back_at.is_some_and(|due| due <= self.now) {
            self.api_up();
        }
    }
}
