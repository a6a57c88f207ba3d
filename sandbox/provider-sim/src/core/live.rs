//! What happens by itself as time passes.

use std::time::Duration;

use super::events::What;
use super::image::{Behaviour, Ends};
use super::lease::Lease;
use super::machine::Timer;
use super::pod::{Cause, Ended, Failure, PodKey, PodState, Run};
use super::{SimCluster, SimOutput};

/// Back-off grows up to so many times the first.
const MOST_BACKOFF: u32 = 30;

impl SimCluster {
    /// Lets happen what is due until `now`, each thing at its moment.
    pub(super) fn advance(&mut self, now: Duration, outputs: &mut Vec<SimOutput>) {
        let now = now.max(self.now);
        while let Some((due, timer)) = self.timers.take_due(now) {
            self.now = due.max(self.now);
            match timer {
                Timer::Pod(id, key) => self.pod_due(id, key),
                Timer::Lease(id) => self.lease_due(id),
                Timer::Look => self.look(),
                Timer::Answer(number) => self.late_answer(number, outputs),
                Timer::ApiBack => self.api_due(),
            }
        }
        self.now = now;
    }

    fn pod_due(&mut self, id: akash_types::LeaseId, key: PodKey) {
        let now = self.now;
        self.with_lease(id, |cluster, lease| {
            let Some(pod) = lease.pods.get(&key) else { return };
            if pod.until.is_none_or(|until| until > now) {
                return;
            }
            let service = pod.template.service.clone();
            cluster.touched.leases.insert(id);
            match pod.state {
                PodState::Starting => cluster.started(lease, key),
                PodState::Ready => {
                    let cause = match Behaviour::of(&pod.template.image).ends {
                        Some(Ends::OutOfMemory) => Cause::OutOfMemory,
                        _ => Cause::Crash,
                    };
                    cluster.container_ends(lease, key, cause);
                }
                PodState::Failing(Failure::Exit) => cluster.run_container(lease, key),
                PodState::Failing(Failure::NodeLost) => cluster.evict(lease, key),
                PodState::Failing(Failure::Image) | PodState::Waiting(_) => {
                    cluster.wake_pod(lease, key, None);
                }
                PodState::Ending => {
                    cluster.release(lease, key);
                }
            }
            cluster.roll(lease, &service);
        });
    }

    /// Image and volumes are there, or never will be.
    fn started(&mut self, lease: &mut Lease, key: PodKey) {
        let Some(pod) = lease.pods.get(&key).cloned() else { return };
        let (kept, image) = (self.settings.events_kept, pod.template.image.clone());
        if Behaviour::of(&image).missing {
            lease.happen(kept, What::PullFailed, &pod, &image);
            if let Some(pod) = lease.pods.get_mut(&key) {
                pod.state = PodState::Failing(Failure::Image);
            }
            self.wake_pod(lease, key, None);
            return;
        }
        lease.happen(kept, What::Pulled, &pod, &image);
        self.run_container(lease, key);
    }

    /// Starts the container, for the first time or again.
    pub(super) fn run_container(&mut self, lease: &mut Lease, key: PodKey) {
        let Some(pod) = lease.pods.get_mut(&key) else { return };
        let delays = self.settings.delays;
        let number = match pod.run.take() {
            None => 0,
            Some(run) => {
                let number = run.number.wrapping_add(1);
                pod.restarts = pod.restarts.saturating_add(1);
                pod.previous = Some(run);
                number
            }
        };
        pod.run = Some(Run { number, started: self.now, ended: None });
        pod.state = PodState::Ready;
        let (pod, ends) = (pod.clone(), Behaviour::of(&pod.template.image).ends);
        lease.happen(self.settings.events_kept, What::Started, &pod, "");
        let span = match ends {
            None => None,
            Some(Ends::Crash | Ends::OutOfMemory) => Some(self.about(delays.crash_after)),
            Some(Ends::NowAndThen) => {
                let times = u32::try_from(self.random.below(40)).unwrap_or_default();
                Some(self.about(delays.crash_after).saturating_mul(times.saturating_add(5)))
            }
        };
        self.wake_pod(lease, key, span.map(|span| self.now.saturating_add(span)));
    }

    /// The container ends; the pod starts it again after a while.
    pub(super) fn container_ends(&mut self, lease: &mut Lease, key: PodKey, cause: Cause) {
        let Some(pod) = lease.pods.get_mut(&key) else { return };
        if let Some(run) = &mut pod.run {
            run.ended = Some(Ended { at: self.now, cause });
        }
        pod.state = PodState::Failing(Failure::Exit);
        let factor = 1_u32.checked_shl(pod.restarts).unwrap_or(MOST_BACKOFF).min(MOST_BACKOFF);
        let span = self.settings.delays.backoff.saturating_mul(factor.max(1));
        let pod = pod.clone();
        lease.happen(self.settings.events_kept, What::Ended(cause), &pod, "");
        self.wake_pod(lease, key, Some(self.now.saturating_add(span)));
        self.touched.leases.insert(lease.id);
    }

    /// Gives up a pod on a node that is lost and makes another.
    pub(super) fn evict(&mut self, lease: &mut Lease, key: PodKey) {
        let Some(mut pod) = self.release(lease, key) else { return };
        pod.name = self.pod_name(&pod.template, pod.ordinal);
        pod.node = None;
        pod.state = PodState::Waiting(String::new());
        pod.until = None;
        pod.restarts = 0;
        pod.previous = pod.run.take().or(pod.previous);
        lease.pods.insert(key, pod);
        self.place(lease, key);
    }
}
