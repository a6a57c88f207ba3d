//! Making the pods of a service be what it shall run.
//!
//! A pod is replaced in place: its successor takes its room in the same moment, so that nobody else
//! can have it meanwhile, and asks for another place only if it does not fit. One pod at a time is
//! taken out of work; those that do no work are replaced at once, so that a broken update never
//! stands in the way of its repair.

use std::collections::BTreeSet;

use super::SimCluster;
use super::events::What;
use super::image::Behaviour;
use super::lease::Lease;
use super::pod::{Pod, PodKey, PodState, Template};

impl SimCluster {
    /// Makes, ends and replaces pods of a service, as far as can be done now.
    pub(super) fn roll(&mut self, lease: &mut Lease, service: &str) {
        if lease.gone_at.is_some() {
            return;
        }
        let alive: Vec<(PodKey, u32, bool, u64)> = lease
            .pods
            .iter()
            .filter(|(_, pod)| pod.template.service == service && pod.state != PodState::Ending)
            .map(|(key, pod)| {
                (*key, pod.ordinal, pod.state == PodState::Ready, pod.template.revision)
            })
            .collect();
        let Some(running) = lease.services.get(service) else {
            alive.iter().for_each(|(key, ..)| self.end_pod(lease, *key));
            return;
        };
        let (count, revision) = (running.count, running.template.revision);
        let present: BTreeSet<u32> = alive.iter().map(|(_, ordinal, ..)| *ordinal).collect();
        let missing: Vec<u32> = (0..count).filter(|ordinal| !present.contains(ordinal)).collect();
        if !missing.is_empty() {
            let template = running.template.clone();
            missing.into_iter().for_each(|ordinal| self.create_pod(lease, &template, ordinal));
        }
        let (wanted, extra): (Vec<_>, Vec<_>) =
            alive.into_iter().partition(|(_, ordinal, ..)| *ordinal < count);
        extra.into_iter().for_each(|(key, ..)| self.end_pod(lease, key));

        let all_work = wanted.iter().all(|(_, _, ready, _)| *ready);
        let mut keys: Vec<PodKey> = Vec::new();
        for (key, _, ready, of) in wanted {
            let takes_one_out = ready && all_work && keys.is_empty();
            if of != revision && (!ready || takes_one_out) {
                keys.push(key);
            }
        }
        if let Some(running) = lease.services.get(service).filter(|_| !keys.is_empty()) {
            let template = running.template.clone();
            keys.into_iter().for_each(|key| self.replace_pod(lease, key, &template));
        }
    }

    fn create_pod(&mut self, lease: &mut Lease, template: &Template, ordinal: u32) {
        let pod = Pod {
            name: self.pod_name(template, ordinal),
            template: template.clone(),
            ordinal,
            node: None,
            state: PodState::Waiting(String::new()),
            until: None,
            restarts: 0,
            run: None,
            previous: None,
        };
        let key = lease.next_pod;
        lease.next_pod = key.wrapping_add(1);
        lease.pods.insert(key, pod);
        self.place(lease, key);
    }

    /// Lets the successor of a pod take its room.
    fn replace_pod(&mut self, lease: &mut Lease, key: PodKey, template: &Template) {
        let Some(pod) = lease.pods.get(&key).cloned() else { return };
        lease.happen(self.settings.events_kept, What::Killing, &pod, "");
        let room = pod.node.clone();
        self.release(lease, key);
        let successor = Pod {
            name: self.pod_name(template, pod.ordinal),
            template: template.clone(),
            node: None,
            state: PodState::Waiting(String::new()),
            until: None,
            restarts: 0,
            run: None,
            previous: pod.run.or(pod.previous),
            ordinal: pod.ordinal,
        };
        lease.pods.insert(key, successor);
        let fits = |name: &_| {
            let (need, card) = (&template.need, template.card.as_ref());
            let machine = self.machines.get(name);
            machine.is_some_and(|machine| machine.fits(need.asks, need.arch, card).is_ok())
        };
        match room.filter(fits) {
            Some(node) if self.volumes_fit(lease, key).is_ok() => self.settle(lease, key, node),
            _ => self.place(lease, key),
        }
        self.touched.leases.insert(lease.id);
    }

    /// Tells a pod to end; one without a place is gone at once.
    pub(super) fn end_pod(&mut self, lease: &mut Lease, key: PodKey) {
        let Some(pod) = lease.pods.get(&key) else { return };
        if pod.state == PodState::Ending {
            return;
        }
        self.touched.leases.insert(lease.id);
        if pod.node.is_none() {
            self.release(lease, key);
            return;
        }
        let pod = pod.clone();
        lease.happen(self.settings.events_kept, What::Killing, &pod, "");
        let due = self.now.saturating_add(self.about(self.settings.delays.grace));
        if let Some(pod) = lease.pods.get_mut(&key) {
            pod.state = PodState::Ending;
        }
        self.wake_pod(lease, key, Some(due));
    }

    /// Names as Kubernetes makes them: by number with volumes, by revision and chance without.
    pub(super) fn pod_name(&mut self, template: &Template, ordinal: u32) -> String {
        let Template { service, revision, need, .. } = template;
        if !need.volumes.is_empty() {
            return format!("{service}-{ordinal}");
        }
        let letters = "bcdfghjklmnpqrstvwxz2456789";
        let mut suffix = String::new();
        for _ in 0..5 {
            let index = self.random.below(u64::try_from(letters.len()).unwrap_or(1));
            let letter = letters.chars().nth(usize::try_from(index).unwrap_or_default());
            suffix.extend(letter);
        }
        format!("{service}-{:08x}-{suffix}", revision >> 32)
    }

    /// How long from a place to work.
    pub(super) fn start_span(&mut self, image: &str) -> std::time::Duration {
        let delays = self.settings.delays;
        let span = self.about(delays.pull.saturating_add(delays.start));
        if Behaviour::of(image).slow { span.saturating_mul(20) } else { span }
    }
}
