//! The hostnames of a lease.

use akash_types::hostname::generated_host;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use provider_crd::{ProviderHost, ProviderHostSpec, labels};

use crate::resolve::Lease;
use crate::settings::Settings;

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
