use serde_json::json;

use super::*;

fn deployment(container: Value) -> Value {
    json!({
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "ns", "labels": {"akash.network": "true"}},
        "spec": {
            "replicas": 1,
            "template": {"metadata": {"labels": {}}, "spec": {"containers": [container]}},
        },
    })
}

fn replaced(existing: &Value, wanted: &Value) -> Value {
    match merge(existing, wanted, Occasion::Update).unwrap() {
        Merged::Replace(object) => object,
        Merged::Unchanged => panic!("nothing would be written"),
    }
}

#[test]
fn what_others_set_stays() {
    let mut existing = deployment(json!({
        "name": "web",
        "image": "a",
        "terminationMessagePath": "/dev/termination-log",
        "ports": [{"containerPort": 80, "protocol": "TCP"}],
        "somethingNew": {"from": "a newer server"},
    }));
    existing["metadata"]["resourceVersion"] = json!("7");
    existing["metadata"]["labels"]["team"] = json!("a");
    existing["metadata"]["labels"]["akash.network/old"] = json!("x");
    existing["spec"]["template"]["metadata"]["annotations"] = json!({"restartedAt": "now"});
    existing["spec"]["progressDeadlineSeconds"] = json!(600);
    let wanted = deployment(json!({"name": "web", "image": "b", "ports": [{"containerPort": 80}]}));

    let mut expected = existing.clone();
    expected["spec"]["template"]["spec"]["containers"][0]["image"] = json!("b");
    expected["metadata"]["labels"].as_object_mut().unwrap().remove("akash.network/old");
    assert_eq!(replaced(&existing, &wanted), expected);
}

#[test]
fn what_is_no_longer_wanted_goes_away() {
    let existing = deployment(json!({
        "name": "web",
        "command": ["sh"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 81, "protocol": "TCP"}],
        "volumeMounts": [{"name": "web-a", "mountPath": "/a", "readOnly": true}],
    }));
    let wanted = deployment(json!({
        "name": "web",
        "env": [{"name": "B"}],
        "ports": [{"containerPort": 81}],
        "volumeMounts": [{"name": "web-a", "mountPath": "/a"}],
    }));
    let container = &replaced(&existing, &wanted)["spec"]["template"]["spec"]["containers"][0];
    let expected = json!({
        "name": "web",
        "env": [{"name": "B"}],
        "ports": [{"containerPort": 81, "protocol": "TCP"}],
        "volumeMounts": [{"name": "web-a", "mountPath": "/a"}],
    });
    assert_eq!(*container, expected);
}

#[test]
fn a_port_that_is_named_twice_stays_named_twice() {
    let twice =
        json!([{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 80, "protocol": "TCP"}]);
    let existing = deployment(json!({"name": "web", "ports": twice}));
    let wanted =
        deployment(json!({"name": "web", "ports": [{"containerPort": 80}, {"containerPort": 80}]}));
    assert_eq!(merge(&existing, &wanted, Occasion::Update), Ok(Merged::Unchanged));
}

#[test]
fn a_service_account_is_taken_away_under_both_its_names() {
    let mut existing = deployment(json!({"name": "web"}));
    existing["spec"]["template"]["spec"]["serviceAccount"] = json!("web");
    existing["spec"]["template"]["spec"]["serviceAccountName"] = json!("web");
    let mut wanted = deployment(json!({"name": "web"}));
    let pod = &replaced(&existing, &wanted)["spec"]["template"]["spec"];
    assert_eq!(*pod, json!({"containers": [{"name": "web"}]}));
    wanted["spec"]["template"]["spec"]["serviceAccountName"] = json!("web");
    assert_eq!(merge(&existing, &wanted, Occasion::Update), Ok(Merged::Unchanged));
}

#[test]
fn a_port_on_the_nodes_keeps_its_number_as_long_as_it_stays_the_same() {
    let service = |ports: Value| {
        json!({
            "kind": "Service",
            "metadata": {"name": "web-np", "namespace": "ns"},
            "spec": {"type": "NodePort", "clusterIP": "10.0.0.1", "ports": ports},
        })
    };
    let port = |name: &str, port: u16| json!({"name": name, "port": port, "targetPort": 8080, "protocol": "TCP"});
    let with_number = |name: &str, number: u16| {
        let mut port = port(name, number);
        port["nodePort"] = json!(30000);
        port
    };
    let existing = service(json!([with_number("0-81", 81), with_number("1-82", 82)]));
    let same = service(json!([port("0-81", 81), port("1-82", 82)]));
    assert_eq!(merge(&existing, &same, Occasion::Update), Ok(Merged::Unchanged));
    let other = service(json!([port("0-82", 82), port("1-81", 81)]));
    assert_eq!(replaced(&existing, &other)["spec"]["ports"], other["spec"]["ports"]);
    let less = service(json!([port("1-82", 82)]));
    let left = replaced(&existing, &less);
    assert_eq!(left["spec"]["ports"], json!([with_number("1-82", 82)]));
    assert_eq!(left["spec"]["clusterIP"], json!("10.0.0.1"));
}

#[test]
fn a_hostname_is_declared_anew_only_when_the_tenant_sent_a_manifest() {
    let host = |time: &str| {
        json!({
            "kind": "ProviderHost",
            "metadata": {
                "name": "a.example",
                "namespace": "lease",
                "annotations": {"akash.network/lease.updated_at": time, "else": "x"},
            },
            "spec": {"hostname": "a.example"},
        })
    };
    let (old, new) = (host("2026-01-01T00:00:00Z"), host("2026-01-02T00:00:00Z"));
    assert_eq!(merge(&old, &new, Occasion::Adopt), Ok(Merged::Unchanged));
    assert_eq!(merge(&old, &new, Occasion::Update), Ok(Merged::Replace(new)));
}

#[test]
fn what_a_newer_provider_wrote_into_a_manifest_is_no_change() {
    let manifest = |service: Value| {
        json!({
            "kind": "Manifest",
            "metadata": {"name": "m", "namespace": "lease"},
            "spec": {"group": {"name": "g", "services": [service]}},
        })
    };
    let existing = manifest(json!({
        "name": "web",
        "image": "a",
        "scheduler_params": {"runtime_class": "", "attestation_disabled": true},
    }));
    let same =
        manifest(json!({"name": "web", "image": "a", "scheduler_params": {"runtime_class": ""}}));
    assert_eq!(merge(&existing, &same, Occasion::Update), Ok(Merged::Unchanged));
    let other = manifest(json!({"name": "web", "image": "b"}));
    let expected = manifest(json!({
        "name": "web",
        "image": "b",
        "scheduler_params": {"attestation_disabled": true},
    }));
    assert_eq!(replaced(&existing, &other), expected);
}

#[test]
fn only_the_same_object_of_a_kind_that_is_ours_is_merged() {
    let pod = json!({"kind": "Pod", "metadata": {"name": "a"}});
    let refused = MergeError::Kind { kind: "Pod".to_owned() };
    assert_eq!(merge(&pod, &pod, Occasion::Adopt), Err(refused));
    let other = json!({"kind": "Pod", "metadata": {"name": "b"}});
    let error = merge(&pod, &other, Occasion::Adopt).unwrap_err();
    assert_eq!(error.to_string(), "Pod /a is there where Pod /b is wanted");
}

#[test]
fn a_field_that_is_shown_as_null_is_not_set() {
    let role = |rules: Option<Value>| {
        let mut role = json!({"kind": "Role", "metadata": {"name": "web", "namespace": "ns"}});
        if let Some(rules) = rules {
            role["rules"] = rules;
        }
        role
    };
    let shown = role(Some(Value::Null));
    assert_eq!(merge(&shown, &role(None), Occasion::Update), Ok(Merged::Unchanged));
    let wanted = role(Some(json!([{"verbs": ["get"]}])));
    assert_eq!(replaced(&shown, &wanted)["rules"], wanted["rules"]);
}

/// A Deployment whose template and own labels say this revision.
fn revised(image: &str, revision: &str, template: Option<&str>) -> Value {
    let mut object = deployment(json!({"name": "web", "image": image}));
    object["metadata"]["labels"][REVISION] = json!(revision);
    let labels = &mut object["spec"]["template"]["metadata"]["labels"];
    *labels = json!({"akash.network": "true"});
    if let Some(template) = template {
        labels[REVISION] = json!(template);
    }
    object
}

#[test]
fn a_template_is_not_changed_only_for_its_revision() {
    for there in [None, Some("3"), Some("")] {
        let existing = revised("a", "3", there);
        // The object itself says what it was written from; its pods stay.
        let expected = revised("a", "7", there);
        assert_eq!(replaced(&existing, &revised("a", "7", Some("7"))), expected, "{there:?}");
        let same = revised("a", "3", Some("3"));
        assert_eq!(merge(&existing, &same, Occasion::Update), Ok(Merged::Unchanged), "{there:?}");
        // The tenant's next image brings it along.
        let wanted = revised("b", "7", Some("7"));
        assert_eq!(replaced(&existing, &wanted), wanted, "{there:?}");
    }
}

#[test]
fn labels_and_annotations_of_a_manifest_are_written_once() {
    let manifest = |image: &str, labels: Value| {
        json!({
            "kind": "Manifest",
            "metadata": {"name": "m", "namespace": "lease", "labels": labels},
            "spec": {"group": {"name": "g", "services": [{"name": "web", "image": image}]}},
        })
    };
    let ours = json!({"akash.network": "true", REVISION: ""});
    for theirs in [json!({"akash.network": "true"}), json!({REVISION: "6", "team": "a"})] {
        let mut existing = manifest("a", theirs.clone());
        existing["metadata"]["annotations"] = json!({"else": "x"});
        let same = merge(&existing, &manifest("a", ours.clone()), Occasion::Update);
        assert_eq!(same, Ok(Merged::Unchanged));
        let mut expected = existing.clone();
        expected["spec"]["group"]["services"][0]["image"] = json!("b");
        assert_eq!(replaced(&existing, &manifest("b", ours.clone())), expected);
    }
}

fn on_arch(image: &str, arch: Option<&str>) -> Value {
    let mut object = revised(image, "1", Some("1"));
    let arch = arch.map(|arch| json!({"key": NODE_ARCH, "operator": "In", "values": [arch]}));
    let managed = json!({"key": "akash.network", "operator": "In", "values": ["true"]});
    let expressions: Vec<_> = std::iter::once(managed).chain(arch).collect();
    object["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"] = json!([{"matchExpressions": expressions}]);
    object
}

#[test]
fn a_template_is_not_changed_only_for_the_architecture_that_it_names() {
    let (without, with) = (on_arch("a", None), on_arch("a", Some("amd64")));
    for (there, wanted) in [(&without, &with), (&with, &without)] {
        for occasion in [Occasion::Adopt, Occasion::Update] {
            assert_eq!(merge(there, wanted, occasion), Ok(Merged::Unchanged));
        }
    }
    // The tenant's update changes it anyway.
    let updated = replaced(&without, &on_arch("b", Some("amd64")));
    assert!(updated.to_string().contains(NODE_ARCH), "{updated}");
    let updated = replaced(&with, &on_arch("b", None));
    assert!(!updated.to_string().contains(NODE_ARCH), "{updated}");
}
