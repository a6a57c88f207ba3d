//! Who may talk to whom.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use k8s_openapi::api::networking::v1::{
    IPBlock, NetworkPolicy, NetworkPolicyEgressRule, NetworkPolicyIngressRule, NetworkPolicyPeer,
    NetworkPolicyPort, NetworkPolicySpec,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use provider_crd::{labels, names};

use super::service::{is_on_nodes, number, protocol};
use super::{BuildError, metadata};
use crate::isolation::{Isolation, LINK_LOCAL, METADATA};
use crate::resolve::{Lease, Service};
use crate::settings::{IngressMode, Settings};

const ANYWHERE: &str = "0.0.0.0/0";
/// Networks of the operator, which tenants have no business in.
const PRIVATE: [&str; 3] = ["10.0.0.0/8", "192.168.0.0/16", "172.16.0.0/12"];
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";
const APP_NAME: &str = "app.kubernetes.io/name";

/// The policies of a lease; none if they are off.
pub(super) fn policies(
    lease: &Lease,
    settings: &Settings,
) -> Result<Vec<NetworkPolicy>, BuildError> {
    let Some(enabled) = &settings.network_policies else {
        return Ok(Vec::new());
    };
    let spec = restrictions(&lease.namespace, &settings.ingress, &settings.isolation);
    let mut policies = vec![policy(lease, names::RESTRICTIONS_POLICY.to_owned(), spec)];
    for service in &lease.services {
        policies.extend(on_nodes(lease, service)?);
        policies.extend(leased(lease, service)?);
        policies.extend(to_api_server(lease, service, &enabled.api_server));
    }
    Ok(policies)
}

/// All pods of a namespace: in from their own namespace and from where requests come, out to their
/// own namespace, to DNS and to public addresses.
pub(crate) fn restrictions(
    namespace: &str,
    ingress: &IngressMode,
    isolation: &Isolation,
) -> NetworkPolicySpec {
    let own = || namespaces(labels::NAMESPACE, namespace);
    let nginx = NetworkPolicyPeer {
        pod_selector: Some(selector(APP_NAME, "ingress-nginx")),
        ..namespaces(APP_NAME, "ingress-nginx")
    };
    let mut from = vec![own(), nginx];
    if let IngressMode::GatewayApi { namespace, .. } = ingress
        && !namespace.is_empty()
    {
        from.push(namespaces(NAMESPACE_NAME, namespace));
    }
    let dns = NetworkPolicyPeer {
        pod_selector: Some(selector("k8s-app", "kube-dns")),
        ..namespaces(NAMESPACE_NAME, "kube-system")
    };
    let dns_ports = || Some(vec![port("UDP", 53), port("TCP", 53)]);
    let private = PRIVATE.map(str::to_owned).into_iter();
    let public = range(ANYWHERE, Some(private.chain(isolation.unreachable()).collect()));
    let to = |peer, ports| NetworkPolicyEgressRule { to: Some(vec![peer]), ports };
    let mut egress = vec![to(own(), None), to(dns, dns_ports()), to(public, None)];
    if isolation.is_hardened() {
        // NodeLocal DNSCache: pods of such a cluster ask a link-local address of their node.
        let cache = range(LINK_LOCAL, Some(vec![METADATA.to_owned()]));
        egress.push(to(cache, dns_ports()));
    }
    NetworkPolicySpec {
        pod_selector: Some(LabelSelector::default()),
        policy_types: Some(vec!["Ingress".to_owned(), "Egress".to_owned()]),
        ingress: Some(
            from.into_iter()
                .map(|peer| NetworkPolicyIngressRule { from: Some(vec![peer]), ports: None })
                .collect(),
        ),
        egress: Some(egress),
    }
}

/// In from anywhere, to ports that are opened on the nodes.
fn on_nodes(lease: &Lease, service: &Service) -> Result<Option<NetworkPolicy>, BuildError> {
    let ports = ports(service, is_on_nodes)?;
    Ok((!ports.is_empty()).then(|| {
        let rule = NetworkPolicyIngressRule { from: None, ports: Some(ports) };
        policy(lease, names::node_port_policy(service.name()), into_service(service, rule))
    }))
}

/// In from any address, to ports at leased addresses.
fn leased(lease: &Lease, service: &Service) -> Result<Option<NetworkPolicy>, BuildError> {
    let ports = ports(service, |expose| !expose.ip.is_empty())?;
    Ok((!ports.is_empty()).then(|| {
        let from = Some(vec![range(ANYWHERE, None)]);
        let rule = NetworkPolicyIngressRule { from, ports: Some(ports) };
        policy(lease, names::leased_ip_policy(service.name()), into_service(service, rule))
    }))
}

/// Out to the API server, for a service that may read something there.
fn to_api_server(
    lease: &Lease,
    service: &Service,
    servers: &[SocketAddr],
) -> Option<NetworkPolicy> {
    if service.permissions().is_empty() || servers.is_empty() {
        return None;
    }
    let mut seen = BTreeSet::new();
    let numbers = servers.iter().map(SocketAddr::port).filter(|number| seen.insert(*number));
    let rule = NetworkPolicyEgressRule {
        ports: Some(numbers.map(|number| port("TCP", number.into())).collect()),
        to: Some(servers.iter().map(|server| range(&only(server.ip()), None)).collect()),
    };
    let spec = NetworkPolicySpec {
        pod_selector: Some(selector(labels::SERVICE, service.name())),
        policy_types: Some(vec!["Egress".to_owned()]),
        egress: Some(vec![rule]),
        ..NetworkPolicySpec::default()
    };
    Some(policy(lease, names::api_server_policy(service.name()), spec))
}

fn policy(lease: &Lease, name: String, spec: NetworkPolicySpec) -> NetworkPolicy {
    let labels = labels::base(&lease.namespace, &lease.revision);
    NetworkPolicy { metadata: metadata(lease, name, labels), spec: Some(spec) }
}

fn into_service(service: &Service, rule: NetworkPolicyIngressRule) -> NetworkPolicySpec {
    NetworkPolicySpec {
        pod_selector: Some(selector(labels::SERVICE, service.name())),
        policy_types: Some(vec!["Ingress".to_owned()]),
        ingress: Some(vec![rule]),
        ..NetworkPolicySpec::default()
    }
}

/// The container's ports of some exposes, also twice the same.
fn ports(
    service: &Service,
    is_wanted: impl Fn(&akash_sdl::manifest::ServiceExpose) -> bool,
) -> Result<Vec<NetworkPolicyPort>, BuildError> {
    let wanted = service.exposes().filter(|expose| is_wanted(expose));
    wanted
        .map(|expose| Ok(port(&protocol(service, expose)?, number(service, expose.port)?)))
        .collect()
}

fn port(protocol: &str, number: i32) -> NetworkPolicyPort {
    NetworkPolicyPort {
        port: Some(IntOrString::Int(number)),
        protocol: Some(protocol.to_owned()),
        ..NetworkPolicyPort::default()
    }
}

fn namespaces(label: &str, value: &str) -> NetworkPolicyPeer {
    NetworkPolicyPeer {
        namespace_selector: Some(selector(label, value)),
        ..NetworkPolicyPeer::default()
    }
}

fn selector(label: &str, value: &str) -> LabelSelector {
    LabelSelector {
        match_labels: Some([(label.to_owned(), value.to_owned())].into()),
        ..LabelSelector::default()
    }
}

fn range(cidr: &str, except: Option<Vec<String>>) -> NetworkPolicyPeer {
    let ip_block = Some(IPBlock { cidr: cidr.to_owned(), except });
    NetworkPolicyPeer { ip_block, ..NetworkPolicyPeer::default() }
}

/// The range that holds one address only.
fn only(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("{address}/32"),
        IpAddr::V6(address) => format!("{address}/128"),
    }
}
