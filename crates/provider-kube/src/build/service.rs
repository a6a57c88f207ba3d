//! Ways to a service's ports: inside the cluster, and on ports of the nodes.

use std::collections::BTreeSet;

use akash_sdl::manifest::{Protocol, ServiceExpose};
use akash_types::hostname::generated_host;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use k8s_openapi::jiff::Timestamp;
use provider_crd::labels::{LEASED_IP_PORT, LEASED_IP_PROTOCOL, LEASED_IP_SERVICE};
use provider_crd::{
    LeaseRef, ProviderHost, ProviderHostSpec, ProviderLeasedIp, ProviderLeasedIpSpec, labels, names,
};

use super::{BuildError, metadata, service_labels, service_selector};
use crate::resolve::{Lease, Service};
use crate::settings::Settings;

/// For other services of the lease, and for requests that come in by hostname.
pub(super) fn cluster_ip(
    lease: &Lease,
    service: &Service,
) -> Result<Option<core::Service>, BuildError> {
    let ports = ports(service, |expose| !expose.global || expose.is_ingress())?;
    Ok(made(lease, service, service.name().to_owned(), "ClusterIP", ports))
}

/// For the world, on a port of every node.
pub(super) fn node_port(
    lease: &Lease,
    service: &Service,
) -> Result<Option<core::Service>, BuildError> {
    let ports = ports(service, is_on_nodes)?;
    Ok(made(lease, service, names::node_port_service(service.name()), "NodePort", ports))
}

/// Whether a port is opened on the nodes.
pub(super) fn is_on_nodes(expose: &ServiceExpose) -> bool {
    expose.global && !expose.is_ingress()
}

pub(super) fn number(service: &Service, port: u32) -> Result<i32, BuildError> {
    let too_large = || BuildError::TooLarge {
        service: service.name().to_owned(),
        what: "port",
        value: port.into(),
    };
    u16::try_from(port).map(i32::from).map_err(|_| too_large())
}

pub(super) fn protocol(service: &Service, expose: &ServiceExpose) -> Result<String, BuildError> {
    match &expose.proto {
        Protocol::Tcp | Protocol::Udp => Ok(expose.proto.to_string()),
        Protocol::Unknown(name) => {
            Err(BuildError::Protocol { service: service.name().to_owned(), protocol: name.clone() })
        }
    }
}

/// Ports by their numbers outside, each once: of TCP and UDP on the same one the first is kept, as
/// in live clusters. They are named by their place among all ports of the service.
fn ports(
    service: &Service,
    is_wanted: impl Fn(&ServiceExpose) -> bool,
) -> Result<Vec<core::ServicePort>, BuildError> {
    let mut seen = BTreeSet::new();
    let mut ports = Vec::new();
    for (index, expose) in service.exposes().enumerate() {
        let outside = number(service, expose.effective_port())?;
        if !is_wanted(expose) || !seen.insert(outside) {
            continue;
        }
        ports.push(core::ServicePort {
            name: Some(format!("{index}-{outside}")),
            port: outside,
            target_port: Some(IntOrString::Int(number(service, expose.port)?)),
            protocol: Some(protocol(service, expose)?),
            ..core::ServicePort::default()
        });
    }
    Ok(ports)
}

/// A Service, unless it would lead nowhere.
fn made(
    lease: &Lease,
    service: &Service,
    name: String,
    kind: &str,
    ports: Vec<core::ServicePort>,
) -> Option<core::Service> {
    if ports.is_empty() {
        return None;
    }
    let spec = core::ServiceSpec {
        type_: Some(kind.to_owned()),
        selector: Some(service_selector(lease, service)),
        ports: Some(ports),
        ..core::ServiceSpec::default()
    };
    Some(core::Service {
        metadata: metadata(lease, name, service_labels(lease, service)),
        spec: Some(spec),
        status: None,
    })
}

/// The ports of a lease at leased addresses. One that is there already stays as it is: another
/// lease of the tenant may have it.
pub fn leased_ips(lease: &Lease, settings: &Settings) -> Result<Vec<ProviderLeasedIp>, BuildError> {
    let mut addresses = Vec::new();
    for service in &lease.services {
        let leased = service.exposes().filter(|expose| expose.global && !expose.ip.is_empty());
        for expose in leased {
            let protocol = protocol(service, expose)?;
            let external_port = expose.effective_port();
            number(service, external_port)?;
            let spec = ProviderLeasedIpSpec {
                lease_id: LeaseRef::new(&lease.id),
                service_name: service.name().to_owned(),
                port: expose.port,
                external_port,
                sharing_key: names::sharing_key(&lease.id.owner(), &expose.ip),
                protocol,
                ..ProviderLeasedIpSpec::default()
            };
            addresses.push(address(lease, settings, spec));
        }
    }
    Ok(addresses)
}

fn address(lease: &Lease, settings: &Settings, spec: ProviderLeasedIpSpec) -> ProviderLeasedIp {
    let mut labels = labels::managed_for(&lease.id);
    labels.extend([
        (LEASED_IP_SERVICE.to_owned(), spec.service_name.clone()),
        (LEASED_IP_PORT.to_owned(), spec.external_port.to_string()),
        (LEASED_IP_PROTOCOL.to_owned(), spec.protocol.clone()),
    ]);
    let metadata = ObjectMeta {
        name: Some(names::leased_ip(&spec.sharing_key, &spec.protocol, spec.external_port)),
        namespace: Some(settings.manifest_namespace.clone()),
        labels: Some(labels),
        ..ObjectMeta::default()
    };
    ProviderLeasedIp { metadata, spec }
}

/// The hostnames that lead to a lease: the ones it gets without asking and the ones it asks for,
/// except those that it may not have yet. Each is declared at `now`, in whole seconds, which makes
/// it be served anew.
pub fn hosts(
    lease: &Lease,
    settings: &Settings,
    withheld: &[String],
    now: Timestamp,
) -> Vec<ProviderHost> {
    let mut hosts: Vec<ProviderHost> = Vec::new();
    for service in &lease.services {
        for expose in service.exposes().filter(|expose| expose.is_ingress()) {
            let generated = settings.generated_hosts.as_ref();
            let generated =
                generated.map(|domain| generated_host(lease.id, service.name(), domain));
            let asked = expose.hosts.iter().flatten().map(|host| host.to_lowercase());
            let asked =
                asked.filter(|host| !withheld.iter().any(|kept| kept.eq_ignore_ascii_case(host)));
            for hostname in generated.into_iter().chain(asked) {
                // An object has its name once.
                if hosts.iter().any(|known| known.spec.hostname == hostname) {
                    continue;
                }
                let spec = ProviderHostSpec {
                    owner: lease.id.owner().to_string(),
                    provider: lease.id.provider().to_string(),
                    hostname,
                    dseq: lease.id.dseq(),
                    gseq: lease.id.gseq(),
                    oseq: lease.id.oseq(),
                    service_name: service.name().to_owned(),
                    external_port: expose.effective_port(),
                    ..ProviderHostSpec::default()
                };
                hosts.push(host(lease, settings, spec, now));
            }
        }
    }
    hosts
}

fn host(
    lease: &Lease,
    settings: &Settings,
    spec: ProviderHostSpec,
    now: Timestamp,
) -> ProviderHost {
    let declared = Timestamp::from_second(now.as_second()).unwrap_or(now).to_string();
    let metadata = ObjectMeta {
        name: Some(spec.hostname.clone()),
        namespace: Some(settings.manifest_namespace.clone()),
        labels: Some(labels::managed_for(&lease.id)),
        annotations: Some([(labels::UPDATED_AT.to_owned(), declared)].into()),
        ..ObjectMeta::default()
    };
    ProviderHost { metadata, spec }
}
