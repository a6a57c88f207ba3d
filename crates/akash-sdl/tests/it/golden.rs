//! What the Go SDK and a running provider made of SDLs, against what we make of them.

use std::fs;
use std::path::{Path, PathBuf};

use akash_sdl::{Manifest, Sdl, groups_to_json};
use serde_json::Value;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The entries of a folder, sorted; a folder without any is a mistake in the test.
fn entries(folder: impl AsRef<Path>) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder.as_ref()).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    assert!(!entries.is_empty(), "{} is empty", folder.as_ref().display());
    entries
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn groups_manifests_and_hashes_of_the_reference_sdk() {
    let sdl = fixtures().join("sdl");
    let hashes = json(&read(sdl.join("output-fixtures/version-hashes.json")));
    for grammar in ["v2.0", "v2.1"] {
        for folder in entries(sdl.join("input").join(grammar)) {
            let case = format!("{grammar}/{}", name(&folder));
            let parsed = Sdl::read(&read(folder.join("input.yaml")))
                .unwrap_or_else(|error| panic!("{case}: {error}"));
            let expected = sdl.join("output-fixtures").join(&case);
            assert_eq!(
                json(&groups_to_json(parsed.groups())),
                json(&read(expected.join("group-specs.json"))),
                "{case}"
            );
            // Key order included: both sides in the order of the Go structs.
            assert_eq!(
                parsed.manifest().to_json_pretty(),
                read(expected.join("manifest.json")).trim_end(),
                "{case}"
            );
            let canonical = parsed.manifest().to_canonical_json();
            assert_eq!(Value::from(canonical.len()), hashes[&case]["canonical_len"], "{case}");
            assert_eq!(
                Value::from(parsed.version().to_string()),
                hashes[&case]["version_sha256"],
                "{case}"
            );
            assert!(parsed.warnings().is_empty(), "{case}: {:?}", parsed.warnings());
        }
    }
}

#[test]
fn canonical_bytes_and_hashes_of_the_typescript_sdk() {
    for folder in entries(fixtures().join("sdl/hash-vectors")) {
        let parsed = Sdl::read(&read(folder.join("input.yaml"))).unwrap();
        assert_eq!(
            String::from_utf8(parsed.manifest().to_canonical_json()).unwrap(),
            read(folder.join("manifest.canonical.json")),
        );
        assert_eq!(parsed.version().to_string(), read(folder.join("version.hex")).trim());
    }
}

/// Manifests that a Go provider accepted because the hash on chain was theirs.
#[test]
fn manifests_and_hashes_of_recorded_leases() {
    let kubernetes = fixtures().join("kubernetes");
    let mut seen = 0;
    for case in [
        "01-basic",
        "02-two-services",
        "02-two-services/update",
        "04-nodeports",
        "05-storage",
        "06-gpu",
        "07-credentials",
        "09-permissions",
        "flags-B/03-hostnames-b",
        "gateway-api/01-basic",
    ] {
        let folder = kubernetes.join(case);
        let parsed = Sdl::read(&read(folder.join("sdl.yaml")))
            .unwrap_or_else(|error| panic!("{case}: {error}"));
        let sent = read(folder.join("manifest.json"));
        assert_eq!(json(&parsed.manifest().to_json()), json(&sent), "{case}");
        let decoded = Manifest::from_json(sent.as_bytes()).unwrap();
        assert_eq!(&decoded.manifest, parsed.manifest(), "{case}");
        assert!(decoded.unknown_keys.is_empty(), "{case}: {:?}", decoded.unknown_keys);
        let hash = if case == "02-two-services/update" {
            json(&read(folder.join("MsgUpdateDeployment.json")))["hash"].clone()
        } else {
            json(&read(folder.join("lease.json")))["manifest_version_b64"].clone()
        };
        // Two recordings have the manifest but not the hash.
        if !matches!(case, "flags-B/03-hostnames-b" | "gateway-api/01-basic") {
            assert_eq!(Value::from(base64(parsed.version().as_bytes())), hash, "{case}");
        }
        parsed.manifest().validate_against(parsed.groups()).unwrap();
        seen += 1;
    }
    assert_eq!(seen, 10);
}

/// Enough for a test; the program itself uses a crate.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bytes
        .chunks(3)
        .flat_map(|chunk| {
            let mut word = [0; 3];
            word[..chunk.len()].copy_from_slice(chunk);
            let word = u32::from_be_bytes([0, word[0], word[1], word[2]]);
            (0..4).map(move |place| {
                if place > chunk.len() {
                    '='
                } else {
                    char::from(ALPHABET[((word >> (18 - 6 * place)) & 63) as usize])
                }
            })
        })
        .collect()
}

/// What `sdl-to-manifest` of the Go program printed.
#[test]
fn printed_forms_of_the_go_command() {
    let text = r#"
version: "2.0"
services:
  web:
    image: localhost/busybox:bed
    command: [sh, -c, 'mkdir -p /tmp/www; echo hi > /tmp/www/index.html; echo started; exec httpd -f -v -p 8080 -h /tmp/www']
    expose:
      - port: 8080
        as: 80
        to:
          - global: true
profiles:
  compute:
    web:
      resources: {cpu: {units: 0.05}, memory: {size: 16Mi}, storage: {size: 64Mi}}
  placement:
    westcoast:
      pricing:
        web: {denom: uact, amount: 1000}
deployment:
  web:
    westcoast: {profile: web, count: 1}
"#;
    let parsed = Sdl::read(text).unwrap();
    let stdout = |file: &str| -> String {
        let recorded = read(fixtures().join("gateway/cli").join(file));
        let (_, rest) = recorded.split_once("--- stdout\n").unwrap();
        let (stdout, _) = rest.split_once("--- stderr").unwrap();
        stdout.to_owned()
    };
    assert_eq!(parsed.manifest().to_json_pretty() + "\n", stdout("sdl-to-manifest-json.txt"));
    assert_eq!(parsed.manifest().to_yaml() + "\n", stdout("sdl-to-manifest-yaml.txt"));
}

#[test]
fn invalid_inputs_are_refused_at_the_right_place() {
    let expected = [
        ("count-zero", "deployment.web.akash.count", 32),
        ("empty-image", "services.web.image", 6),
        ("invalid-endpoint-name", "endpoints.Invalid-Name", 5),
        ("ip-without-global", "services.web.expose[0].to[0]", 14),
        ("missing-image", "services.web.image", 5),
        ("missing-pricing", "deployment.web.akash.profile", 29),
        ("negative-cpu", "profiles.compute.web.resources.cpu.units", 16),
        ("port-too-high", "services.web.expose[0].port", 8),
        ("ram-persistent-true", "profiles.compute.web.resources.storage[0].attributes.class", 24),
        ("v2.1-reclamation-bad-window", "reclamation.min_window", 36),
    ];
    let files = entries(fixtures().join("sdl/input/invalid"));
    assert_eq!(files.len(), expected.len());
    for (file, (case, path, line)) in files.iter().zip(expected) {
        assert_eq!(name(file), format!("{case}.yaml"));
        let errors = Sdl::read(&read(file)).expect_err(case);
        let found = errors
            .problems()
            .iter()
            .any(|problem| (problem.path.as_str(), problem.place.line) == (path, line));
        assert!(found, "{case}: {errors}");
    }
}

#[test]
fn what_only_the_schema_minds_is_accepted_with_a_warning() {
    for file in entries(fixtures().join("sdl/input/schema-only-invalid")) {
        let parsed =
            Sdl::read(&read(&file)).unwrap_or_else(|error| panic!("{}: {error}", name(&file)));
        assert_eq!(parsed.warnings().len(), 1, "{}: {:?}", name(&file), parsed.warnings());
    }
}

#[test]
fn further_inputs() {
    let refused = [
        ("deployment-svc-mismatch", "no service profile named"),
        ("storageClass2", "absolute path"),
        ("storageClass4", "already in use by volume"),
        ("simple-reclamation-invalid", "invalid reclamation min_window"),
        ("simple-reclamation-zero", "must be > 0"),
    ];
    for file in entries(fixtures().join("sdl/inputs-only")) {
        let case = name(&file).replace(".yaml", "");
        let parsed = Sdl::read(&read(&file));
        match refused.iter().find(|(name, _)| *name == case) {
            Some((_, part)) => {
                let errors = parsed.expect_err(&case);
                assert!(errors.to_string().contains(part), "{case}: {errors}");
            }
            None => {
                let parsed = parsed.unwrap_or_else(|error| panic!("{case}: {error}"));
                parsed.manifest().validate_against(parsed.groups()).unwrap();
                if case == "simple-reclamation" {
                    let day = std::time::Duration::from_secs(24 * 60 * 60);
                    assert_eq!(parsed.reclamation_min_window(), Some(day));
                }
            }
        }
    }
}
