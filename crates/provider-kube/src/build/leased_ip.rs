//! The ports of a lease that have an address of their own.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use provider_crd::labels::{LEASED_IP_PORT, LEASED_IP_PROTOCOL, LEASED_IP_SERVICE};
use provider_crd::{LeaseRef, ProviderLeasedIp, ProviderLeasedIpSpec, labels, names};

use super::BuildError;
use super::service::{number, protocol};
use crate::resolve::Lease;
use crate::settings::Settings;

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
