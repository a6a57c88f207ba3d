//! Whether what was sent runs, from what providers say. Pure.

use std::collections::BTreeMap;

use akash_sdl::manifest::Group;
use provider_api::status::LeaseStatus;

/// A service that is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) count: u32,
}

/// The services of a group.
pub(super) fn wanted(group: &Group) -> Vec<Wanted> {
    let services = group.services.iter();
    services.map(|service| Wanted { name: service.name.clone(), count: service.count }).collect()
}

/// What is not ready yet: each service, and why as far as its provider says.
pub(super) fn missing(wanted: &[Wanted], status: &LeaseStatus) -> BTreeMap<String, String> {
    let mut missing = BTreeMap::new();
    for Wanted { name, count } in wanted {
        let service = status.services.get(name);
        let available = service.map_or(0, |service| service.available);
        let available = u32::try_from(available).unwrap_or_default();
        if available >= *count {
            continue;
        }
        let detail = service.and_then(|service| service.detail.as_ref());
        let why = detail.map(|detail| match &detail.why {
            Some(why) => format!(", {}: {why}", detail.phase),
            None => format!(", {}", detail.phase),
        });
        let why = why.unwrap_or_default();
        missing.insert(name.clone(), format!("{available} of {count} ready{why}"));
    }
    missing
}

#[cfg(test)]
mod tests {
    use provider_api::status::{Detail, ServiceStatus};

    use super::*;

    #[test]
    fn services_are_missing_until_all_replicas_work() {
        let wanted = [
            Wanted { name: "db".to_owned(), count: 1 },
            Wanted { name: "web".to_owned(), count: 2 },
        ];
        let mut status = LeaseStatus::default();
        assert_eq!(missing(&wanted, &status).len(), 2);
        let service = |available| ServiceStatus { available, ..ServiceStatus::default() };
        status.services.insert("db".to_owned(), service(1));
        let mut web = service(1);
        web.detail = Some(Detail {
            phase: "degraded".to_owned(),
            why: Some("a replica finds no place".to_owned()),
            ..Detail::default()
        });
        status.services.insert("web".to_owned(), web);
        let left = missing(&wanted, &status);
        let told = "1 of 2 ready, degraded: a replica finds no place";
        assert_eq!(left, BTreeMap::from([("web".to_owned(), told.to_owned())]));
        status.services.insert("web".to_owned(), service(2));
        assert!(missing(&wanted, &status).is_empty());
    }
}
