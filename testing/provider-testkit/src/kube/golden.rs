//! Whether what we build is what was recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_sdl::manifest::Service;
use akash_types::hostname::generated_host;
use akash_types::{GpuInterface, GpuVendor};
use k8s_openapi::jiff::Timestamp;
use provider_crd::labels;
use provider_engine::cluster::command::Workload;
use provider_engine::cluster::view::CardChoice;
use provider_kube::build::{self, BuildError, Object};
use provider_kube::resolve::{self, Lease};
use serde_json::Value;

use super::difference::{Difference, differences};
use super::recorded::{Case, text_at};
use super::stored::{as_stored, without_what_varies};

/// Kinds in a lease's namespace that the provider does not write itself: they come from the
/// hostname operator and from controllers.
const OF_OTHERS: [&str; 3] = ["Ingress", "HTTPRoute", "PersistentVolumeClaim"];

/// What the engine would have deployed.
pub fn workload(case: &Case) -> Result<Workload, Box<dyn std::error::Error>> {
    let group = case.manifest.groups.first().ok_or("the manifest has no group")?;
    Ok(Workload {
        lease: case.lease,
        version: Some(case.manifest.version()),
        group: Arc::new(group.clone()),
        cards: cards(group),
        withheld: case.withheld.clone(),
        endpoints_to_take: vec![],
        ignored: BTreeMap::new(),
    })
}

/// All objects of a case, as we build them: custom resources and everything in the namespace.
pub fn built(case: &Case) -> Result<Vec<Object>, Box<dyn std::error::Error>> {
    let workload = workload(case)?;
    let mut manifest = resolve::manifest(&workload, &case.settings)?;
    let mut objects = vec![Object::from(manifest.clone())];
    manifest.metadata.resource_version = Some(case.revision().to_owned());
    let lease = Lease::of(&manifest)?;
    objects.extend(build::workload(&lease, &case.settings)?);
    let hosts = build::hosts(&lease, &case.settings, &workload.withheld, declared(case));
    objects.extend(hosts.into_iter().map(Object::from));
    let addresses: Result<_, BuildError> = build::leased_ips(&lease, &case.settings);
    objects.extend(addresses?.into_iter().map(Object::from));
    Ok(objects)
}

/// Every difference between what we build and what was recorded; also what is there only once.
pub fn compare(case: &Case) -> Result<Vec<Difference>, Box<dyn std::error::Error>> {
    let mut found = Vec::new();
    let mut known = Vec::new();
    for object in built(case)? {
        let name = object.metadata().name.clone().unwrap_or_default();
        let title = format!("{}/{name}", object.kind());
        let built = as_stored(object.to_json()?);
        match case.find(object.kind(), &name) {
            Some(recorded) => {
                let recorded = without_what_varies(recorded.clone());
                found.extend(differences(&title, &built, &recorded));
            }
            None => found.push(Difference {
                object: title.clone(),
                path: String::new(),
                built: Some(built),
                recorded: None,
            }),
        }
        known.push(title);
    }
    let recorded = case.objects.iter().chain(&case.custom);
    let is_missed =
        |object: &&Value| is_ours(object) && is_current(object, case) && !is_kept(object, case);
    for recorded in recorded.filter(is_missed) {
        let title =
            format!("{}/{}", text_at(recorded, "/kind"), text_at(recorded, "/metadata/name"));
        if !known.contains(&title) {
            found.push(Difference {
                object: title,
                path: String::new(),
                built: None,
                recorded: Some(without_what_varies(recorded.clone())),
            });
        }
    }
    Ok(found)
}

/// Whether the provider itself writes it.
fn is_ours(object: &Value) -> bool {
    let labels = object.pointer("/metadata/labels");
    let has = |label: &str| labels.is_some_and(|labels| labels.get(label).is_some());
    has(labels::MANAGED)
        && !has(labels::SERVICE_TARGET)
        && !OF_OTHERS.contains(&text_at(object, "/kind"))
}

/// Whether it is of the newest manifest: what an older one left behind is never taken away.
fn is_current(object: &Value, case: &Case) -> bool {
    let labels = object.pointer("/metadata/labels");
    let revision = labels.and_then(|labels| labels.get(labels::REVISION)).and_then(Value::as_str);
    revision.is_none_or(|revision| revision.is_empty() || revision == case.revision())
}

/// Whether it stays although no flag asks for it any more: policies that were turned off, and
/// hostnames that were given to a service, then or by an earlier manifest.
fn is_kept(object: &Value, case: &Case) -> bool {
    let name = text_at(object, "/metadata/name");
    match text_at(object, "/kind") {
        "NetworkPolicy" => case.settings.network_policies.is_none(),
        "ProviderHost" => {
            let service = text_at(object, "/spec/service_name");
            name.starts_with(&generated_host(case.lease, service, ""))
        }
        _ => false,
    }
}

/// When the recorded hostnames were declared.
fn declared(case: &Case) -> Timestamp {
    let pointer = "/metadata/annotations/akash.network~1lease.updated_at";
    let times = case.custom.iter().map(|object| text_at(object, pointer));
    times.filter_map(|time| time.parse().ok()).next().unwrap_or_default()
}

/// The cards of the recorded inventory, which were all alike, for all who ask for cards.
fn cards(group: &akash_sdl::manifest::Group) -> BTreeMap<String, CardChoice> {
    let asks = |service: &&Service| service.resources.gpu.as_ref().is_some_and(|gpu| gpu.units > 0);
    let card = CardChoice {
        vendor: GpuVendor::Nvidia,
        model: "a100".into(),
        memory_gib: Some(80),
        interface: Some(GpuInterface::Pcie),
    };
    group.services.iter().filter(asks).map(|service| (service.name.clone(), card.clone())).collect()
}
