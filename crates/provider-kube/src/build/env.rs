//! The environment of a container.

use k8s_openapi::api::core::v1::EnvVar;

use crate::resolve::{Lease, Service};
use crate::settings::Settings;

/// What the tenant set, in order, then what the provider tells, where the tenant did not set it.
pub(super) fn of(lease: &Lease, service: &Service, settings: &Settings) -> Vec<EnvVar> {
    let set = service.wanted.env.iter().flatten().map(|entry| {
        let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
        // No value and an empty one are the same, and stored without.
        EnvVar { value: (!value.is_empty()).then(|| value.to_owned()), ..named(name) }
    });
    let mut env: Vec<EnvVar> = set.collect();
    let told = [
        ("AKASH_GROUP_SEQUENCE", lease.id.gseq().to_string()),
        ("AKASH_DEPLOYMENT_SEQUENCE", lease.id.dseq().to_string()),
        ("AKASH_ORDER_SEQUENCE", lease.id.oseq().to_string()),
        ("AKASH_OWNER", lease.id.owner().to_string()),
        ("AKASH_PROVIDER", lease.id.provider().to_string()),
        ("AKASH_CLUSTER_PUBLIC_HOSTNAME", settings.public_hostname.clone()),
    ];
    for (name, value) in told {
        if !env.iter().any(|known| known.name == name) {
            env.push(EnvVar { value: (!value.is_empty()).then_some(value), ..named(name) });
        }
    }
    env
}

fn named(name: &str) -> EnvVar {
    EnvVar { name: name.to_owned(), ..EnvVar::default() }
}
