//! What is there of a lease.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use akash_types::LeaseId;
use provider_engine::cluster::command::Workload;
use provider_engine::cluster::view::{Held, LeaseView, Name};
use serde::{Deserialize, Serialize};

use super::events::Happening;
use super::pod::{Pod, PodKey, Template};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lease {
    #[serde(with = "crate::wire::lease_id")]
    pub(super) id: LeaseId,
    #[serde(with = "crate::wire::workload::option")]
    pub(super) held: Option<Arc<Workload>>,
    /// Whether what runs was made from what is held.
    pub(super) deployed: bool,
    pub(super) services: BTreeMap<String, Running>,
    pub(super) pods: BTreeMap<PodKey, Pod>,
    pub(super) next_pod: PodKey,
    /// Volumes by service, replica and name. They stay until the lease ends.
    pub(super) volumes: Vec<(VolumeKey, (Name, i64))>,
    /// Hostnames and the services they lead to.
    pub(super) hostnames: BTreeMap<String, String>,
    pub(super) ports: Vec<NodePort>,
    /// Addresses by the name of the endpoint.
    pub(super) ips: BTreeMap<String, IpAddr>,
    /// When the last of it goes; `None` while it is not on its way out.
    pub(super) gone_at: Option<Duration>,
    pub(super) stuck: bool,
    pub(super) events: VecDeque<Happening>,
    /// How many events there were in all.
    pub(super) happened: u64,
}

/// Names a volume within its lease: service, replica, name.
pub(super) type VolumeKey = (String, u32, String);

/// A service as the cluster was told to run it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Running {
    pub(super) template: Template,
    pub(super) count: u32,
    pub(super) generation: i64,
}

/// A port on every node that leads to a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NodePort {
    pub(super) service: String,
    pub(super) port: u16,
    /// The port that the manifest asked for.
    pub(super) asked: u16,
    pub(super) udp: bool,
    pub(super) node_port: u16,
}

impl Lease {
    pub(super) const fn new(id: LeaseId) -> Self {
        Self {
            id,
            held: None,
            deployed: false,
            services: BTreeMap::new(),
            pods: BTreeMap::new(),
            next_pod: 0,
            volumes: Vec::new(),
            hostnames: BTreeMap::new(),
            ports: Vec::new(),
            ips: BTreeMap::new(),
            gone_at: None,
            stuck: false,
            events: VecDeque::new(),
            happened: 0,
        }
    }

    /// Its pods of a service, in the order of their names.
    pub(super) fn pods_of(&self, service: &str) -> Vec<(PodKey, &Pod)> {
        let mut pods: Vec<_> = self
            .pods
            .iter()
            .filter(|(_, pod)| pod.template.service == service)
            .map(|(key, pod)| (*key, pod))
            .collect();
        pods.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
        pods
    }

    pub(super) fn volume(&self, key: &VolumeKey) -> Option<&(Name, i64)> {
        self.volumes.iter().find(|(other, _)| other == key).map(|(_, volume)| volume)
    }

    /// The manifest as others see it.
    pub(super) fn held_view(&self) -> Option<Held> {
        self.held.as_ref().map(|workload| Held {
            version: workload.version,
            group: Arc::clone(&workload.group),
            cards: workload.cards.clone(),
            ignored: workload.ignored.clone(),
            deployed: self.deployed,
        })
    }

    pub(super) fn view(&self) -> LeaseView {
        let mut volumes = BTreeMap::new();
        for (_, (class, bytes)) in &self.volumes {
            let sum: &mut i64 = volumes.entry(class.clone()).or_default();
            *sum = sum.saturating_add(*bytes);
        }
        LeaseView {
            id: self.id,
            held: self.held_view(),
            replicas: self.pods.values().map(Pod::replica).collect(),
            volumes,
            hostnames: self.hostnames.keys().cloned().collect(),
            ips: u64::try_from(self.ips.len()).unwrap_or(u64::MAX),
            ports: u64::try_from(self.ports.len()).unwrap_or(u64::MAX),
            terminating: self.gone_at.is_some(),
            stuck: (self.stuck && self.gone_at.is_some()).then(|| {
                "a finalizer of the simulated workload's volume is not done yet".to_owned()
            }),
        }
    }
}
