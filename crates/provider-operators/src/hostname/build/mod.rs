//! A hostname's route, equal to what the Go operator makes of the same `ProviderHost` and
//! `Manifest`.
//!
//! ```text
//! Claim, HttpOptions, Routes ──▶ Ingress, or HTTPRoute
//! ```
//!
//! Objects are JSON: the Gateway API is no part of Kubernetes, and what is there is merged as JSON
//! too. What an API server would fill in is written out, so that both can be compared.

mod annotations;
mod options;
mod snippets;

use provider_crd::{labels, names};
use serde_json::{Value, json};

pub(super) use options::{detached, keep_others, with_filter, without_annotations};
pub use options::{not_carried_out, with_timeouts};
pub use snippets::snippets_filter;

use super::claim::Claim;
use super::exposed::HttpOptions;
use super::name;
use super::settings::Routes;

/// The route from a hostname to its service, in the namespace of the lease.
pub fn route(claim: &Claim, options: &HttpOptions, routes: &Routes) -> Value {
    let kind = routes.kind();
    let (annotations, spec) = match routes {
        Routes::Ingress { class } => (annotations::ingress(options), ingress(claim, class)),
        Routes::Gateway { name, namespace, buffer_size } => {
            (annotations::http_route(options, buffer_size), http_route(claim, name, namespace))
        }
    };
    let mut annotations = annotations;
    if annotations.keys().any(|key| annotations::is_optional(key)) {
        annotations.insert(labels::HTTP_OPTIONS.to_owned(), labels::TRUE.to_owned());
    }
    json!({
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {
            "name": name::route_of(&claim.host),
            "namespace": names::lease_namespace(&claim.lease),
            "labels": labels::managed_for(&claim.lease),
            "annotations": annotations,
        },
        "spec": spec,
    })
}

fn ingress(claim: &Claim, class: &str) -> Value {
    json!({
        "ingressClassName": class,
        "rules": [{
            "host": claim.host,
            "http": {"paths": [{
                "path": "/",
                "pathType": "Prefix",
                "backend": {"service": {"name": claim.service, "port": {"number": claim.port}}},
            }]},
        }],
    })
}

fn http_route(claim: &Claim, gateway: &str, namespace: &str) -> Value {
    json!({
        "parentRefs": [{
            "group": "gateway.networking.k8s.io",
            "kind": "Gateway",
            "namespace": namespace,
            "name": gateway,
        }],
        "hostnames": [claim.host],
        "rules": [{
            "matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
            "backendRefs": [{
                "group": "",
                "kind": "Service",
                "name": claim.service,
                "port": claim.port,
                "weight": 1,
            }],
        }],
    })
}
