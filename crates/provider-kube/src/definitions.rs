//! Whether the cluster's definitions of our kinds keep everything that is written.
//!
//! An API server drops fields that a definition does not name, without a word. A cluster whose
//! definitions are older than this program therefore loses options of tenants. The API server is
//! asked what it would keep (a dry run), which needs no right to read definitions and is right
//! however they were installed.

use kube_access::{Failure, KubeClient, ResourceKind};
use provider_crd::{Manifest, custom_resource_definitions};
use provider_engine::cluster::view::IgnoredOptions;
use serde_json::{Map, Value, json};

/// What brings the definitions of a cluster to this version.
pub const REMEDY: &str = "bring the custom resource definitions to this version with \
                          `provider-services migrate crds`, then have tenants send their manifests \
                          again";

/// Begins the names of objects that are not written.
const NAME: &str = "definition-check-";

/// Fields that this version writes and the definitions of the cluster do not keep, such as
/// `Manifest spec.group.services[0].expose[0].http_options.proxy`.
pub async fn lost_fields(client: &KubeClient, namespace: &str) -> Result<Vec<String>, Failure> {
    let mut fields = Vec::new();
    for definition in custom_resource_definitions() {
        let kind = definition.pointer("/spec/names/kind").and_then(Value::as_str);
        let Some(kind) = kind.and_then(ResourceKind::named) else { continue };
        let schema = definition.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
        let spec = schema.map(example).unwrap_or_default();
        let kept = client.dry_run(kind, Some(namespace), &unnamed(kind, namespace, &spec)).await?;
        let kept = kept.get("spec").unwrap_or(&Value::Null);
        let lost = lost(&spec, kept).into_iter().map(|path| format!("{} spec{path}", kind.name));
        fields.extend(lost);
    }
    Ok(fields)
}

/// Leaves out of a `Manifest` what the cluster would not keep; what that is, by service.
pub(crate) async fn keep_known(
    client: &KubeClient,
    manifest: &mut Manifest,
) -> Result<IgnoredOptions, Failure> {
    let unreadable = |error: serde_json::Error| Failure::Refused(error.to_string());
    let namespace = manifest.metadata.namespace.clone().unwrap_or_default();
    let sent = serde_json::to_value(&manifest.spec).map_err(unreadable)?;
    let object = unnamed(ResourceKind::MANIFEST, &namespace, &sent);
    let mut kept = client.dry_run(ResourceKind::MANIFEST, Some(&namespace), &object).await?;
    let kept = kept.get_mut("spec").map(Value::take).unwrap_or_default();
    let ignored = lost_options(&sent, &kept);
    manifest.spec = serde_json::from_value(kept).map_err(unreadable)?;
    Ok(ignored)
}

fn unnamed(kind: ResourceKind, namespace: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"generateName": NAME, "namespace": namespace},
        "spec": spec,
    })
}

/// An object with every field of a schema.
fn example(schema: &Value) -> Value {
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let fields = properties.into_iter().flatten();
            fields.map(|(key, schema)| (key.clone(), example(schema))).collect::<Map<_, _>>().into()
        }
        Some("array") => json!([schema.get("items").map(example)]),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        _ => json!("1"),
    }
}

/// What a spec has and what was kept of it has not, as paths from the spec on. Of a field that is
/// lost whole, its parts are not named.
fn lost(sent: &Value, kept: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    compare(sent, kept, &mut String::new(), &mut paths);
    paths
}

fn compare(sent: &Value, kept: &Value, path: &mut String, lost: &mut Vec<String>) {
    let mut part = |name: String, sent: &Value, kept: Option<&Value>| {
        let length = path.len();
        path.push_str(&name);
        match kept {
            Some(kept) => compare(sent, kept, path, lost),
            // A field that says nothing is as good as none.
            None if sent.is_null() => {}
            None => lost.push(path.clone()),
        }
        path.truncate(length);
    };
    match sent {
        Value::Object(fields) => {
            for (key, value) in fields {
                part(format!(".{key}"), value, kept.get(key));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                part(format!("[{index}]"), item, kept.get(index));
            }
        }
        _ => {}
    }
}

/// The same for the services of a `Manifest`, with the name of each.
fn lost_options(sent: &Value, kept: &Value) -> IgnoredOptions {
    let services = |spec: &Value| spec.pointer("/group/services").cloned().unwrap_or_default();
    let (sent, kept) = (services(sent), services(kept));
    let mut options = IgnoredOptions::new();
    for (index, service) in sent.as_array().into_iter().flatten().enumerate() {
        let lost = lost(service, kept.get(index).unwrap_or(&Value::Null));
        let name = service.get("name").and_then(Value::as_str).unwrap_or_default();
        if !lost.is_empty() {
            let paths = lost.iter().map(|path| path.trim_start_matches('.').to_owned());
            options.insert(name.to_owned(), paths.collect());
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_has_every_field_of_its_schema() {
        let definitions = custom_resource_definitions();
        let schema = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
        let example = example(definitions[0].pointer(schema).unwrap());
        let proxy = "/group/services/0/expose/0/http_options/proxy/connect_timeout";
        assert_eq!(example.pointer(proxy), Some(&json!(1)));
        assert_eq!(
            example.pointer("/group/services/0/params/permissions/read/0"),
            Some(&json!("1"))
        );
        assert_eq!(lost(&example, &example), [""; 0]);
    }

    #[test]
    fn what_was_not_kept_is_named_by_service() {
        let options = json!({"read_timeout": 1, "proxy": {"buffer_size": 1, "connect_timeout": 2}});
        let service = |name: &str| json!({"name": name, "expose": [{"http_options": options}]});
        let sent = json!({"group": {"services": [service("a"), service("b")]}, "gone": null});
        let mut kept = sent.clone();
        let at = |service: u8| format!("/group/services/{service}/expose/0/http_options");
        kept.pointer_mut(&at(1)).unwrap().as_object_mut().unwrap().remove("proxy");
        assert_eq!(lost(&sent, &kept), [".group.services[1].expose[0].http_options.proxy"]);
        let options = IgnoredOptions::from([(
            "b".to_owned(),
            vec!["expose[0].http_options.proxy".to_owned()],
        )]);
        assert_eq!(lost_options(&sent, &kept), options);
        assert_eq!(lost_options(&sent, &sent), IgnoredOptions::new());
    }
}
