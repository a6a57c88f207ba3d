//! Which services have somebody who answers.
//!
//! Kubernetes keeps the addresses of a service's pods in `EndpointSlice`s, with whether each is ready.
//! Decides nothing and knows no hostnames: a route is as it should be also where nobody answers.

use std::collections::BTreeMap;

use k8s_openapi::api::discovery::v1::EndpointSlice;

/// The label that says whose addresses a slice has.
const SERVICE: &str = "kubernetes.io/service-name";

type Key = (String, String);

/// Addresses of services that are ready.
#[derive(Clone, Debug, Default)]
pub struct Backends {
    /// By slice: its service, and how many of its addresses are ready.
    slices: BTreeMap<Key, (String, u32)>,
    /// By service: how many are ready in all of its slices.
    ready: BTreeMap<Key, u32>,
    is_known: bool,
}

/// Whether somebody answers for a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    Ready(u32),
    Nobody,
    /// It cannot be said at the moment. That is no reason for anything.
    Unknown,
}

impl Backends {
    pub fn synced(&mut self, slices: &[EndpointSlice]) {
        (self.slices, self.ready) = <_>::default();
        for slice in slices {
            self.applied(slice);
        }
    }

    /// A slice came or changed.
    pub fn applied(&mut self, slice: &EndpointSlice) {
        self.deleted(slice);
        let labels = slice.metadata.labels.as_ref();
        let Some(service) = labels.and_then(|labels| labels.get(SERVICE)) else {
            return;
        };
        let key = key(slice);
        let count = ready(slice);
        let total = self.ready.entry((key.0.clone(), service.clone())).or_default();
        *total = total.saturating_add(count);
        self.slices.insert(key, (service.clone(), count));
    }

    pub fn deleted(&mut self, slice: &EndpointSlice) {
        let key = key(slice);
        let Some((service, count)) = self.slices.remove(&key) else {
            return;
        };
        let of_service = (key.0, service);
        if let Some(total) = self.ready.get_mut(&of_service) {
            *total = total.saturating_sub(count);
            if *total == 0 {
                self.ready.remove(&of_service);
            }
        }
    }

    /// Whether what was told is how things are.
    pub const fn known(&mut self, is_known: bool) {
        self.is_known = is_known;
    }

    pub fn of(&self, namespace: &str, service: &str) -> Answers {
        if !self.is_known {
            return Answers::Unknown;
        }
        let ready = self.ready.get(&(namespace.to_owned(), service.to_owned()));
        match ready.copied().unwrap_or_default() {
            0 => Answers::Nobody,
            count => Answers::Ready(count),
        }
    }
}

fn key(slice: &EndpointSlice) -> Key {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    (text(&slice.metadata.namespace), text(&slice.metadata.name))
}

/// Addresses that are ready; one of which nobody says anything is, as Kubernetes has it.
fn ready(slice: &EndpointSlice) -> u32 {
    let endpoints = slice.endpoints.iter().flatten().filter(|endpoint| {
        let said = endpoint.conditions.as_ref().and_then(|conditions| conditions.ready);
        said.unwrap_or(true) && !endpoint.addresses.is_empty()
    });
    u32::try_from(endpoints.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn slice(name: &str, service: &str, ready: &[Value]) -> EndpointSlice {
        let endpoint =
            |ready: &Value| json!({"addresses": ["10.0.0.1"], "conditions": {"ready": ready}});
        let endpoints: Vec<_> = ready.iter().map(endpoint).collect();
        serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": "lease-1", "labels": {SERVICE: service}},
            "addressType": "IPv4", "endpoints": endpoints,
        }))
        .unwrap()
    }

    #[test]
    fn ready_addresses_of_all_slices_count_and_nothing_else() {
        let mut backends = Backends::default();
        assert_eq!(backends.of("lease-1", "web"), Answers::Unknown);
        backends.synced(&[slice("web-a", "web", &[json!(true), json!(false), json!(null)])]);
        backends.known(true);
        assert_eq!(backends.of("lease-1", "web"), Answers::Ready(2));
        assert_eq!(backends.of("lease-1", "db"), Answers::Nobody);
        assert_eq!(backends.of("lease-2", "web"), Answers::Nobody);

        backends.applied(&slice("web-b", "web", &[json!(true)]));
        assert_eq!(backends.of("lease-1", "web"), Answers::Ready(3));
        backends.applied(&slice("web-a", "web", &[json!(false)]));
        assert_eq!(backends.of("lease-1", "web"), Answers::Ready(1));
        backends.applied(&slice("web-b", "web", &[json!(false)]));
        assert_eq!(backends.of("lease-1", "web"), Answers::Nobody);
        backends.deleted(&slice("web-b", "web", &[]));
        assert_eq!(backends.of("lease-1", "web"), Answers::Nobody);

        backends.synced(&[slice("db-a", "db", &[json!(true)])]);
        assert_eq!(backends.of("lease-1", "db"), Answers::Ready(1));
        backends.known(false);
        assert_eq!(backends.of("lease-1", "db"), Answers::Unknown);
    }
}
