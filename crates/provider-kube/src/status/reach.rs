//! How a service is reached from outside.

use std::net::IpAddr;

use k8s_openapi::api::core::v1::ServicePort;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use provider_crd::{labels, names};
use provider_engine::cluster::port::{ForwardedPort, LeasedIp, Transport};

use super::LeaseObjects;
use crate::resolve::Service;
use crate::settings::Settings;

pub(super) fn hostnames(service: &Service, shown: &LeaseObjects<'_>) -> Vec<String> {
    let leading = shown.hosts.iter().filter(|host| host.spec.service_name == service.name());
    leading.map(|host| host.spec.hostname.clone()).collect()
}

/// Why not all hostnames that it asks for lead to it, if they do not: the lease was deployed without
/// those that another one has.
pub(super) fn withheld(service: &Service, shown: &LeaseObjects<'_>) -> Option<String> {
    let leads = |host: &&String| {
        shown.hosts.iter().any(|known| known.spec.hostname.eq_ignore_ascii_case(host))
    };
    let exposes = service.exposes().filter(|expose| expose.is_ingress());
    let asked = exposes.flat_map(|expose| expose.hosts.iter().flatten());
    let missing: Vec<_> = asked.filter(|host| !leads(host)).map(String::as_str).collect();
    (!missing.is_empty()).then(|| {
        let names = missing.join(", ");
        format!("{names}: another deployment has this hostname; migrate it here or close that one")
    })
}

/// Ports of the nodes that lead to it, in their order.
pub(super) fn ports(
    service: &Service,
    shown: &LeaseObjects<'_>,
    settings: &Settings,
) -> Vec<ForwardedPort> {
    let name = names::node_port_service(service.name());
    let found = shown.services.iter().find(|known| known.metadata.name.as_ref() == Some(&name));
    let ports = found.and_then(|found| found.spec.as_ref()?.ports.as_ref()).into_iter().flatten();
    let host = Some(settings.public_hostname.clone()).filter(|host| !host.is_empty());
    let forwarded = ports.filter_map(|port| {
        Some(ForwardedPort {
            host: host.clone(),
            port: target(port)?,
            external_port: number(port.node_port?)?,
            transport: transport(port)?,
        })
    });
    forwarded.filter(|port| port.external_port > 0).collect()
}

/// Addresses that lead to it. One that was not given yet is left out.
pub(super) fn ips(service: &Service, shown: &LeaseObjects<'_>) -> Vec<LeasedIp> {
    let mut found = Vec::new();
    for known in shown.services {
        let labels = known.metadata.labels.as_ref();
        let is_leased = labels.is_some_and(|labels| labels.contains_key(labels::SERVICE_TARGET));
        let Some(spec) = known.spec.as_ref().filter(|_| is_leased) else {
            continue;
        };
        let selected = spec.selector.as_ref().and_then(|selector| selector.get(labels::SERVICE));
        if selected.map(String::as_str) != Some(service.name()) {
            continue;
        }
        let balancer = known.status.as_ref().and_then(|status| status.load_balancer.as_ref());
        let ingresses = balancer.and_then(|balancer| balancer.ingress.as_ref());
        for address in ingresses.into_iter().flatten().filter_map(|ingress| ingress.ip.as_ref()) {
            let Ok(address) = address.parse::<IpAddr>() else { continue };
            found.extend(spec.ports.iter().flatten().filter_map(|port| {
                Some(LeasedIp {
                    port: target(port)?,
                    external_port: number(port.port)?,
                    transport: transport(port)?,
                    address,
                })
            }));
        }
    }
    found
}

fn target(port: &ServicePort) -> Option<u16> {
    match port.target_port {
        Some(IntOrString::Int(target)) => number(target),
        _ => number(port.port),
    }
}

fn number(port: i32) -> Option<u16> {
    u16::try_from(port).ok()
}

fn transport(port: &ServicePort) -> Option<Transport> {
    match port.protocol.as_deref() {
        None | Some("TCP") => Some(Transport::Tcp),
        Some("UDP") => Some(Transport::Udp),
        Some(_) => None,
    }
}
