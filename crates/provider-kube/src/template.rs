//! Pod templates keep the settings that they were written with.
//!
//! The public hostname, the overcommit and the pull secret stand in every pod template, and a
//! template that changes restarts its pods. So a template is compared with what its service asks for
//! under the settings that the template shows: if they are the same, it stays. A template that
//! changes for its service takes the current settings with it.

use k8s_openapi::api::core::v1::{Container, PodSpec};
use kube_access::merge::{Merged, Occasion, merge};
use provider_crd::names;
use serde_json::Value;

use crate::build::Object;
use crate::resolve::{Lease, Service};

/// The variable that tells a pod the public hostname, unless the tenant set it.
const PUBLIC_HOSTNAME: &str = "AKASH_CLUSTER_PUBLIC_HOSTNAME";
/// Resources whose requests depend on the overcommit.
const OVERCOMMITTED: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Gives each workload among `objects` the settings that stand in the template of the one that is
/// there, if that template then stays as it is. `find` gives the object of a kind and name that is
/// there.
pub(crate) fn keep_settings(
    lease: &Lease,
    objects: &mut [Object],
    find: impl Fn(&str, &str) -> Option<Value>,
) {
    for object in objects {
        let name = object.metadata().name.clone().unwrap_or_default();
        let is_workload = matches!(object, Object::Deployment(_) | Object::StatefulSet(_));
        let service = lease.services.iter().find(|service| is_workload && service.name() == name);
        let Some(service) = service else { continue };
        let Some(there) = find(object.kind(), &name) else { continue };
        let mut kept = object.clone();
        if take_settings(&mut kept, service, &there).is_some() && keeps_template(&there, &kept) {
            *object = kept;
        }
    }
}

/// Whether a merge leaves the pod template of `there` alone.
fn keeps_template(there: &Value, wanted: &Object) -> bool {
    const TEMPLATE: &str = "/spec/template";
    let Ok(wanted) = wanted.to_json() else { return false };
    match merge(there, &wanted, Occasion::Update) {
        Ok(Merged::Unchanged) => true,
        Ok(Merged::Replace(merged)) => merged.pointer(TEMPLATE) == there.pointer(TEMPLATE),
        Err(_) => false,
    }
}

/// Puts what the template of `there` shows of settings into that of `object`; `None` if either has
/// no such template.
fn take_settings(object: &mut Object, service: &Service, there: &Value) -> Option<()> {
    let pod: PodSpec =
        serde_json::from_value(there.pointer("/spec/template/spec")?.clone()).ok()?;
    let wanted = match object {
        Object::Deployment(object) => object.spec.template.spec.as_mut()?,
        Object::StatefulSet(object) => object.spec.template.spec.as_mut()?,
        _ => return None,
    };
    let named = |pod: &&Container| pod.name == service.name();
    let container = pod.containers.iter().find(named)?;
    let [wanted_container] = wanted.containers.as_mut_slice() else { return None };
    take_public_hostname(wanted_container, service, container);
    take_requests(wanted_container, container);
    // A login that the tenant brought is not a setting, and neither is one that was brought before.
    if service.wanted.credentials.is_none() {
        let own = names::pull_secret(service.name());
        let secrets = pod.image_pull_secrets.filter(|secrets| !secrets.is_empty());
        if !secrets.iter().flatten().any(|secret| secret.name == own) {
            wanted.image_pull_secrets = secrets;
        }
    }
    Some(())
}

fn take_public_hostname(wanted: &mut Container, service: &Service, there: &Container) {
    let key = |entry: &String| entry.split('=').next() == Some(PUBLIC_HOSTNAME);
    if service.wanted.env.iter().flatten().any(key) {
        return;
    }
    let found = there.env.iter().flatten().find(|variable| variable.name == PUBLIC_HOSTNAME);
    let ours = wanted.env.iter_mut().flatten().find(|variable| variable.name == PUBLIC_HOSTNAME);
    if let (Some(found), Some(ours)) = (found, ours) {
        ours.value.clone_from(&found.value);
    }
}

/// A limit is what the tenant asked for; with the same limit only the overcommit makes another
/// request. (Memory limits include volumes in memory, whose sizes stand in the template as well.)
fn take_requests(wanted: &mut Container, there: &Container) {
    let (Some(wanted), Some(there)) = (&mut wanted.resources, &there.resources) else { return };
    for resource in OVERCOMMITTED {
        let limit = wanted.limits.as_ref().and_then(|limits| limits.get(resource));
        let limit_there = there.limits.as_ref().and_then(|limits| limits.get(resource));
        let request = there.requests.as_ref().and_then(|requests| requests.get(resource));
        let ours = wanted.requests.as_mut().and_then(|requests| requests.get_mut(resource));
        if let (Some(request), Some(ours)) = (request, ours)
            && limit == limit_there
        {
            ours.clone_from(request);
        }
    }
}

#[cfg(test)]
mod tests {
    use akash_types::LeaseId;
    use provider_crd::Manifest;
    use serde_json::json;

    use super::*;
    use crate::build;
    use crate::settings::{Overcommit, Settings};

    const LEASE: &str = "akash15745vczur53teyxl4k05u250tfvp0lvdcfqx27/5950031/1/1/akash1xmz9es9ay9ln9x2m3q8dlu0alxf0ltce7ykjfx";

    fn lease(service: &Value) -> Lease {
        let id: LeaseId = LEASE.parse().unwrap();
        let parts: Vec<&str> = LEASE.split('/').collect();
        let mut whole = json!({
            "name": "web", "image": "x", "count": 1, "env": ["A=1"],
            "resources": {"id": 1, "cpu": {"units": 100}, "gpu": {"units": 0},
                "memory": {"size": "1024"}, "storage": [{"name": "default", "size": "1024"}]},
        });
        for (key, value) in service.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let manifest: Manifest = serde_json::from_value(json!({
            "metadata": {"name": names::lease_namespace(&id), "resourceVersion": "7"},
            "spec": {
                "lease_id": {"owner": parts[0], "dseq": parts[1], "gseq": 1, "oseq": 1,
                    "provider": parts[4]},
                "group": {"name": "g", "services": [whole]},
            },
        }))
        .unwrap();
        Lease::of(&manifest).unwrap()
    }

    fn go() -> Settings {
        Settings { public_hostname: "go.example".to_owned(), ..Settings::default() }
    }

    fn ours() -> Settings {
        Settings {
            public_hostname: "ours.example".to_owned(),
            overcommit: Overcommit { cpu: 100, memory: 100, storage: 100 },
            pull_secret: Some("registry".to_owned()),
            ..Settings::default()
        }
    }

    fn deployment(lease: &Lease, settings: &Settings) -> Object {
        let objects = build::workload(lease, settings).unwrap();
        objects.into_iter().find(|object| matches!(object, Object::Deployment(_))).unwrap()
    }

    /// What is written over the workload of `before` for `after`, by the settings of each.
    fn written(before: (&Value, &Settings), after: (&Value, &Settings)) -> Option<Object> {
        let there = deployment(&lease(before.0), before.1).to_json().unwrap();
        let lease = lease(after.0);
        let mut objects = [deployment(&lease, after.1)];
        keep_settings(&lease, &mut objects, |_, _| Some(there.clone()));
        let [wanted] = objects;
        match merge(&there, &wanted.to_json().unwrap(), Occasion::Update).unwrap() {
            Merged::Unchanged => None,
            Merged::Replace(_) => Some(wanted),
        }
    }

    #[test]
    fn a_template_is_not_changed_for_settings_alone() {
        let same = json!({});
        for (there, now) in [(go(), ours()), (ours(), go()), (ours(), ours())] {
            assert_eq!(written((&same, &there), (&same, &now)), None);
        }
        let login = json!({"credentials": {"host": "h", "username": "u", "password": "p"}});
        assert_eq!(written((&login, &go()), (&login, &ours())), None);
        let own = json!({"env": ["AKASH_CLUSTER_PUBLIC_HOSTNAME=mine"]});
        assert_eq!(written((&own, &go()), (&own, &ours())), None);
    }

    #[test]
    fn a_template_that_its_tenant_changes_takes_the_current_settings() {
        let change = json!({"env": ["A=2"]});
        let wanted = written((&json!({}), &go()), (&change, &ours())).unwrap();
        assert_eq!(wanted, deployment(&lease(&change), &ours()));
    }

    #[test]
    fn what_a_tenant_asks_for_is_never_taken_for_a_setting() {
        let told = |value: &str| format!("{PUBLIC_HOSTNAME}={value}");
        let all = |value| {
            let ours = ["GROUP_SEQUENCE", "DEPLOYMENT_SEQUENCE", "ORDER_SEQUENCE", "OWNER"];
            let mut env: Vec<_> = ours.map(|name| format!("AKASH_{name}=x")).into();
            env.extend(["AKASH_PROVIDER=x".to_owned(), told(value)]);
            json!({"env": env})
        };
        let memory = |size: &str| {
            json!({"resources": {"id": 1, "cpu": {"units": 100}, "gpu": {"units": 0},
                "memory": {"size": size}, "storage": [{"name": "default", "size": "1024"}]}})
        };
        let login = json!({"credentials": {"host": "h", "username": "u", "password": "p"}});
        let plain = json!({});
        for (before, after) in [
            (&plain, &json!({"env": ["A=1", told("mine")]})),
            (&json!({"env": ["A=1", told("mine")]}), &plain),
            (&all("mine"), &all("other")),
            (&memory("1024"), &memory("2048")),
            (&plain, &login),
            (&login, &plain),
        ] {
            for (there, now) in [(go(), go()), (go(), ours()), (ours(), go())] {
                let wanted = written((before, &there), (after, &now)).unwrap();
                assert_eq!(wanted, deployment(&lease(after), &now), "{before} {after}");
            }
        }
    }
}
