//! What tenants ask about their leases.

use akash_types::LeaseId;
use provider_engine::cluster::port::{
    ClusterEvent, Counts, EventQuery, ForwardedPort, LastExit, LeaseStatus, LeasedIp, Missing,
    Phase, ReadFailure, ServiceChoice, ServiceStatus, Transport,
};
use provider_engine::cluster::view::{ClusterView, Held, IpPool, PortPool, ViewChange};

use super::disturb::DOWN;
use super::expose::exposes;
use super::lease::{Lease, Running};
use super::pod::{Pod, PodState};
use super::{SimCluster, SimOutput};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub lease: LeaseId,
    pub service: String,
    /// The image that it pretends to run.
    pub image: String,
    /// How many replicas pretend to work.
    pub ready: usize,
}

impl SimCluster {
    pub fn status(&self, id: LeaseId) -> Result<LeaseStatus, ReadFailure> {
        let lease = self.running(id)?;
        let services = lease.services.iter();
        let services = services.map(|(name, running)| self.service_status(lease, name, running));
        Ok(LeaseStatus { services: services.collect() })
    }

    pub fn service(&self, id: LeaseId, name: &str) -> Result<ServiceStatus, ReadFailure> {
        let lease = self.running(id)?;
        let missing = || ReadFailure::NotFound(Missing::Service(name.to_owned()));
        let running = lease.services.get(name).ok_or_else(missing)?;
        Ok(self.service_status(lease, name, running))
    }

    pub fn manifest(&self, id: LeaseId) -> Result<Held, ReadFailure> {
        let held = self.answers()?.leases.get(&id).and_then(Lease::held_view);
        held.ok_or(ReadFailure::NotFound(Missing::Lease))
    }

    pub fn page(&self, hostname: &str) -> Option<Page> {
        let lease = self.leases.get(self.hostnames.get(hostname)?)?;
        let service = lease.hostnames.get(hostname)?;
        let image = lease.services.get(service)?.template.image.clone();
        let ready = |pod: &&Pod| pod.state == PodState::Ready && pod.template.service == *service;
        let ready = lease.pods.values().filter(ready).count();
        Some(Page { lease: lease.id, service: service.clone(), image, ready })
    }

    /// Itself, if its API answers.
    pub(super) fn answers(&self) -> Result<&Self, ReadFailure> {
        match self.api.down {
            true => Err(ReadFailure::Unavailable(DOWN.to_owned())),
            false => Ok(self),
        }
    }

    pub(super) fn running(&self, id: LeaseId) -> Result<&Lease, ReadFailure> {
        let lease = self.answers()?.leases.get(&id);
        let lease = lease.filter(|lease| lease.held.is_some());
        let lease = lease.ok_or(ReadFailure::NotFound(Missing::Lease))?;
        match lease.services.is_empty() {
            true => Err(ReadFailure::NotFound(Missing::Workloads)),
            false => Ok(lease),
        }
    }

    fn service_status(&self, lease: &Lease, name: &str, running: &Running) -> ServiceStatus {
        let pods = lease.pods_of(name);
        let count = |is_meant: &dyn Fn(&Pod) -> bool| {
            u32::try_from(pods.iter().filter(|(_, pod)| is_meant(pod)).count()).unwrap_or(u32::MAX)
        };
        let counts = Counts {
            wanted: running.count,
            existing: count(&|_| true),
            updated: count(&|pod| pod.template.revision == running.template.revision),
            ready: count(&|pod| pod.state == PodState::Ready),
            generation: running.generation,
        };
        let any = |is_meant: &dyn Fn(&PodState) -> bool| {
            pods.iter().find(|(_, pod)| is_meant(&pod.state)).map(|(_, pod)| *pod)
        };
        let failing = any(&|state| matches!(state, PodState::Failing(_)));
        let waiting = any(&|state| matches!(state, PodState::Waiting(_)));
        let phase = match (counts.ready >= counts.wanted, counts.ready > 0, failing, waiting) {
            (true, ..) => Phase::Ready,
            (false, true, ..) => Phase::Degraded,
            (false, false, Some(_), _) => Phase::Failing,
            (false, false, None, Some(_)) => Phase::Pending,
            _ => Phase::Starting,
        };
        let worst = failing.or(waiting).or_else(|| any(&|state| *state != PodState::Ready));
        let last_end = pods.iter().filter_map(|(_, pod)| pod.last_end()).max_by_key(|end| end.at);
        ServiceStatus {
            name: name.to_owned(),
            phase,
            why: worst.filter(|_| phase != Phase::Ready).and_then(Pod::why),
            counts,
            restarts: pods.iter().fold(0, |sum, (_, pod)| sum.saturating_add(pod.restarts)),
            last_exit: last_end.map(|end| LastExit {
                code: end.cause.code(),
                reason: end.cause.words().to_owned(),
            }),
            hostnames: hostnames(lease, name),
            ports: self.forwarded(lease, name),
            ips: leased_ips(lease, name),
        }
    }

    fn forwarded(&self, lease: &Lease, service: &str) -> Vec<ForwardedPort> {
        let ports = lease.ports.iter().filter(|port| port.service == service);
        ports
            .map(|port| ForwardedPort {
                host: self.settings.public_host.clone(),
                port: port.port,
                external_port: port.node_port,
                transport: if port.udp { Transport::Udp } else { Transport::Tcp },
            })
            .collect()
    }
}

fn hostnames(lease: &Lease, service: &str) -> Vec<String> {
    let of = lease.hostnames.iter().filter(|(_, to)| *to == service);
    of.map(|(name, _)| name.clone()).collect()
}

fn leased_ips(lease: &Lease, service: &str) -> Vec<LeasedIp> {
    let of_service = lease.held.iter().flat_map(|workload| exposes(workload));
    let of_service = of_service.filter(|(of, _)| of.name == service);
    let leased = of_service.filter_map(|(_, expose)| {
        let transport = match expose.proto {
            akash_sdl::manifest::Protocol::Udp => Transport::Udp,
            _ => Transport::Tcp,
        };
        Some(LeasedIp {
            port: u16::try_from(expose.port).ok()?,
            external_port: u16::try_from(expose.effective_port()).ok()?,
            transport,
            address: *lease.ips.get(&expose.ip)?,
        })
    });
    leased.collect()
}

/// Reads events of a lease, each once.
#[derive(Clone, Debug)]
pub struct EventCursor {
    lease: LeaseId,
    services: ServiceChoice,
    next: u64,
}

impl EventCursor {
    /// From the oldest event that is remembered.
    pub fn new(cluster: &SimCluster, id: LeaseId, query: &EventQuery) -> Result<Self, ReadFailure> {
        let lease = cluster.answers()?.leases.get(&id);
        let lease = lease.ok_or(ReadFailure::NotFound(Missing::Lease))?;
        check_services(lease, &query.services)?;
        Ok(Self { lease: id, services: query.services.clone(), next: 0 })
    }

    /// What happened since the last call.
    pub fn read(&mut self, cluster: &SimCluster) -> Result<Vec<ClusterEvent>, ReadFailure> {
        let lease = cluster.answers()?.leases.get(&self.lease);
        let lease = lease.ok_or(ReadFailure::NotFound(Missing::Lease))?;
        let new = lease.events.iter().filter(|event| event.number >= self.next);
        let new = new.filter(|event| self.services.includes(&event.service));
        let told = new.map(|event| event.tell(self.lease)).collect();
        self.next = lease.happened;
        Ok(told)
    }
}

/// Whether each service that is named exists.
pub(super) fn check_services(lease: &Lease, services: &ServiceChoice) -> Result<(), ReadFailure> {
    let ServiceChoice::Named(names) = services else { return Ok(()) };
    match names.iter().find(|name| !lease.services.contains_key(*name)) {
        Some(unknown) => Err(ReadFailure::NotFound(Missing::Service(unknown.clone()))),
        None => Ok(()),
    }
}

impl SimCluster {
    /// Everything, as a watcher sees it.
    pub fn view(&self) -> ClusterView {
        ClusterView {
            uid: self.settings.uid.clone(),
            nodes: self.machines.iter().map(|(name, node)| (name.clone(), node.view())).collect(),
            storage: self
                .classes
                .iter()
                .map(|(name, class)| (name.clone(), class.view.clone()))
                .collect(),
            ips: self
                .addresses
                .is_some()
                .then_some(IpPool { total: self.address_total, others: 0 }),
            ports: Some(PortPool { total: self.port_range.clone().count() as u64, others: 0 }),
            leases: self.leases.iter().map(|(id, lease)| (*id, lease.view())).collect(),
            maintenance: self.maintenance,
        }
    }

    /// Whether manifests are looked for in the wrong namespace.
    pub fn manifests_hidden(&self) -> bool {
        !self.hidden.is_empty()
    }

    /// What a new watcher sees first.
    pub fn observed(&self) -> ViewChange {
        match self.api.down {
            true => ViewChange::Lost,
            false => ViewChange::Whole(Box::new(self.view())),
        }
    }

    /// Tells what this step changed.
    pub(super) fn tell(&mut self, outputs: &mut Vec<SimOutput>) {
        if self.api.down {
            return;
        }
        if std::mem::take(&mut self.api.is_back) {
            outputs.push(SimOutput::View(self.observed()));
            return;
        }
        for name in &self.touched.nodes {
            let change = match self.machines.get(name) {
                Some(machine) => ViewChange::Node(name.clone(), machine.view()),
                None => ViewChange::NodeGone(name.clone()),
            };
            outputs.push(SimOutput::View(change));
        }
        for id in &self.touched.leases {
            let change = match self.leases.get(id) {
                Some(lease) => ViewChange::Lease(Box::new(lease.view())),
                None => ViewChange::LeaseGone(*id),
            };
            outputs.push(SimOutput::View(change));
        }
        if self.touched.maintenance {
            outputs.push(SimOutput::View(ViewChange::Maintenance(self.maintenance)));
        }
    }
}
