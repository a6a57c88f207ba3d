//! Finding places, as a scheduler does: filter, score, take.

use std::collections::BTreeMap;
use std::time::Duration;

use akash_sdl::manifest::Service;
use akash_types::{CpuArch, GpuRequest};
use provider_engine::cluster::view::{Amounts, Name};
use serde::{Deserialize, Serialize};

use super::SimCluster;
use super::events::What;
use super::lease::{Lease, VolumeKey};
use super::machine::{Lack, Timer};
use super::pod::{Pod, PodKey, PodState};
use super::settings::CommitLevels;

impl SimCluster {
    /// Gives a pod a place, or a reason why it has none.
    pub(super) fn place(&mut self, lease: &mut Lease, key: PodKey) {
        let Some(pod) = lease.pods.get(&key) else { return };
        let found = self.volumes_fit(lease, key).and_then(|()| self.best_node(pod));
        match found {
            Ok(candidates) => {
                let count = u64::try_from(candidates.len()).unwrap_or(1);
                let index = if count > 1 { self.random.below(count) } else { 0 };
                let index = usize::try_from(index).unwrap_or_default();
                if let Some(node) = candidates.into_iter().nth(index) {
                    self.settle(lease, key, node);
                }
            }
            Err(why) => {
                self.waiting.insert((lease.id, key));
                if pod.state != PodState::Waiting(why.clone()) {
                    let pod = pod.clone();
                    lease.happen(self.settings.events_kept, What::Unschedulable, &pod, &why);
                    self.touched.leases.insert(lease.id);
                    if let Some(pod) = lease.pods.get_mut(&key) {
                        pod.state = PodState::Waiting(why);
                    }
                }
            }
        }
    }

    /// The nodes that are equally good and better than all others.
    fn best_node(&self, pod: &Pod) -> Result<Vec<Name>, String> {
        let template = &pod.template;
        let mut lacks: BTreeMap<Lack, usize> = BTreeMap::new();
        let (mut best, mut candidates) = (i64::MIN, Vec::new());
        for (name, machine) in &self.machines {
            let attaches = |volume: &Volume| machine.node.storage_classes.contains(&volume.class);
            let need = &template.need;
            let fits = machine.fits(need.asks, need.arch, template.card.as_ref()).and_then(|()| {
                let all = need.volumes.iter().all(attaches);
                all.then_some(()).ok_or(Lack::StorageClass)
            });
            match fits {
                Err(lack) => *lacks.entry(lack).or_default() += 1,
                Ok(()) => {
                    let score = machine.emptiness();
                    if score > best {
                        (best, candidates) = (score, Vec::new());
                    }
                    if score == best {
                        candidates.push(name.clone());
                    }
                }
            }
        }
        if !candidates.is_empty() {
            return Ok(candidates);
        }
        let lacks: Vec<String> =
            lacks.iter().map(|(lack, count)| format!("{count} {}", lack.words())).collect();
        let mut why = format!("none of {} nodes can take it", self.machines.len());
        if !lacks.is_empty() {
            why = format!("{why}: {}", lacks.join(", "));
        }
        match template.card.as_ref().filter(|card| !self.has_card(card)) {
            Some(card) => Err(format!("{why}; no node has a GPU {:?}", &*card.model)),
            None => Err(why),
        }
    }

    /// Whether the volumes that a pod still lacks can be made.
    pub(super) fn volumes_fit(&self, lease: &Lease, key: PodKey) -> Result<(), String> {
        let Some(pod) = lease.pods.get(&key) else { return Ok(()) };
        let mut wanted: BTreeMap<&Name, i64> = BTreeMap::new();
        for volume in missing_volumes(lease, pod) {
            let sum = wanted.entry(&volume.class).or_default();
            *sum = sum.saturating_add(volume.bytes);
        }
        for (name, bytes) in wanted {
            let Some(class) = self.classes.get(name) else {
                return Err(format!("volume pending: there is no storage class {:?}", &**name));
            };
            let free = class.view.allocatable - class.view.others - class.used;
            if bytes > free {
                return Err(format!("volume pending: storage class {:?} is full", &**name));
            }
        }
        Ok(())
    }

    /// Puts a pod on a node, with what it needs.
    pub(super) fn settle(&mut self, lease: &mut Lease, key: PodKey, node: Name) {
        let Some(pod) = lease.pods.get(&key).cloned() else { return };
        for volume in missing_volumes(lease, &pod).cloned().collect::<Vec<_>>() {
            if let Some(class) = self.classes.get_mut(&volume.class) {
                class.used = class.used.saturating_add(volume.bytes);
            }
            lease.volumes.push((volume_key(&pod, &volume), (volume.class, volume.bytes)));
        }
        if let Some(machine) = self.machines.get_mut(&node) {
            machine.book(pod.template.need.asks, pod.template.card.as_ref(), 1);
        }
        self.waiting.remove(&(lease.id, key));
        lease.happen(self.settings.events_kept, What::Scheduled, &pod, &node);
        let due = self.now.saturating_add(self.start_span(&pod.template.image));
        if let Some(pod) = lease.pods.get_mut(&key) {
            pod.node = Some(node);
            pod.state = PodState::Starting;
        }
        self.wake_pod(lease, key, Some(due));
        self.touched.leases.insert(lease.id);
    }

    /// Takes a pod away and gives back what it had.
    pub(super) fn release(&mut self, lease: &mut Lease, key: PodKey) -> Option<Pod> {
        let pod = lease.pods.remove(&key)?;
        self.waiting.remove(&(lease.id, key));
        if let Some(machine) = pod.node.as_ref().and_then(|node| self.machines.get_mut(node)) {
            machine.book(pod.template.need.asks, pod.template.card.as_ref(), -1);
            self.look_soon();
        }
        self.touched.leases.insert(lease.id);
        Some(pod)
    }

    /// Sets when a pod changes by itself; what was set before does not count any more.
    pub(super) fn wake_pod(&mut self, lease: &mut Lease, key: PodKey, due: Option<Duration>) {
        if let Some(pod) = lease.pods.get_mut(&key) {
            pod.until = due;
            if let Some(due) = due {
                self.timers.set(due, Timer::Pod(lease.id, key));
            }
        }
    }

    /// Room became free: looks again, soon, at what waits for some.
    pub(super) fn look_soon(&mut self) {
        let due = self.now.saturating_add(self.settings.delays.reschedule);
        if !self.waiting.is_empty() {
            self.timers.set_look(due);
        }
    }

    /// Looks at all that waits for room.
    pub(super) fn look(&mut self) {
        for (id, key) in self.waiting.clone() {
            self.with_lease(id, |cluster, lease| cluster.place(lease, key));
        }
    }
}

fn volume_key(pod: &Pod, volume: &Volume) -> VolumeKey {
    (pod.template.service.clone(), pod.ordinal, volume.name.clone())
}

fn missing_volumes<'a>(lease: &'a Lease, pod: &'a Pod) -> impl Iterator<Item = &'a Volume> {
    let volumes = pod.template.need.volumes.iter();
    volumes.filter(move |volume| lease.volume(&volume_key(pod, volume)).is_none())
}

/// A persistent volume of one replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Volume {
    pub(super) name: String,
    pub(super) class: Name,
    pub(super) bytes: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Need {
    #[serde(with = "crate::wire::amounts")]
    pub(super) asks: Amounts,
    pub(super) volumes: Vec<Volume>,
    /// Architecture of the nodes that can run it.
    #[serde(default, with = "crate::wire::arch")]
    pub(super) arch: CpuArch,
}

impl Need {
    /// What a replica of `service` asks for; `Err` says what the manifest lacks.
    pub(super) fn of(service: &Service, commit: CommitLevels) -> Result<Self, String> {
        let resources = &service.resources;
        let lacks = |what: &str| format!("service {:?} has no {what}", service.name);
        let cpu = resources.cpu.as_ref().ok_or_else(|| lacks("CPU"))?;
        let arch =
            cpu.arch().map_err(|unknown| format!("service {:?}: {unknown}", service.name))?;
        let cpu = cpu.units;
        let memory = resources.memory.as_ref().ok_or_else(|| lacks("memory"))?.quantity;
        let gpu = resources.gpu.as_ref().map_or(0, |gpu| gpu.units);
        let (mut ram, mut ephemeral, mut volumes) = (0_u64, 0_u64, Vec::new());
        for volume in resources.storage.iter().flatten() {
            if volume.is_persistent() {
                volumes.push(Volume {
                    name: volume.name.clone(),
                    class: volume.class().unwrap_or("default").into(),
                    bytes: signed(volume.quantity),
                });
            } else if volume.is_ram() {
                ram = ram.saturating_add(volume.quantity);
            } else {
                ephemeral = ephemeral.saturating_add(committed(commit.storage, volume.quantity));
            }
        }
        let memory = committed(commit.memory, memory).saturating_add(ram);
        let asks = Amounts {
            cpu_milli: signed(committed(commit.cpu, cpu)),
            memory: signed(memory),
            ephemeral: signed(ephemeral),
            gpu: signed(gpu),
        };
        Ok(Self { asks, volumes, arch })
    }
}

/// The cards that a service would take; `Err` if its wishes cannot be read.
pub(super) fn card_wishes(service: &Service) -> Result<Vec<GpuRequest>, String> {
    let gpu = service.resources.gpu.as_ref().filter(|gpu| gpu.units > 0);
    gpu.map_or(Ok(Vec::new()), |gpu| gpu.requests().map_err(|why| why.to_string()))
}

/// A quantity at a level of overcommit: divided, rounded half up, at least 1.
fn committed(level: u64, quantity: u64) -> u64 {
    match level {
        0 | 1 => quantity,
        _ => (quantity.saturating_add(level / 2) / level).max(1),
    }
}

fn signed(quantity: u64) -> i64 {
    i64::try_from(quantity).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overcommit_rounds_as_the_contract_says() {
        for (level, quantity, committed_to) in
            [(1, 100, 100), (2, 100, 50), (3, 100, 33), (10_000, 100, 1), (2, 101, 51)]
        {
            assert_eq!(committed(level, quantity), committed_to, "{quantity} at {level}");
        }
    }
}
