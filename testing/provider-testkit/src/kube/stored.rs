//! What an API server and its controllers make of an object.

use serde_json::{Map, Value, json};

/// `built` as an API server (1.34) stores it: with its defaults, without what it drops.
pub fn as_stored(mut built: Value) -> Value {
    let kind = built.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    match kind.as_str() {
        "Namespace" => namespace(&mut built),
        "Deployment" => deployment(&mut built),
        "StatefulSet" => stateful_set(&mut built),
        "Service" => service(&mut built),
        // A role without rules has them all the same.
        "Role" => {
            if let Some(role) = built.as_object_mut() {
                default(role, "rules", Value::Null);
            }
        }
        _ => {}
    }
    built
}

/// `recorded` without what every cluster and every moment has differently.
pub fn without_what_varies(mut recorded: Value) -> Value {
    if let Some(object) = recorded.as_object_mut() {
        object.remove("status");
    }
    if let Some(metadata) = map(&mut recorded, "/metadata") {
        for key in ["creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"] {
            metadata.remove(key);
        }
        if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
            // Of the controller that counts rollouts.
            annotations.remove("deployment.kubernetes.io/revision");
            if annotations.is_empty() {
                metadata.remove("annotations");
            }
        }
    }
    if recorded.get("kind").and_then(Value::as_str) == Some("Service") {
        if let Some(spec) = map(&mut recorded, "/spec") {
            spec.remove("clusterIP");
            spec.remove("clusterIPs");
        }
        for port in list(&mut recorded, "/spec/ports") {
            if let Some(port) = port.as_object_mut() {
                port.remove("nodePort");
            }
        }
    }
    recorded
}

fn namespace(object: &mut Value) {
    let name = object.pointer("/metadata/name").cloned().unwrap_or_default();
    if let Some(labels) = map(object, "/metadata/labels") {
        default(labels, "kubernetes.io/metadata.name", name);
    }
    if let Some(object) = object.as_object_mut() {
        default(object, "spec", json!({"finalizers": ["kubernetes"]}));
    }
}

fn deployment(object: &mut Value) {
    if let Some(spec) = map(object, "/spec") {
        default(spec, "progressDeadlineSeconds", json!(600));
    }
    pod(object);
}

fn stateful_set(object: &mut Value) {
    if let Some(spec) = map(object, "/spec") {
        default(spec, "podManagementPolicy", json!("OrderedReady"));
        default(spec, "serviceName", json!(""));
        let retain = json!({"whenDeleted": "Retain", "whenScaled": "Retain"});
        default(spec, "persistentVolumeClaimRetentionPolicy", retain);
    }
    // The feature is off in 1.34.
    if let Some(update) = map(object, "/spec/updateStrategy/rollingUpdate") {
        update.remove("maxUnavailable");
    }
    for claim in list(object, "/spec/volumeClaimTemplates") {
        if let Some(claim) = claim.as_object_mut() {
            default(claim, "status", json!({"phase": "Pending"}));
        }
    }
    pod(object);
}

fn pod(object: &mut Value) {
    if let Some(spec) = map(object, "/spec/template/spec") {
        default(spec, "dnsPolicy", json!("ClusterFirst"));
        default(spec, "restartPolicy", json!("Always"));
        default(spec, "schedulerName", json!("default-scheduler"));
        default(spec, "securityContext", json!({}));
        default(spec, "terminationGracePeriodSeconds", json!(30));
        if let Some(account) = spec.get("serviceAccountName").cloned() {
            default(spec, "serviceAccount", account);
        }
    }
    for container in list(object, "/spec/template/spec/containers") {
        for port in list(container, "/ports") {
            if let Some(port) = port.as_object_mut() {
                default(port, "protocol", json!("TCP"));
            }
        }
        if let Some(container) = container.as_object_mut() {
            default(container, "resources", json!({}));
            default(container, "terminationMessagePath", json!("/dev/termination-log"));
            default(container, "terminationMessagePolicy", json!("File"));
        }
    }
}

fn service(object: &mut Value) {
    if let Some(spec) = map(object, "/spec") {
        default(spec, "type", json!("ClusterIP"));
        default(spec, "sessionAffinity", json!("None"));
        default(spec, "internalTrafficPolicy", json!("Cluster"));
        default(spec, "ipFamilies", json!(["IPv4"]));
        default(spec, "ipFamilyPolicy", json!("SingleStack"));
        if spec.get("type").is_some_and(|kind| kind != "ClusterIP") {
            default(spec, "externalTrafficPolicy", json!("Cluster"));
        }
    }
    for port in list(object, "/spec/ports") {
        if let Some(port) = port.as_object_mut() {
            default(port, "protocol", json!("TCP"));
        }
    }
}

fn default(map: &mut Map<String, Value>, key: &str, value: Value) {
    map.entry(key).or_insert(value);
}

fn map<'a>(value: &'a mut Value, pointer: &str) -> Option<&'a mut Map<String, Value>> {
    value.pointer_mut(pointer).and_then(Value::as_object_mut)
}

fn list<'a>(value: &'a mut Value, pointer: &str) -> &'a mut [Value] {
    let found = value.pointer_mut(pointer).and_then(Value::as_array_mut);
    found.map_or(&mut [], |list| list.as_mut_slice())
}
