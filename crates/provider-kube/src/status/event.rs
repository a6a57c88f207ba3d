//! Events, as tenants are told them.

use k8s_openapi::api::events::v1::Event;
use provider_engine::cluster::port::{ClusterEvent, EventKind, ObjectRef};

use super::LeaseObjects;

/// The event as a tenant is told it. `services` are the names of the lease's services.
pub fn event<'a>(event: &Event, services: impl Iterator<Item = &'a str>) -> ClusterEvent {
    let regarding = event.regarding.clone().unwrap_or_default();
    let name = regarding.name.unwrap_or_default();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    ClusterEvent {
        kind: match event.type_.as_deref() {
            Some("Warning") => EventKind::Warning,
            _ => EventKind::Normal,
        },
        reason: text(&event.reason),
        note: text(&event.note),
        controller: text(&event.reporting_controller),
        instance: text(&event.reporting_instance),
        service: service_of(&name, services),
        object: ObjectRef {
            kind: regarding.kind.unwrap_or_default(),
            namespace: regarding.namespace.unwrap_or_default(),
            name,
        },
    }
}

/// The newest warning about a service, in its own words.
pub(super) fn newest_warning(service: &str, shown: &LeaseObjects<'_>) -> Option<String> {
    let warnings =
        shown.events.iter().rev().filter(|event| event.type_.as_deref() == Some("Warning"));
    let about = warnings.filter(|event| {
        let name = event.regarding.as_ref().and_then(|regarding| regarding.name.as_deref());
        name.is_some_and(|name| is_of(name, service))
    });
    about.filter_map(|event| event.note.clone()).find(|note| !note.is_empty())
}

/// The service that an object is of. Everything of a service is named like it, with a dash and
/// more behind; of `web` and `web-api` the longer one counts.
fn service_of<'a>(name: &str, services: impl Iterator<Item = &'a str>) -> Option<String> {
    services.filter(|service| is_of(name, service)).max_by_key(|name| name.len()).map(str::to_owned)
}

fn is_of(name: &str, service: &str) -> bool {
    name.strip_prefix(service).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}
