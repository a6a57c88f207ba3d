//! Hold, deploy, teardown, maintenance.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use akash_sdl::manifest::{Group, Service};
use akash_types::{GpuModel, LeaseId};
use provider_engine::cluster::command::{CommandFailure, Operation, Workload};
use provider_engine::cluster::view::CardChoice;
use sha2::{Digest, Sha256};

use super::SimCluster;
use super::image::Behaviour;
use super::lease::{Lease, Running};
use super::machine::{Timer, is_of};
use super::place::{Need, card_wishes};
use super::pod::Template;
use crate::wire::group_to_json;

/// Most replicas of one service: more are a mistake, and would only cost memory.
const MOST_REPLICAS: u32 = 1000;
/// How much longer a teardown takes that is held up.
const STUCK: u32 = 10;

impl SimCluster {
    pub(super) fn operate(&mut self, operation: Operation) -> Result<(), CommandFailure> {
        match operation {
            Operation::Hold(workload) => self.hold(workload),
            Operation::Deploy(workload) => self.deploy(workload),
            Operation::Teardown { lease, .. } => {
                self.teardown(lease);
                Ok(())
            }
            Operation::Maintain(on) => {
                self.touched.maintenance |= self.maintenance != on;
                self.maintenance = on;
                Ok(())
            }
        }
    }

    fn hold(&mut self, workload: Arc<Workload>) -> Result<(), CommandFailure> {
        self.templates(&workload)?;
        self.not_terminating(workload.lease)?;
        let lease = self.leases.entry(workload.lease).or_insert_with(|| Lease::new(workload.lease));
        if !lease.held.as_ref().is_some_and(|held| is_same(held, &workload)) {
            lease.held = Some(workload);
            lease.deployed = false;
            self.touched.leases.insert(lease.id);
        }
        Ok(())
    }

    fn deploy(&mut self, workload: Arc<Workload>) -> Result<(), CommandFailure> {
        let templates = self.templates(&workload)?;
        let id = workload.lease;
        self.not_terminating(id)?;
        self.can_take(&workload)?;
        let lease = self.leases.entry(id).or_insert_with(|| Lease::new(id));
        let has_taken = || workload.endpoints_to_take.iter().all(|it| lease.ips.contains_key(it));
        let is_known = |held: &Arc<Workload>| {
            is_same(held, &workload) && held.withheld == workload.withheld && has_taken()
        };
        if lease.deployed && lease.held.as_ref().is_some_and(is_known) {
            return Ok(());
        }
        lease.held = Some(Arc::clone(&workload));
        lease.deployed = true;
        self.touched.leases.insert(id);
        self.with_lease(id, |cluster, lease| {
            let mut names: Vec<String> = lease.services.keys().cloned().collect();
            lease.services = merge(&lease.services, templates);
            names.extend(lease.services.keys().cloned());
            names.sort();
            names.dedup();
            for name in names {
                cluster.roll(lease, &name);
            }
            cluster.expose(lease, &workload);
        });
        Ok(())
    }

    /// Everything of the lease begins to end; what leads to it ends at once.
    fn teardown(&mut self, id: LeaseId) {
        self.with_lease(id, |cluster, lease| {
            if lease.gone_at.is_some() {
                return;
            }
            cluster.touched.leases.insert(id);
            cluster.unexpose(lease);
            let stuck = |running: &Running| Behaviour::of(&running.template.image).stuck;
            lease.stuck = lease.services.values().any(stuck);
            (lease.held, lease.deployed) = (None, false);
            lease.services.clear();
            let delays = cluster.settings.delays;
            let keys: Vec<_> = lease.pods.keys().copied().collect();
            for key in keys {
                cluster.end_pod(lease, key);
            }
            let mut span = match lease.pods.is_empty() && lease.volumes.is_empty() {
                true => std::time::Duration::ZERO,
                false => cluster.about(delays.grace.saturating_mul(2) + delays.teardown),
            };
            if lease.stuck {
                span = span.saturating_mul(STUCK);
            }
            let due = cluster.now.saturating_add(span);
            lease.gone_at = Some(due);
            cluster.timers.set(due, Timer::Lease(id));
        });
        // A lease of which only the manifest was there is gone at once.
        self.lease_due(id);
    }

    /// The last of a lease goes, if it is time.
    pub(super) fn lease_due(&mut self, id: LeaseId) {
        let is_due = |lease: &Lease| lease.gone_at.is_some_and(|due| due <= self.now);
        if !self.leases.get(&id).is_some_and(is_due) {
            return;
        }
        self.with_lease(id, |cluster, lease| {
            let keys: Vec<_> = lease.pods.keys().copied().collect();
            for key in keys {
                cluster.release(lease, key);
            }
            for (_, (class, bytes)) in lease.volumes.drain(..) {
                if let Some(class) = cluster.classes.get_mut(&class) {
                    class.used = class.used.saturating_sub(bytes);
                }
            }
        });
        self.leases.remove(&id);
        self.touched.leases.insert(id);
        self.look_soon();
    }

    fn not_terminating(&self, id: LeaseId) -> Result<(), CommandFailure> {
        match self.leases.get(&id).is_some_and(|lease| lease.gone_at.is_some()) {
            false => Ok(()),
            true => Err(CommandFailure::Unavailable(
                "what the lease had before is still on its way out".to_owned(),
            )),
        }
    }

    /// What each service is to run; refused if the manifest makes no sense here.
    fn templates(
        &self,
        workload: &Workload,
    ) -> Result<BTreeMap<String, (Template, u32)>, CommandFailure> {
        let refused = |why: String| CommandFailure::Refused(why);
        let mut templates = BTreeMap::new();
        for service in &workload.group.services {
            let Service { name, image, count, .. } = service;
            if Behaviour::of(image).refused {
                return Err(refused(format!("image {image:?} asks to be refused")));
            }
            if *count > MOST_REPLICAS {
                let why = format!("service {name:?} has more than {MOST_REPLICAS} replicas");
                return Err(refused(why));
            }
            let need = Need::of(service, self.settings.commit).map_err(refused)?;
            let card = match workload.cards.get(name) {
                Some(card) if need.asks.gpu > 0 => Some(card.clone()),
                _ => self.choose_card(service).map_err(refused)?,
            };
            let template = Template {
                service: name.clone(),
                image: image.clone(),
                revision: revision(service, card.as_ref()),
                need,
                card,
                env: service.env.clone().unwrap_or_default(),
            };
            templates.insert(name.clone(), (template, *count));
        }
        Ok(templates)
    }

    /// The cards of a service for which none were chosen: the first kind that it would take.
    fn choose_card(&self, service: &Service) -> Result<Option<CardChoice>, String> {
        let mut cards = self.machines.values().flat_map(|machine| &machine.node.cards);
        let mut first_of = |choice: &dyn Fn(&CardChoice) -> bool| {
            let kind = |card: &provider_engine::cluster::view::GpuCard| CardChoice {
                vendor: card.vendor,
                model: card.model.clone(),
                memory_gib: None,
                interface: None,
            };
            cards.by_ref().map(kind).find(|card| choice(card))
        };
        if service.resources.gpu.as_ref().is_none_or(|gpu| gpu.units == 0) {
            return Ok(None);
        }
        Ok(match card_wishes(service)?.into_iter().next() {
            None => first_of(&|_| true),
            Some(wish) => match wish.model {
                GpuModel::Any => first_of(&|card| card.vendor == wish.vendor),
                GpuModel::Named(model) => Some(CardChoice {
                    vendor: wish.vendor,
                    model: model.into(),
                    memory_gib: wish.ram_gib,
                    interface: wish.interface,
                }),
            },
        })
    }

    /// Whether some node has a card of a kind at all.
    pub(super) fn has_card(&self, choice: &CardChoice) -> bool {
        let mut cards = self.machines.values().flat_map(|machine| &machine.node.cards);
        cards.any(|card| is_of(card, choice))
    }
}

/// Whether two workloads are kept as the same thing.
fn is_same(one: &Workload, other: &Workload) -> bool {
    let same_text = || group_to_json(&one.group) == group_to_json(&other.group);
    one.version == other.version
        && one.cards == other.cards
        && (one.group == other.group || same_text())
}

/// The services that shall run, each with a higher generation if it changed.
fn merge(
    before: &BTreeMap<String, Running>,
    templates: BTreeMap<String, (Template, u32)>,
) -> BTreeMap<String, Running> {
    let running = |(name, (template, count)): (String, (Template, u32))| {
        let generation = match before.get(&name) {
            None => 1,
            Some(old) if old.template == template && old.count == count => old.generation,
            Some(old) => old.generation.saturating_add(1),
        };
        (name, Running { template, count, generation })
    };
    templates.into_iter().map(running).collect()
}

/// A number that differs when anything but the count differs.
fn revision(service: &Service, card: Option<&CardChoice>) -> u64 {
    let service = Service { count: 0, ..service.clone() };
    let group = Group { name: String::new(), services: vec![service] };
    let mut text = group_to_json(&group);
    let _ = write!(text, "{card:?}");
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(0, |number, byte| (number << 8) | u64::from(*byte))
}
