//! `sdl-to-manifest`, to the byte as the Go program printed it.

use crate::cli::support::{RECORDED_SDL, repository, run, run_with, text};

/// What a recording has between two of its headings.
fn recorded(file: &str) -> String {
    let recording = std::fs::read_to_string(repository("fixtures/gateway/cli").join(file)).unwrap();
    let (_, rest) = recording.split_once("--- stdout\n").unwrap();
    let (stdout, stderr) = rest.split_once("--- stderr\n").unwrap();
    assert_eq!(stderr, "");
    stdout.to_owned()
}

#[test]
fn json_is_the_default_and_as_recorded() {
    let wanted = recorded("sdl-to-manifest-json.txt");
    for args in [&["sdl-to-manifest", "-"][..], &["sdl-to-manifest", "-", "-o", "json"]] {
        assert_eq!(run_with(args, &[], RECORDED_SDL.as_bytes()).quietly(), wanted);
    }
}

#[test]
fn yaml_is_as_recorded() {
    let wanted = recorded("sdl-to-manifest-yaml.txt");
    for args in [
        &["sdl-to-manifest", "-", "-o", "yaml"][..],
        &["sdl-to-manifest", "--output=yaml", "-"],
        &["sdl-to-manifest", "-oyaml", "-"],
    ] {
        assert_eq!(run_with(args, &[], RECORDED_SDL.as_bytes()).quietly(), wanted);
    }
}

#[test]
fn an_invalid_sdl_shows_its_problems_and_prints_nothing() {
    let file = repository("fixtures/sdl/input/invalid/ram-persistent-true.yaml");
    for args in [&["sdl-to-manifest"][..], &["sdl", "groups"], &["sdl", "version"]] {
        let stderr = run(&[args, &[text(&file)]].concat()).refused();
        assert!(stderr.contains("ram-persistent-true.yaml:24:22\n"), "{stderr}");
        assert!(stderr.contains("24 |               class: ram\n"), "{stderr}");
        let last = stderr.lines().last().unwrap();
        assert_eq!(last, format!("Error: {} is not a valid SDL: 2 problems", text(&file)));
    }
}

#[test]
fn another_format_is_refused_with_those_there_are() {
    let stderr = run_with(&["sdl-to-manifest", "-", "-o", "xml"], &[], b"").refused();
    assert!(stderr.starts_with("Error: invalid value 'xml' for '--output"), "{stderr}");
    assert!(stderr.contains("json, yaml"), "{stderr}");
}
