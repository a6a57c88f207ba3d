//! What holds for every SDL, not only for those somebody recorded.

use akash_sdl::{Manifest, Sdl, groups_to_json};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// An SDL as a value, with everything in it that the grammar knows.
fn any_sdl() -> impl Strategy<Value = Value> {
    let services = prop::collection::btree_map("[a-z]{1,3}[a-z0-9]", any_service(), 1..5);
    (prop::bool::ANY, services, 1u32..4, 1usize..3).prop_map(
        |(newer, services, count, placements)| {
            let mut compute = Map::new();
            let mut pricing = Map::new();
            let mut deployment = Map::new();
            let mut all = Map::new();
            let mut used_ip = false;
            for (index, (name, (mut service, resources, mounts))) in
                services.into_iter().enumerate()
            {
                // A port of an address can be used once, and in one placement only.
                let mut has_ip = false;
                for expose in service["expose"].as_array_mut().unwrap() {
                    if expose.to_string().contains("\"ip\":\"addr\"") {
                        expose["as"] = json!(2000 + index);
                        has_ip = true;
                    }
                }
                used_ip |= has_ip;
                // Two services with one profile share a unit in the newer grammar.
                let profile = format!("p{}", if newer { index / 2 } else { index });
                let shared =
                    compute.entry(profile.clone()).or_insert(json!({ "resources": resources }));
                let has_data = shared["resources"]["storage"].is_array();
                if has_data || mounts {
                    service["params"] = json!({ "storage": {} });
                }
                if has_data {
                    service["params"]["storage"]["data"] =
                        json!({ "mount": "/data", "readOnly": mounts });
                }
                pricing.insert(
                    profile.clone(),
                    json!({ "denom": "uact", "amount": format!("{}.25", index + 1) }),
                );
                let mut places = Map::new();
                for place in 0..if has_ip { 1 } else { placements } {
                    places.insert(
                        format!("place{place}"),
                        json!({ "profile": profile, "count": count }),
                    );
                }
                deployment.insert(name.clone(), Value::Object(places));
                all.insert(name, service);
            }
            let placement = |number: usize| {
                json!({
                    "attributes": { "region": "x", "tier": number.to_string() },
                    "signedBy": { "anyOf": ["one", "two"], "allOf": [] },
                    "pricing": pricing,
                })
            };
            let places: Map<String, Value> = (0..placements)
                .map(|number| (format!("place{number}"), placement(number)))
                .collect();
            let mut document = json!({
                "version": if newer { "2.1" } else { "2.0" },
                "services": all,
                "profiles": { "compute": compute, "placement": places },
                "deployment": deployment,
            });
            if used_ip {
                document["endpoints"] = json!({ "addr": { "kind": "ip" } });
            }
            document
        },
    )
}

fn any_service() -> impl Strategy<Value = (Value, Value, bool)> {
    let texts = || prop::option::of(prop::collection::vec("[ -~]{0,12}", 0..3));
    let expose =
        (1u32..65536, prop::option::of(1u32..65536), 0usize..4, prop::option::of("udp|TCP|tcp"));
    (
        (
            "[a-z]{1,8}(:[0-9.]{1,4})?",
            texts(),
            texts(),
            prop::collection::vec("[A-Z_]{1,5}=[ -~]{0,8}", 0..3),
        ),
        prop::collection::vec(expose, 1..4),
        any_resources(),
        prop::bool::ANY,
    )
        .prop_map(|((image, command, args, env), exposes, resources, mounts)| {
            let mut ports = Vec::new();
            for (index, (port, external, kind, proto)) in exposes.into_iter().enumerate() {
                let to = match kind {
                    0 => json!([{ "global": true }]),
                    1 => json!([{ "service": "other" }, { "global": true }]),
                    2 if index == 0 => json!([{ "global": true, "ip": "addr" }]),
                    _ => json!([{ "service": "another", "global": true }]),
                };
                let mut expose = json!({ "port": port, "to": to });
                if let Some(external) = external {
                    expose["as"] = json!(external);
                }
                if let Some(proto) = proto {
                    expose["proto"] = json!(proto);
                }
                ports.push(expose);
            }
            let mut service = json!({ "image": image, "expose": ports, "env": env });
            if let Some(command) = command {
                service["command"] = json!(command);
            }
            if let Some(args) = args {
                service["args"] = json!(args);
            }
            (service, resources, mounts)
        })
}

fn any_resources() -> impl Strategy<Value = Value> {
    (10u32..5000, 1u64..4096, 5u64..4096, prop::option::of(1u64..64), 0u32..3).prop_map(
        |(cpu, memory, disk, data, gpus)| {
            let storage = match data {
                Some(data) => json!([
                    { "size": format!("{disk}Mi") },
                    { "name": "data", "size": format!("{data}Gi"), "attributes": { "persistent": "true", "class": "beta2" } },
                ]),
                None => json!({ "size": format!("{disk}Mi") }),
            };
            let mut resources = json!({
                "cpu": { "units": format!("{cpu}m") },
                "memory": { "size": format!("{memory}Mi") },
                "storage": storage,
            });
            if gpus > 0 {
                resources["gpu"] = json!({
                    "units": gpus,
                    "attributes": { "vendor": { "nvidia": [{ "model": "a100", "ram": "80Gi" }, { "model": "h100" }] } },
                });
            }
            resources
        },
    )
}

/// Writes JSON, which is YAML too, with the keys of every mapping turned by `turn` places.
fn flow(value: &Value, turn: usize, out: &mut String) {
    match value {
        Value::Object(map) => {
            out.push('{');
            for (index, (key, value)) in
                map.iter().cycle().skip(turn % map.len().max(1)).take(map.len()).enumerate()
            {
                if index > 0 {
                    out.push_str(", ");
                }
                out.push_str(&format!("{}: ", Value::from(key.as_str())));
                flow(value, turn, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                flow(item, turn, out);
            }
            out.push(']');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Writes block style, as people do.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                out.push_str(&format!("\n{}{key}:", " ".repeat(indent)));
                block(value, indent + 2, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                out.push_str(&format!("\n{}-", " ".repeat(indent)));
                match item {
                    Value::Object(map) if !map.is_empty() => {
                        let mut inner = String::new();
                        block(item, indent + 2, &mut inner);
                        out.push(' ');
                        out.push_str(inner.trim_start());
                    }
                    other => block(other, indent + 2, out),
                }
            }
        }
        other => out.push_str(&format!(" {other}")),
    }
}

fn flow_text(value: &Value, turn: usize) -> String {
    let mut out = String::new();
    flow(value, turn, &mut out);
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("AKASH_TEST_FULL").is_some() { 20_000 } else { 400 }))]

    #[test]
    fn neither_style_nor_order_of_keys_changes_anything(document in any_sdl(), turn in 1usize..7) {
        let mut text = String::new();
        block(&document, 0, &mut text);
        let parsed = Sdl::read(&text).map_err(|errors| TestCaseError::fail(format!("{errors}\n{text}")));
        // Random services need not have anything global; then both are refused alike.
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(_) if !document.to_string().contains("\"global\":true") => return Ok(()),
            Err(error) => return Err(error),
        };
        for other in [flow_text(&document, 0), flow_text(&document, turn)] {
            let other = Sdl::read(&other).map_err(|errors| TestCaseError::fail(errors.to_string()))?;
            prop_assert_eq!(other.manifest(), parsed.manifest());
            prop_assert_eq!(other.groups(), parsed.groups());
            prop_assert_eq!(other.version(), parsed.version());
        }
    }

    #[test]
    fn manifests_survive_every_form(document in any_sdl()) {
        let Ok(parsed) = Sdl::read(&flow_text(&document, 0)) else { return Ok(()) };
        let manifest = parsed.manifest();
        let decoded = Manifest::from_json(manifest.to_json().as_bytes()).unwrap();
        prop_assert_eq!(&decoded.manifest, manifest);
        prop_assert!(decoded.unknown_keys.is_empty());
        let canonical = Manifest::from_json(&manifest.to_canonical_json()).unwrap().manifest;
        prop_assert_eq!(canonical.version(), manifest.version());
        let pretty = Manifest::from_json(manifest.to_json_pretty().as_bytes()).unwrap().manifest;
        prop_assert_eq!(&pretty, manifest);
        // Sorting by another program's rules gives the same bytes: serde_json sorts keys too.
        let sorted: Value = serde_json::from_str(&manifest.to_json()).unwrap();
        let escaped = sorted.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
        prop_assert_eq!(escaped, String::from_utf8(manifest.to_canonical_json()).unwrap());
        // Empty lists and none are one on this wire, and commands are the only place where an
        // SDL can have either.
        let through = Manifest::from_proto(manifest.clone().into_proto()).unwrap();
        prop_assert_eq!(through.into_proto(), manifest.clone().into_proto());
        parsed.manifest().validate_against(parsed.groups()).unwrap();
        let groups: Value = serde_json::from_str(&groups_to_json(parsed.groups())).unwrap();
        prop_assert_eq!(groups.as_array().unwrap().len(), parsed.groups().len());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Sdl::read_bytes(&bytes);
        let _ = Manifest::from_json(&bytes);
    }

    #[test]
    fn no_damage_makes_it_panic(document in any_sdl(), at in any::<prop::sample::Index>(), with in "\\PC{0,3}") {
        let mut text = String::new();
        block(&document, 0, &mut text);
        let at = at.index(text.len());
        text.replace_range(at..(at + 2).min(text.len()), &with);
        match Sdl::read(&text) {
            Ok(parsed) => { parsed.manifest().validate_against(parsed.groups()).unwrap(); }
            Err(errors) => for problem in errors.problems() {
                prop_assert!(problem.place.line as usize <= text.lines().count() + 1, "{problem}");
            },
        }
    }
}
