//! What leads to a lease from outside: hostnames, ports, addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use akash_sdl::manifest::{Protocol, Service, ServiceExpose};
use akash_types::hostname::generated_host;
use provider_engine::cluster::command::{CommandFailure, Workload};

use super::SimCluster;
use super::lease::{Lease, NodePort};

/// The first `count` addresses of the networks for documents, the last to be given first.
pub(super) fn addresses(count: u32) -> Vec<IpAddr> {
    let network = |a, b, c| (1..=254).map(move |last| IpAddr::V4(Ipv4Addr::new(a, b, c, last)));
    let all = network(192, 0, 2).chain(network(198, 51, 100));
    let mut addresses: Vec<_> = all.take(usize::try_from(count).unwrap_or(usize::MAX)).collect();
    addresses.reverse();
    addresses
}

impl SimCluster {
    /// Lets in what the workload asks for, and nothing else.
    pub(super) fn expose(&mut self, lease: &mut Lease, workload: &Workload) {
        self.lead_hostnames(lease, workload);
        self.lead_ports(lease, workload);
        self.lead_addresses(lease, workload);
    }

    /// Nothing leads to the lease any more.
    pub(super) fn unexpose(&mut self, lease: &mut Lease) {
        for name in std::mem::take(&mut lease.hostnames).into_keys() {
            self.hostnames.remove(&name);
        }
        for port in std::mem::take(&mut lease.ports) {
            self.node_ports.remove(&port.node_port);
        }
        for (name, address) in std::mem::take(&mut lease.ips) {
            self.endpoints.remove(&(lease.id.owner(), name));
            self.addresses.iter_mut().for_each(|free| free.push(address));
        }
    }

    fn lead_hostnames(&mut self, lease: &mut Lease, workload: &Workload) {
        let mut wanted: BTreeMap<String, String> = BTreeMap::new();
        for (service, expose) in exposes(workload).filter(|(_, expose)| expose.is_ingress()) {
            let given = expose.hosts.iter().flatten().map(|host| host.to_ascii_lowercase());
            let given = given.filter(|host| !workload.withheld.contains(host));
            let domain = self.settings.domain.as_ref();
            let made = domain.map(|domain| generated_host(lease.id, &service.name, domain));
            wanted.extend(given.chain(made).map(|host| (host, service.name.clone())));
        }
        for name in lease.hostnames.keys().filter(|name| !wanted.contains_key(*name)) {
            self.hostnames.remove(name);
        }
        for name in wanted.keys() {
            // A name leads to one place: the last that asks has it.
            let before = self.hostnames.insert(name.clone(), lease.id);
            if let Some(other) = before.filter(|other| *other != lease.id)
                && let Some(other) = self.leases.get_mut(&other)
            {
                other.hostnames.remove(name);
                self.touched.leases.insert(other.id);
            }
        }
        lease.hostnames = wanted;
    }

    fn lead_ports(&mut self, lease: &mut Lease, workload: &Workload) {
        let mut ports: Vec<NodePort> = Vec::new();
        for (service, expose) in exposes(workload) {
            if !expose.global || expose.is_ingress() {
                continue;
            }
            let (Ok(port), Ok(asked)) =
                (u16::try_from(expose.port), u16::try_from(expose.effective_port()))
            else {
                continue;
            };
            let udp = expose.proto == Protocol::Udp;
            let is_same = |other: &&NodePort| {
                (&other.service, other.asked, other.udp) == (&service.name, asked, udp)
            };
            if ports.iter().any(|other| is_same(&other)) {
                continue;
            }
            // A port that was given stays, so that tenants can go on using it.
            let kept = lease.ports.iter().find(is_same).map(|kept| kept.node_port);
            let given = |free: &u16| !self.node_ports.contains(free);
            if let Some(node_port) = kept.or_else(|| self.port_range.clone().find(given)) {
                self.node_ports.insert(node_port);
                ports.push(NodePort { service: service.name.clone(), port, asked, udp, node_port });
            }
        }
        let used: BTreeSet<u16> = ports.iter().map(|port| port.node_port).collect();
        for old in lease.ports.iter().filter(|old| !used.contains(&old.node_port)) {
            self.node_ports.remove(&old.node_port);
        }
        lease.ports = ports;
    }

    /// Refuses a workload that is to take endpoints for which there is no address.
    pub(super) fn can_take(&self, workload: &Workload) -> Result<(), CommandFailure> {
        let owner = workload.lease.owner();
        let is_unassigned =
            |name: &&String| !self.endpoints.contains_key(&(owner, (*name).clone()));
        let unassigned = workload.endpoints_to_take.iter().filter(is_unassigned).count();
        let free = self.addresses.as_ref().map_or(0, Vec::len);
        if unassigned <= free {
            return Ok(());
        }
        let why = format!("{unassigned} leased addresses are asked for, {free} are free");
        Err(CommandFailure::Refused(why))
    }

    fn lead_addresses(&mut self, lease: &mut Lease, workload: &Workload) {
        let Some(free) = &mut self.addresses else { return };
        let wanted: BTreeSet<&str> = exposes(workload)
            .filter(|(_, expose)| expose.global && !expose.ip.is_empty())
            .map(|(_, expose)| expose.ip.as_str())
            .collect();
        let owner = lease.id.owner();
        for (name, address) in std::mem::take(&mut lease.ips) {
            if wanted.contains(name.as_str()) {
                lease.ips.insert(name, address);
            } else {
                self.endpoints.remove(&(owner, name));
                free.push(address);
            }
        }
        for name in wanted {
            let key = (owner, name.to_owned());
            // One endpoint of an owner is at one lease: the first that asked keeps it until the
            // owner moves it.
            let address = match self.endpoints.get(&key) {
                None => free.pop(),
                Some(holder) if *holder == lease.id => None,
                Some(_) if !workload.endpoints_to_take.iter().any(|taken| taken == name) => None,
                Some(holder) => {
                    self.touched.leases.insert(*holder);
                    self.leases.get_mut(holder).and_then(|other| other.ips.remove(name))
                }
            };
            if let Some(address) = address {
                self.endpoints.insert(key, lease.id);
                lease.ips.insert(name.to_owned(), address);
            }
        }
    }
}

/// Every expose with its service.
pub(super) fn exposes(workload: &Workload) -> impl Iterator<Item = (&Service, &ServiceExpose)> {
    workload
        .group
        .services
        .iter()
        .flat_map(|service| service.expose.iter().flatten().map(move |expose| (service, expose)))
}
