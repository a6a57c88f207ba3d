//! `migrate crds` as a process, on a real API server.

use std::process::Command;

use kube_access::ResourceKind;
use kube_bed::Bed;
use provider_crd::custom_resource_definitions;
use serde_json::{Value, json};

use crate::bed::{get, post, until};

fn migrate(bed: &Bed) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_provider-services"))
        .args(["migrate", "crds", "--kubeconfig"])
        .arg(bed.kubeconfig())
        .output()
        .unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.success(), said)
}

fn managers(definition: &Value) -> Vec<&str> {
    let entries = definition["metadata"]["managedFields"].as_array().unwrap().iter();
    let applied = entries.filter(|entry| entry["operation"] == "Apply");
    applied.map(|entry| entry["manager"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn migrate_crds_applies_definitions_to_an_empty_cluster_and_over_older_ones() {
    let bed = Bed::api_server().await.unwrap();
    // One of an older provider, without a field of today, and with an object.
    let mut old = custom_resource_definitions().remove(0);
    let schema = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    let fields = old.pointer_mut(schema).and_then(Value::as_object_mut).unwrap();
    let field = fields.keys().next().unwrap().clone();
    fields.remove(&field);
    post(&bed, &ResourceKind::DEFINITION.path(None), &old).await.unwrap();
    let name = |definition: &Value| definition["metadata"]["name"].as_str().unwrap().to_owned();
    let stored = async |definition: &Value| {
        let path = format!("{}/{}", ResourceKind::DEFINITION.path(None), name(definition));
        get(&bed, &path).await.unwrap()
    };
    let pointer = format!("{schema}/{field}");
    assert_eq!(stored(&old).await.pointer(&pointer), None);

    let (is_done, said) = migrate(&bed);
    assert!(is_done, "{said}");
    for definition in custom_resource_definitions() {
        assert!(said.contains(&format!("{} applied\n", name(&definition))), "{said}");
        let stored = stored(&definition).await;
        assert_eq!(managers(&stored), ["akash-provider"], "{stored}");
        assert_eq!(stored["metadata"]["annotations"], json!({"helm.sh/resource-policy": "keep"}));
    }
    assert!(stored(&old).await.pointer(&pointer).is_some(), "the field of today is there");
    for plural in ["manifests", "providerhosts", "providerleasedips"] {
        let path = format!("/apis/akash.network/v2beta2/namespaces/lease/{plural}");
        until(plural, async || get(&bed, &path).await.is_ok()).await;
    }

    // Once more changes nothing.
    let before = stored(&old).await;
    assert!(migrate(&bed).0);
    let generation = |definition: &Value| definition["metadata"]["generation"].clone();
    assert_eq!(generation(&stored(&old).await), generation(&before));
}

#[test]
fn migrate_crds_says_where_it_looked_for_a_cluster() {
    let output = Command::new(env!("CARGO_BIN_EXE_provider-services"))
        .env_clear()
        .args(["migrate", "crds", "--kubeconfig", "/nonexistent/config"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("/nonexistent/config"), "{said}");
}
