//! What happened to a lease, remembered in a small form and told in words when asked.

use std::fmt::Write;

use akash_types::LeaseId;
use provider_engine::cluster::port::{ClusterEvent, EventKind, ObjectRef};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::lease::Lease;
use super::pod::{Cause, Pod};

/// Something that happened to a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Happening {
    /// Its number among all of the lease, from 0.
    pub(super) number: u64,
    pub(super) what: What,
    pub(super) service: String,
    pub(super) pod: String,
    /// Image, node or words, depending on what happened.
    pub(super) detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum What {
    Scheduled,
    Unschedulable,
    Pulled,
    PullFailed,
    Started,
    Ended(Cause),
    Killing,
    NodeLost,
}

impl Lease {
    /// Remembers what happened to a pod, and forgets the oldest.
    pub(super) fn happen(&mut self, kept: usize, what: What, pod: &Pod, detail: &str) {
        let (service, name) = (pod.template.service.clone(), pod.name.clone());
        let number = self.happened;
        self.happened = self.happened.saturating_add(1);
        if kept == 0 {
            return;
        }
        while self.events.len() >= kept {
            self.events.pop_front();
        }
        let detail = detail.to_owned();
        self.events.push_back(Happening { number, what, service, pod: name, detail });
    }
}

impl Happening {
    pub(super) fn tell(&self, lease: LeaseId) -> ClusterEvent {
        let Self { detail, pod, .. } = self;
        let (normal, warning) = (EventKind::Normal, EventKind::Warning);
        let (kubelet, scheduler) = ("kubelet", "default-scheduler");
        let (kind, reason, controller, note) = match self.what {
            What::Scheduled => {
                (normal, "Scheduled", scheduler, format!("assigned {pod} to {detail}"))
            }
            What::Unschedulable => (warning, "FailedScheduling", scheduler, detail.clone()),
            What::Pulled => (normal, "Pulled", kubelet, format!("image {detail:?} is here")),
            What::PullFailed => {
                (warning, "Failed", kubelet, format!("image {detail:?} cannot be pulled"))
            }
            What::Started => (normal, "Started", kubelet, "container started".to_owned()),
            What::Ended(cause) => (warning, "BackOff", kubelet, cause.words().to_owned()),
            What::Killing => (normal, "Killing", kubelet, "container is told to end".to_owned()),
            What::NodeLost => {
                (warning, "NodeNotReady", "node-controller", format!("node {detail} is lost"))
            }
        };
        ClusterEvent {
            kind,
            reason: reason.to_owned(),
            note: format!("{note} (simulated)"),
            controller: controller.to_owned(),
            instance: String::new(),
            object: ObjectRef {
                kind: "Pod".to_owned(),
                namespace: namespace(lease),
                name: pod.clone(),
            },
            service: Some(self.service.clone()),
        }
    }
}

/// Where the names of a lease's things count.
fn namespace(lease: LeaseId) -> String {
    let digest = Sha256::digest(lease.to_string().as_bytes());
    digest.iter().take(12).fold("sim-".to_owned(), |mut name, byte| {
        let _ = write!(name, "{byte:02x}");
        name
    })
}
