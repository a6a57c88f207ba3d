//! What a pod may read of its own lease.

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject};
use provider_crd::labels;

use super::{metadata, service_labels};
use crate::resolve::{Lease, Service};

const READ: [&str; 3] = ["get", "list", "watch"];
const RBAC: &str = "rbac.authorization.k8s.io";

/// Account, role and binding of a service that was given permissions, all named like it.
pub(super) fn of(lease: &Lease, service: &Service) -> Option<(ServiceAccount, Role, RoleBinding)> {
    if service.permissions().is_empty() {
        return None;
    }
    let mut all = service_labels(lease, service);
    all.append(&mut labels::lease(&lease.id));
    let metadata = || metadata(lease, service.name(), all.clone());
    let account = ServiceAccount { metadata: metadata(), ..ServiceAccount::default() };
    let rules = rules(service.permissions());
    let role = Role { metadata: metadata(), rules: (!rules.is_empty()).then_some(rules) };
    let binding = RoleBinding {
        metadata: metadata(),
        role_ref: RoleRef {
            api_group: Some(RBAC.to_owned()),
            kind: "Role".to_owned(),
            name: service.name().to_owned(),
        },
        subjects: Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: service.name().to_owned(),
            namespace: Some(lease.namespace.clone()),
            api_group: None,
        }]),
    };
    Some((account, role, binding))
}

/// Rules in the order in which permissions were first named. Names that are not known give none.
fn rules(permissions: &[String]) -> Vec<PolicyRule> {
    let mut rules = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for permission in permissions {
        if seen.contains(&permission.as_str()) {
            continue;
        }
        seen.push(permission);
        match permission.as_str() {
            "logs" => rules.extend([
                rule("", "pods", &READ),
                rule("", "pods/log", &["get"]),
                rule("apps", "deployments", &READ),
            ]),
            "events" => rules.push(rule("", "events", &READ)),
            _ => {}
        }
    }
    rules
}

fn rule(group: &str, resource: &str, verbs: &[&str]) -> PolicyRule {
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(vec![resource.to_owned()]),
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        ..PolicyRule::default()
    }
}
