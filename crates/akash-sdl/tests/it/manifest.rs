//! Manifests as a provider meets them: what is refused, in which words, and what is let pass.

use akash_sdl::manifest::{CrossError, DecodeError, ManifestErrorKind};
use akash_sdl::{Manifest, Sdl, Version};
use akash_types::GroupSpec;
use serde_json::{Value, json};

/// Two services: `api` talks to `web`, which is open to the world by name, port and address.
const SDL: &str = r#"
version: "2.0"
services:
  api:
    image: api:1
    env: [LEVEL=info]
    expose: [{port: 3000, to: [{service: web}]}]
  web:
    image: web:1
    expose:
      - {port: 80, accept: [a.example.com], to: [{global: true}]}
      - {port: 7000, to: [{global: true, ip: addr}]}
    params: {storage: {data: {mount: /data}}}
endpoints: {addr: {kind: ip}}
profiles:
  compute:
    api: {resources: {cpu: {units: 100m}, memory: {size: 128Mi}, storage: {size: 1Gi}}}
    web:
      resources:
        cpu: {units: 200m}
        memory: {size: 256Mi}
        gpu: {units: 1, attributes: {vendor: {nvidia: [{model: a100}]}}}
        storage: [{size: 1Gi}, {name: data, size: 2Gi, attributes: {persistent: true, class: beta2}}]
  placement:
    dc: {pricing: {api: {denom: uact, amount: 1}, web: {denom: uact, amount: 2}}}
deployment:
  api: {dc: {profile: api, count: 2}}
  web: {dc: {profile: web, count: 1}}
"#;

fn good() -> (Value, Vec<GroupSpec>) {
    let (groups, manifest) = Sdl::read(SDL).unwrap().into_parts();
    (serde_json::from_str(&manifest.to_json()).unwrap(), groups)
}

fn decoded(value: &Value) -> Manifest {
    Manifest::from_json(value.to_string().as_bytes()).unwrap().manifest
}

/// Changes one place of the good manifest.
fn changed(pointer: &str, to: Value) -> Manifest {
    let (mut value, _) = good();
    *value.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = to;
    decoded(&value)
}

#[test]
fn the_good_one_is_good() {
    let (value, groups) = good();
    decoded(&value).validate().unwrap();
    decoded(&value).validate_against(&groups).unwrap();
}

#[test]
fn what_makes_no_sense_is_refused_in_the_known_words() {
    use ManifestErrorKind::{Invalid, Resources};
    let api = |key: &str| format!("/0/services/0/{key}");
    let web = |key: &str| format!("/0/services/1/{key}");
    let (value, _) = good();
    let duplicate_group =
        json!([value[0], { "name": "dc", "services": [value[0]["services"][0]] }]);
    let swapped =
        json!([{ "name": "dc", "services": [value[0]["services"][1], value[0]["services"][0]] }]);
    let mut inner_only = value;
    inner_only[0]["services"].as_array_mut().unwrap().truncate(1);
    for (manifest, kind, text) in [
        (decoded(&json!([])), Invalid, "invalid manifest: manifest is empty"),
        (decoded(&json!(null)), Invalid, "invalid manifest: manifest is empty"),
        (
            changed("/0/services", json!([])),
            Invalid,
            "invalid manifest: group \"dc\" contains no services",
        ),
        (decoded(&swapped), Invalid, "invalid manifest: group \"dc\" services is not sorted"),
        (changed(&api("name"), json!("")), Invalid, "invalid manifest: service name is empty"),
        (
            changed(&api("name"), json!("a_b")),
            Invalid,
            "invalid manifest: service \"a_b\" name is invalid",
        ),
        (
            changed(&api("image"), json!("")),
            Invalid,
            "invalid manifest: service \"api\" has empty image name",
        ),
        (changed(&api("resources/id"), json!(0)), Resources, "resources ID must be > 0"),
        (changed(&api("resources/cpu"), json!(null)), Resources, "CPU must not be nil"),
        (changed(&api("resources/gpu"), json!(null)), Resources, "GPU must not be nil"),
        (changed(&api("resources/memory"), json!(null)), Resources, "memory must not be nil"),
        (changed(&api("resources/storage"), json!(null)), Resources, "storage must not be nil"),
        (changed(&api("resources/endpoints"), json!(null)), Resources, "endpoints must not be nil"),
        (
            changed(&api("env"), json!(["1X=y"])),
            Invalid,
            "invalid manifest: service \"api\" defines an env. var. with an invalid name \"1X\"",
        ),
        (
            changed(&web("expose/0/port"), json!(9999)),
            Invalid,
            "invalid manifest: service \"web\": expose is not sorted",
        ),
        (
            changed(&web("expose/0/port"), json!(0)),
            Invalid,
            "invalid manifest: service \"web\": port value must be 0 < value <= 65535 ",
        ),
        (
            changed(&web("expose/1/port"), json!(65536)),
            Invalid,
            "invalid manifest: service \"web\": port value must be 0 < value <= 65535 ",
        ),
        (
            changed(&web("expose/1/externalPort"), json!(65536)),
            Invalid,
            "invalid manifest: service \"web\": external port value must be <= 65535",
        ),
        (
            changed(&web("expose/1/proto"), json!("SCTP")),
            Invalid,
            "invalid manifest: service \"web\": protocol \"SCTP\" unknown",
        ),
        (
            changed(&web("expose/0/hosts"), json!(["No.Good"])),
            Invalid,
            "invalid manifest: service \"web\": has invalid hostname \"No.Good\"",
        ),
        (
            changed(&web("expose/1/hosts"), json!(["a.example.com"])),
            Invalid,
            "invalid manifest: service \"web\": hostname \"a.example.com\" is duplicated, this is not allowed",
        ),
        (decoded(&duplicate_group), Invalid, "invalid manifest: duplicate group \"dc\""),
        (decoded(&inner_only), Invalid, "invalid manifest: zero global services"),
    ] {
        let error = manifest.validate().expect_err(text);
        assert_eq!((error.kind, error.to_string().as_str()), (kind, text));
    }
}

#[test]
fn what_was_not_paid_for_is_refused_in_the_known_words() {
    let web = |key: &str| format!("/0/services/1/{key}");
    let prefix = "manifest cross-validation error: group \"dc\": ";
    let (value, groups) = good();
    for (manifest, text) in [
        (
            changed(&web("resources/id"), json!(9)),
            "service \"web\": not found deployment group resources with ID = 9",
        ),
        (
            changed(&web("count"), json!(2)),
            "service \"web\": over-utilized replicas (2) > group spec resources count (1)",
        ),
        (
            changed(&web("resources/cpu/units/val"), json!("201")),
            "service \"web\": CPU resources mismatch for ID 2",
        ),
        (
            changed(&web("resources/gpu/attributes"), json!([])),
            "service \"web\": GPU resources mismatch for ID 2",
        ),
        (
            changed(&web("resources/memory/size/val"), json!("1")),
            "service \"web\": Memory resources mismatch for ID 2",
        ),
        (
            changed(&web("resources/storage/1/name"), json!("other")),
            "service \"web\": Storage resources mismatch for ID 2",
        ),
        // Fewer volumes than were paid for, and more: both are a mismatch, neither is a crash.
        (
            changed(&web("resources/storage"), json!([])),
            "service \"web\": Storage resources mismatch for ID 2",
        ),
        (
            changed(
                &web("resources/storage"),
                json!([
                    value[0]["services"][1]["resources"]["storage"][0],
                    value[0]["services"][1]["resources"]["storage"][1],
                    value[0]["services"][1]["resources"]["storage"][1],
                ]),
            ),
            "service \"web\": Storage resources mismatch for ID 2",
        ),
        (
            changed(&web("expose/1/externalPort"), json!(80)),
            "service \"web\": resource ID 2: over-utilized HTTP endpoints",
        ),
        (
            changed(&web("expose/0/externalPort"), json!(81)),
            "service \"web\": resource ID 2: over-utilized PORT endpoints",
        ),
        (
            changed(&web("expose/0/ip"), json!("addr")),
            "service \"web\": resource ID 2: over-utilized IP endpoints",
        ),
        (
            changed(&web("expose/0/global"), json!(false)),
            "resources ID (2): under-utilized (1) HTTP endpoints",
        ),
        (
            changed(&web("expose/1/ip"), json!("")),
            "resources ID (2): under-utilized (1) IP endpoints",
        ),
        (changed(&web("count"), json!(0)), "resources ID (2): under-utilized (1) resources"),
    ] {
        let error = manifest.validate_against(&groups).expect_err(text);
        assert_eq!(error.to_string(), format!("{prefix}{text}"));
    }
    let count = decoded(&value).validate_against(&[]).unwrap_err();
    assert_eq!(count.to_string(), "invalid manifest: group count mismatch (1 != 0)");
    let mut other = groups.clone();
    other[0].name = "elsewhere".into();
    let unknown = decoded(&value).validate_against(&other).unwrap_err();
    assert_eq!(unknown.to_string(), "invalid manifest: unknown deployment group ('dc')");
    let structure =
        changed("/0/services/0/image", json!("")).validate_against(&groups).unwrap_err();
    assert!(matches!(structure, CrossError::Manifest(_)), "{structure}");
}

#[test]
fn json_is_read_as_leniently_as_go_does() {
    let (value, _) = good();
    let manifest = decoded(&value);
    // Whatever the case of keys, whatever follows the value, whatever is unknown.
    let loud = value
        .to_string()
        .replace("\"image\"", "\"IMAGE\"")
        .replace("\"externalPort\"", "\"ExternalPort\"");
    let read = Manifest::from_json(format!(" {loud} trailing").as_bytes()).unwrap();
    assert_eq!(read.manifest, manifest);
    assert!(read.unknown_keys.is_empty());
    let mut extended = value;
    extended[0]["services"][0]["schedule"] = json!("tonight");
    extended[0]["note"] = json!(1);
    let read = Manifest::from_json(extended.to_string().as_bytes()).unwrap();
    assert_eq!(read.manifest.version(), manifest.version());
    assert_eq!(read.unknown_keys, ["[0].note", "[0].services[0].schedule"]);
}

#[test]
fn what_console_sends_hashes_to_what_it_put_on_chain_whatever_keys_it_has() {
    let (mut value, _) = good();
    value[0]["services"][0]["expose"][0]["httpOptions"]["zz"] = json!({"b": "<&>", "a": [1, null]});
    // Keys sorted, `< > &` escaped: what Console hashes and sends.
    let sorted = value.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
    let sorted = sorted.replace('&', "\\u0026");
    let on_chain = Version::of_received(sorted.as_bytes())[0];
    let decoded = Manifest::from_json(sorted.as_bytes()).unwrap();
    assert_ne!(decoded.manifest.version(), on_chain);
    assert!(decoded.ignores_only_http_options());
    let [ignored] = &*decoded.ignored_options else { panic!("{decoded:?}") };
    let (group, service) = (&value[0]["name"], &value[0]["services"][0]["name"]);
    assert_eq!((&json!(ignored.group), &json!(ignored.service)), (group, service));
    assert_eq!(ignored.option, "expose[0].httpOptions.zz");
    // The same JSON, laid out otherwise.
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    assert!(Version::of_received(pretty.as_bytes()).contains(&on_chain));

    // A key that only looks as if it were one of those options is not one.
    value[0]["services"][0]["x.expose[0].httpOptions.y"] = json!(1);
    let decoded = Manifest::from_json(value.to_string().as_bytes()).unwrap();
    assert!(!decoded.ignores_only_http_options());
}

#[test]
fn empty_and_absent_lists_have_different_hashes() {
    let absent = changed("/0/services/0/command", json!(null)).version();
    let empty = changed("/0/services/0/command", json!([])).version();
    assert_ne!(absent, empty);
    // Where the encoding leaves both out, they are the same.
    let absent = changed("/0/services/0/expose/0/httpOptions/nextCases", json!(null)).version();
    let empty = changed("/0/services/0/expose/0/httpOptions/nextCases", json!([])).version();
    assert_eq!(absent, empty);
}

#[test]
fn bad_json_is_named() {
    for (bytes, text) in [
        ("", "EOF"),
        ("  ", "EOF"),
        ("[{", "unexpected EOF"),
        ("{}", "json: cannot unmarshal object into Go value of type v2beta3.Manifest"),
        ("\"x\"", "json: cannot unmarshal string into Go value of type v2beta3.Manifest"),
        ("[1]", "[0]: expected an object, found number 1"),
        (
            r#"[{"services":[{"count":-1}]}]"#,
            "[0].services[0].count: expected a whole number from 0 to 4294967295, found number -1",
        ),
        (
            r#"[{"services":[{"resources":{"cpu":{"units":{"val":5}}}}]}]"#,
            "[0].services[0].resources.cpu.units.val: expected a whole number in quotes, found number 5",
        ),
        (
            r#"[{"services":[{"credentials":{"password":["hunter2"]}}]}]"#,
            "[0].services[0].credentials.password: expected text, found array",
        ),
    ] {
        assert_eq!(Manifest::from_json(bytes.as_bytes()).unwrap_err().to_string(), text, "{bytes}");
    }
    assert!(matches!(Manifest::from_json(b"hello"), Err(DecodeError::Syntax(_))));
    let deep = "[".repeat(100_000);
    assert!(Manifest::from_json(deep.as_bytes()).is_err());
}

#[test]
fn passwords_stay_out_of_debug_output() {
    let manifest = changed(
        "/0/services/0/credentials",
        json!({ "host": "r.example.com", "username": "me", "password": "hunter2", "email": "" }),
    );
    assert!(!format!("{manifest:?}").contains("hunter2"));
}
