//! `sdl version`: the hash that deployments carry on chain.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::cli::support::{entries, repository, run, run_with, text};

#[test]
fn hashes_are_those_of_the_reference() {
    let hashes = repository("fixtures/sdl/output-fixtures/version-hashes.json");
    let hashes: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(hashes).unwrap()).unwrap();
    let hashes = hashes.as_object().unwrap();
    assert!(!hashes.is_empty());
    for (case, expected) in hashes {
        let file = repository("fixtures/sdl/input").join(case).join("input.yaml");
        let printed = run(&["sdl", "version", text(&file)]).quietly();
        assert_eq!(printed, format!("{}\n", expected["version_sha256"].as_str().unwrap()));
    }
}

#[test]
fn hashes_are_those_of_the_typescript_sdk() {
    for folder in entries("fixtures/sdl/hash-vectors") {
        let input = std::fs::read(folder.join("input.yaml")).unwrap();
        let expected = std::fs::read_to_string(folder.join("version.hex")).unwrap();
        let printed = run_with(&["sdl", "version", "-"], &[], &input).quietly();
        assert_eq!(printed, format!("{}\n", expected.trim()));
    }
}

#[test]
fn base64_is_the_same_hash() {
    let file = repository("examples/hello.yaml");
    let hex = run(&["sdl", "version", text(&file)]).quietly();
    let base64 = run(&["sdl", "version", "--base64", text(&file)]).quietly();
    let bytes = STANDARD.decode(base64.strip_suffix('\n').unwrap()).unwrap();
    let back: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(format!("{back}\n"), hex);
}
