//! How a lease does, from what the cluster shows. Three answers: healthy, unhealthy, and no view,
//! which is no [`Health`] at all and counts for nothing.

use std::collections::BTreeMap;

use akash_sdl::manifest::Group;

use crate::cluster::view::{Condition, Replica};

#[derive(Clone, Debug, PartialEq, Eq, derive_more::Display)]
pub enum Health {
    /// Every service has as many ready pods as it asks for.
    #[display("healthy")]
    Healthy,
    /// A service has fewer.
    #[display("service {service:?} has {ready} of {wanted} pods ready: {why}")]
    Unhealthy {
        service: String,
        ready: u32,
        /// Pods that it asks for.
        wanted: u32,
        why: String,
    },
    /// A service has fewer, because pods of it find no place.
    #[display("service {service:?} finds no place: {why}")]
    Unschedulable {
        service: String,
        /// What the scheduler says.
        why: String,
    },
    /// Nothing of a service is there at all.
    #[display("nothing of service {service:?} is there")]
    Missing { service: String },
}

impl Health {
    /// Whether nothing is wrong.
    pub const fn is_healthy(&self) -> bool {
        matches!(self, Self::Healthy)
    }
}

/// How the services of `group` do with these `replicas`.
pub fn health(group: &Group, replicas: &[Replica]) -> Health {
    let mut by_service = BTreeMap::<&str, Vec<&Replica>>::new();
    for replica in replicas {
        by_service.entry(&replica.service).or_default().push(replica);
    }
    let bad = group.services.iter().filter(|service| service.count > 0).find_map(|service| {
        let pods = by_service.get(service.name.as_str()).map_or(&[][..], Vec::as_slice);
        let ready = pods.iter().filter(|pod| pod.condition == Condition::Ready).count();
        let ready = u32::try_from(ready).unwrap_or(u32::MAX);
        (ready < service.count).then(|| ail(&service.name, ready, service.count, pods))
    });
    bad.unwrap_or(Health::Healthy)
}

fn ail(service: &str, ready: u32, wanted: u32, pods: &[&Replica]) -> Health {
    let service = service.to_owned();
    let living = || pods.iter().filter(|pod| pod.condition != Condition::Ending);
    if living().next().is_none() {
        return Health::Missing { service };
    }
    let placeless = living().find_map(|pod| match &pod.condition {
        Condition::Unschedulable(why) => Some(why.clone()),
        _ => None,
    });
    if let Some(why) = placeless {
        return Health::Unschedulable { service, why };
    }
    let failing = living().find_map(|pod| match &pod.condition {
        Condition::Failing(why) => Some(why.clone()),
        _ => None,
    });
    let why = failing.unwrap_or_else(|| "the others are starting".to_owned());
    Health::Unhealthy { service, ready, wanted, why }
}
