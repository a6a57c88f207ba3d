//! What a tenant is told about a host that is not served: an event in the lease's namespace, which
//! is among the events of the lease.

use std::hash::{DefaultHasher, Hash, Hasher};

use k8s_openapi::jiff::Timestamp;
use kube_access::ResourceKind;
use provider_crd::names;
use serde_json::{Value, json};

use super::reconcile::{Notice, State};

/// Characters that Kubernetes takes.
const LONGEST: usize = 1024;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    pub(super) namespace: String,
    pub(super) object: Value,
}

/// The event of a notice. The same notice has the same name, so that nobody is told twice.
pub(super) fn event(notice: &Notice, now: Timestamp) -> Event {
    let Notice { claim, state, why } = notice;
    let namespace = names::lease_namespace(&claim.lease);
    // Who else has it is not for this tenant.
    let why = if *state == State::Conflicting { "another tenant has it" } else { why };
    let note = match state {
        State::Routed => {
            format!("hostname {:?} is served without these http_options: {why}", claim.host)
        }
        _ => format!("no route is written for hostname {:?}: {why}", claim.host),
    };
    let mut hasher = DefaultHasher::new();
    (&claim.host, &note).hash(&mut hasher);
    let object = json!({
        "apiVersion": ResourceKind::EVENT.api_version,
        "kind": ResourceKind::EVENT.name,
        "metadata": {"name": format!("hostname-{:016x}", hasher.finish()), "namespace": namespace},
        "eventTime": now.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string(),
        "reportingController": "akash.network/hostname-operator",
        "reportingInstance": "hostname-operator",
        "action": "Route",
        "reason": match state {
            State::Conflicting => "HostnameInUse",
            State::Failing => "RouteRefused",
            State::Routed => "HttpOptionsNotCarriedOut",
            _ => "HostnameRefused",
        },
        "type": "Warning",
        "note": note.chars().take(LONGEST).collect::<String>(),
        "regarding": {"apiVersion": "v1", "kind": "Service", "namespace": namespace,
            "name": claim.service},
    });
    Event { namespace, object }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostname::claim::Claim;

    fn notice(state: State, why: &str) -> Notice {
        let lease = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r/9001/1/1/\
                     akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8";
        let claim = Claim {
            object: "a.example".to_owned(),
            host: "a.example".to_owned(),
            lease: lease.parse().unwrap(),
            service: "web".to_owned(),
            port: 80,
            since: None,
            version: "1".to_owned(),
        };
        Notice { claim, state, why: why.to_owned() }
    }

    #[test]
    fn a_tenant_is_told_why_but_not_who_else_has_it() {
        let told = |notice: &Notice| {
            let Event { object, .. } = event(notice, Timestamp::UNIX_EPOCH);
            (object["reason"].clone(), object["note"].clone())
        };
        let (reason, note) = told(&notice(State::Conflicting, "lease akash1secret has it"));
        assert_eq!(reason, "HostnameInUse");
        assert_eq!(note, "no route is written for hostname \"a.example\": another tenant has it");
        let (reason, note) = told(&notice(State::Refused, "it is blocked"));
        assert_eq!(reason, "HostnameRefused");
        assert_eq!(note, "no route is written for hostname \"a.example\": it is blocked");
    }

    #[test]
    fn the_same_notice_has_the_same_name_and_another_one_has_not() {
        let name = |notice: &Notice, second| {
            let time = Timestamp::from_second(second).unwrap();
            event(notice, time).object["metadata"]["name"].clone()
        };
        let first = notice(State::Refused, "x");
        assert_eq!(name(&first, 1), name(&first, 2));
        assert_ne!(name(&first, 1), name(&notice(State::Refused, "y"), 1));
    }
}
