//! The types against what a real cluster holds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use akash_sdl::manifest::{Group, ServiceResources};
use provider_crd::manifest::{ReadError, WriteError};
use provider_crd::{
    Manifest, ManifestSpec, ProviderHost, ProviderLeasedIp, custom_resource_definitions, names,
};
use provider_testkit::kube::Case;
use serde_json::{Value, json};

const CASES: [&str; 9] = [
    "01-basic",
    "02-two-services",
    "04-nodeports",
    "05-storage",
    "06-gpu",
    "07-credentials",
    "09-permissions",
    "flags-B/03-hostnames-b",
    "gateway-api/01-basic",
];

/// Every recorded object of our kinds.
fn recorded() -> Vec<Value> {
    CASES.iter().flat_map(|case| Case::recorded(case).unwrap().custom).collect()
}

fn recorded_manifests() -> Vec<Manifest> {
    let is_manifest = |object: &Value| object["kind"] == "Manifest";
    let manifests = recorded().into_iter().filter(is_manifest);
    manifests.map(|object| serde_json::from_value(object).unwrap()).collect()
}

#[test]
fn recorded_objects_are_written_as_they_were_read() {
    for object in recorded() {
        let written = match object["kind"].as_str().unwrap() {
            "Manifest" => {
                serde_json::to_value(serde_json::from_value::<Manifest>(object.clone()).unwrap())
            }
            "ProviderHost" => serde_json::to_value(
                serde_json::from_value::<ProviderHost>(object.clone()).unwrap(),
            ),
            other => panic!("a {other} was recorded"),
        };
        assert_eq!(written.unwrap(), object);
    }
}

#[test]
fn a_recorded_manifest_is_read_and_written_without_loss() {
    for manifest in recorded_manifests() {
        let lease = manifest.lease().unwrap();
        assert_eq!(manifest.metadata.name.as_deref(), Some(&*names::lease_namespace(&lease)));
        let group = manifest.spec.group().unwrap();
        let scheduler = |name: &str| {
            let services = manifest.spec.group.services.iter();
            services
                .filter(|service| service.name == name)
                .find_map(|it| it.scheduler_params.clone())
        };
        assert_eq!(ManifestSpec::new(&lease, &group, scheduler).unwrap(), manifest.spec);
    }
}

#[test]
fn what_is_read_back_is_what_was_sent_without_endpoints() {
    for name in CASES {
        let case = Case::recorded(name).unwrap();
        let kept = case.custom.iter().find(|object| object["kind"] == "Manifest").unwrap();
        let kept: Manifest = serde_json::from_value(kept.clone()).unwrap();
        let mut sent = case.manifest.groups[0].clone();
        for service in &mut sent.services {
            service.resources = ServiceResources { endpoints: None, ..service.resources.clone() };
            if let Some(params) = &mut service.params {
                params.storage.get_or_insert_default();
            }
        }
        assert_eq!(kept.spec.group().unwrap(), sent, "{name}");
    }
}

/// What an API server leaves of `value`: only what the schema names.
fn pruned(value: &Value, schema: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let known = map.iter().filter_map(|(key, value)| {
                Some((key.clone(), pruned(value, schema["properties"].get(key)?)))
            });
            known.collect()
        }
        Value::Array(items) => items.iter().map(|item| pruned(item, &schema["items"])).collect(),
        scalar => {
            let kind = schema["type"].as_str().unwrap();
            let fits = match scalar {
                Value::String(_) => kind == "string",
                Value::Number(_) => matches!(kind, "number" | "integer"),
                Value::Bool(_) => kind == "boolean",
                _ => schema["nullable"] == true,
            };
            assert!(fits, "{scalar} is no {kind}");
            scalar.clone()
        }
    }
}

#[test]
fn the_schema_keeps_all_that_was_recorded() {
    let definitions = custom_resource_definitions();
    for object in recorded() {
        let kind = |definition: &&Value| definition["spec"]["names"]["kind"] == object["kind"];
        let definition = definitions.iter().find(kind).unwrap();
        let version = &definition["spec"]["versions"][0];
        let spec = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
        assert_eq!(pruned(&object["spec"], spec), object["spec"]);
    }
}

/// Every place of a schema, with its type, format and whether it may be null.
fn places(schema: &Value, at: &str, found: &mut Vec<String>) {
    if let Some(properties) = schema["properties"].as_object() {
        for (key, schema) in properties {
            places(schema, &format!("{at}.{key}"), found);
        }
    } else if let Some(items) = schema.get("items") {
        places(items, &format!("{at}[]"), found);
    } else {
        let kind = schema["type"].as_str().unwrap();
        let format = schema["format"].as_str().map(|format| format!(" {format}"));
        found.push(format!("{at}: {kind}{}", format.unwrap_or_default()));
    }
}

#[test]
fn the_schema_of_a_manifest_is_that_of_live_clusters() {
    let definitions = custom_resource_definitions();
    let versions = &definitions[0]["spec"]["versions"];
    let mut found = Vec::new();
    let spec = &versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    places(spec, "", &mut found);
    found.sort();
    let service = ".group.services[]";
    let mut expected: Vec<String> = [
        ".group.name: string",
        ".lease_id.dseq: string uint64",
        ".lease_id.gseq: integer",
        ".lease_id.oseq: integer",
        ".lease_id.owner: string",
        ".lease_id.provider: string",
    ]
    .map(str::to_owned)
    .into();
    let in_service = [
        "args[]: string",
        "command[]: string",
        "count: number uint64",
        "credentials.email: string",
        "credentials.host: string",
        "credentials.password: string",
        "credentials.username: string",
        "env[]: string",
        "expose[].endpoint_sequence_number: number uint32",
        "expose[].external_port: integer uint16",
        "expose[].global: boolean",
        "expose[].hosts[]: string",
        "expose[].http_options.max_body_size: integer",
        "expose[].http_options.next_cases[]: string",
        "expose[].http_options.next_timeout: integer",
        "expose[].http_options.next_tries: integer",
        "expose[].http_options.read_timeout: integer",
        "expose[].http_options.send_timeout: integer",
        "expose[].ip: string",
        "expose[].port: integer uint16",
        "expose[].proto: string",
        "expose[].service: string",
        "image: string",
        "name: string",
        "params.permissions.read[]: string",
        "params.storage[].mount: string",
        "params.storage[].name: string",
        "params.storage[].readOnly: boolean",
        "resources.cpu.attributes[].key: string",
        "resources.cpu.attributes[].value: string",
        "resources.cpu.units: number uint32",
        "resources.gpu.attributes[].key: string",
        "resources.gpu.attributes[].value: string",
        "resources.gpu.units: number uint32",
        "resources.id: number uint32",
        "resources.memory.attributes[].key: string",
        "resources.memory.attributes[].value: string",
        "resources.memory.size: string uint64",
        "resources.storage[].attributes[].key: string",
        "resources.storage[].attributes[].value: string",
        "resources.storage[].name: string",
        "resources.storage[].size: string uint64",
        "scheduler_params.resources.gpu.interface: string",
        "scheduler_params.resources.gpu.memory_size: string uint64",
        "scheduler_params.resources.gpu.model: string",
        "scheduler_params.resources.gpu.vendor: string",
        "scheduler_params.runtime_class: string",
    ];
    expected.extend(in_service.map(|place| format!("{service}.{place}")));
    // What this provider adds: API servers drop what a definition does not have, and live ones do
    // not have this yet.
    let added = [
        "buffer_size: integer",
        "buffering_disable: boolean",
        "buffers_number: integer",
        "buffers_size: integer",
        "busy_buffers_size: integer",
        "connect_timeout: integer",
    ];
    expected.extend(added.map(|place| format!("{service}.expose[].http_options.proxy.{place}")));
    expected.sort();
    assert_eq!(found, expected);

    let service = &spec["properties"]["group"]["properties"]["services"]["items"]["properties"];
    for nullable in ["params", "scheduler_params", "credentials"] {
        assert_eq!(service[nullable]["nullable"], true, "{nullable}");
    }
    for resource in ["cpu", "gpu", "memory"] {
        let attributes = &service["resources"]["properties"][resource]["properties"]["attributes"];
        assert_eq!(attributes["nullable"], true, "{resource}");
    }
}

#[test]
fn every_definition_keeps_its_objects_and_its_old_version() {
    for (definition, (plural, singular, kind, short)) in custom_resource_definitions().iter().zip([
        ("manifests", "manifest", "Manifest", "mani"),
        ("providerhosts", "providerhost", "ProviderHost", "ph"),
        ("providerleasedips", "providerleasedip", "ProviderLeasedIP", "plip"),
    ]) {
        assert_eq!(definition["metadata"]["name"], format!("{plural}.akash.network"));
        assert_eq!(definition["metadata"]["annotations"]["helm.sh/resource-policy"], "keep");
        let spec = &definition["spec"];
        let names =
            json!({"plural": plural, "singular": singular, "kind": kind, "shortNames": [short]});
        assert_eq!(spec["names"], names);
        assert_eq!(
            (&spec["group"], &spec["scope"]),
            (&json!("akash.network"), &json!("Namespaced"))
        );
        let versions: Vec<_> = spec["versions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|version| json!([version["name"], version["served"], version["storage"]]))
            .collect();
        assert_eq!(versions, [json!(["v2beta2", true, true]), json!(["v2beta1", false, false])]);
    }
}

#[test]
fn keys_that_are_not_known_are_kept() {
    let object = json!({
        "apiVersion": "akash.network/v2beta2",
        "kind": "Manifest",
        "metadata": {"name": "m"},
        "spec": {
            "new": 1,
            "lease_id": {"owner": "o", "dseq": "1", "gseq": 1, "oseq": 1, "provider": "p", "bseq": 2},
            "group": {"services": [{
                "name": "web",
                "resources": {
                    "id": 1,
                    "cpu": {"units": 1, "attributes": null, "arch": "arm64"},
                    "gpu": {"units": 0},
                    "memory": {"size": "1"},
                },
                "params": null,
                "scheduler_params": {"runtime_class": "", "attestation_disabled": true},
            }]},
        },
    });
    let manifest: Manifest = serde_json::from_value(object.clone()).unwrap();
    let mut expected = object;
    let service = &mut expected["spec"]["group"]["services"][0];
    service.as_object_mut().unwrap().remove("params");
    service["resources"]["cpu"].as_object_mut().unwrap().remove("attributes");
    assert_eq!(serde_json::to_value(manifest).unwrap(), expected);
}

#[test]
fn a_leased_ip_has_the_keys_of_live_clusters() {
    let address = ProviderLeasedIp::default();
    let spec = &serde_json::to_value(address).unwrap()["spec"];
    let keys: Vec<_> = spec.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected =
        ["lease_id", "service_name", "port", "external_port", "sharing_key", "protocol"];
    expected.sort_unstable();
    let mut keys = keys;
    keys.sort_unstable();
    assert_eq!(keys, expected);
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let lease = recorded_manifests()[0].lease().unwrap();
    let group = |change: &dyn Fn(&mut akash_sdl::manifest::Service)| {
        let mut group: Group = recorded_manifests()[0].spec.group().unwrap();
        change(&mut group.services[0]);
        ManifestSpec::new(&lease, &group, |_| None)
    };
    assert!(group(&|_| {}).is_ok());
    let missing = group(&|service| service.resources.gpu = None);
    assert!(matches!(missing, Err(WriteError::Missing { what: "GPU", .. })));
    let large = group(&|service| service.resources.cpu.as_mut().unwrap().units = 1 << 32);
    assert!(matches!(large, Err(WriteError::TooLarge { what: "CPU", .. })));
    let port = group(&|service| service.expose.as_mut().unwrap()[0].port = 65536);
    assert!(matches!(port, Err(WriteError::TooLarge { what: "port", .. })));
    let protocol = group(&|service| service.expose.as_mut().unwrap()[0].proto = "SCTP".into());
    assert!(matches!(protocol, Err(WriteError::Protocol { .. })));
}

#[test]
fn an_object_that_is_no_manifest_says_why() {
    let good = recorded_manifests().remove(0);
    let mut manifest = good.clone();
    manifest.spec.lease_id.owner = "akash1nobody".to_owned();
    assert!(matches!(manifest.lease(), Err(ReadError::Lease(_))));
    let mut manifest = good.clone();
    manifest.spec.group.services[0].resources.memory.size = "1Gi".to_owned();
    assert!(matches!(manifest.spec.group(), Err(ReadError::Bytes { what: "memory", .. })));
    for (proto, fits) in [("", true), ("tcp", true), ("Udp", true), ("icmp", false)] {
        let mut manifest = good.clone();
        manifest.spec.group.services[0].expose[0].proto = proto.to_owned();
        assert_eq!(manifest.spec.group().is_ok(), fits, "{proto:?}");
    }
}

#[test]
fn a_password_is_not_shown() {
    let shown = format!("{:?}", recorded_manifests());
    assert!(shown.contains("https://registry.example.com/v1"));
    assert!(!shown.contains("s3cret"));
}

#[test]
fn options_of_the_proxy_are_kept_and_zeros_are_not() {
    let manifest = recorded_manifests().remove(0);
    let (lease, mut group) = (manifest.lease().unwrap(), manifest.spec.group().unwrap());
    let proxy = akash_sdl::manifest::ProxyOptions {
        buffering_disable: Some(false),
        buffer_size: Some(16_384),
        connect_timeout: Some(5000),
        ..akash_sdl::manifest::ProxyOptions::default()
    };
    group.services[0].expose.as_mut().unwrap()[0].http_options.proxy = Some(proxy);
    let spec = ManifestSpec::new(&lease, &group, |_| None).unwrap();
    let kept = &serde_json::to_value(&spec).unwrap()["group"]["services"][0]["expose"][0];
    let wanted = json!({"buffer_size": 16_384, "connect_timeout": 5000});
    assert_eq!(kept["http_options"]["proxy"], wanted);
    let read = spec.group().unwrap().services[0].expose.as_ref().unwrap()[0].http_options.clone();
    let read = read.proxy.unwrap();
    assert_eq!(
        (read.buffering_disable, read.buffer_size, read.connect_timeout),
        (None, Some(16_384), Some(5000))
    );
    // Neither do manifests without it say anything.
    group.services[0].expose.as_mut().unwrap()[0].http_options.proxy = None;
    let spec = ManifestSpec::new(&lease, &group, |_| None).unwrap();
    let kept = &serde_json::to_value(&spec).unwrap()["group"]["services"][0]["expose"][0];
    assert_eq!(kept["http_options"].get("proxy"), None);
}
