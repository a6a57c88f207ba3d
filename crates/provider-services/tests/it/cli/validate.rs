//! `sdl validate`.

use crate::cli::support::{RECORDED_SDL, entries, repository, run, run_with, text};

#[test]
fn each_invalid_file_is_refused_with_path_and_line() {
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
    let files = entries("fixtures/sdl/input/invalid");
    assert_eq!(files.len(), expected.len());
    for (file, (case, path, line)) in files.iter().zip(expected) {
        assert_eq!(file.file_stem().unwrap(), case);
        let ran = run(&["sdl", "validate", text(file)]);
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{case}");
        let mut lines = ran.stdout.lines();
        assert!(
            lines.any(|head| head.starts_with(&format!("error: {path}: "))),
            "{case}: {}",
            ran.stdout
        );
        let place = lines.next().unwrap();
        assert!(place.contains(&format!("--> {}:{line}:", text(file))), "{case}: {place}");
        let source = std::fs::read_to_string(file).unwrap();
        let shown = format!("{line} | {}", source.lines().nth(line - 1).unwrap());
        assert!(lines.any(|candidate| candidate == shown), "{case}: {}", ran.stdout);
        assert!(lines.next().unwrap().contains('^'), "{case}: {}", ran.stdout);
        let last = ran.stdout.lines().last().unwrap();
        assert!(last.starts_with(&format!("{} is not a valid SDL: ", text(file))), "{last}");
    }
}

#[test]
fn the_report_on_an_invalid_file_reads_like_this() {
    let sdl = RECORDED_SDL
        .replace("port: 8080", "port: 80800  # too high")
        .replace("count: 1", "count: 0");
    let ran = run_with(&["sdl", "validate", "-"], &[], sdl.as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert_eq!(
        ran.stdout,
        "\
error: services.web.expose[0].port: port 80800 is out of range
 --> <stdin>:8:15
  |
8 |       - port: 80800  # too high
  |               ^^^^^
  = allowed: 1 to 65535

error: deployment.web.westcoast.count: count is 0, so nothing would run
  --> <stdin>:22:38
   |
22 |     westcoast: {profile: web, count: 0}
   |                                      ^

<stdin> is not a valid SDL: 2 problems
"
    );
}

#[test]
fn what_only_other_tools_mind_is_a_warning() {
    for file in entries("fixtures/sdl/input/schema-only-invalid") {
        let stdout = run(&["sdl", "validate", text(&file)]).quietly();
        assert!(stdout.starts_with("warning: "), "{stdout}");
        assert!(stdout.contains("other tools may refuse it"), "{stdout}");
        assert!(!stdout.contains("error"), "{stdout}");
        let last = stdout.lines().last().unwrap();
        assert!(last.starts_with(&format!("{} is valid (1 warning): ", text(&file))), "{last}");

        let report = run(&["sdl", "validate", "-o", "json", text(&file)]).quietly();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["valid"], true);
        assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_valid_file_gets_one_line() {
    let file = repository("fixtures/sdl/input/v2.0/simple/input.yaml");
    assert_eq!(
        run(&["sdl", "validate", text(&file)]).quietly(),
        format!(
            "{} is valid: 1 service, 1 group, 2 replicas, version \
             8f8bac7161953993f3288189e3e76093a51d33f9cdff1c8242eb9ab506981737\n",
            text(&file)
        )
    );
}

#[test]
fn json_has_every_part_of_a_problem() {
    let file = repository("fixtures/sdl/input/invalid/port-too-high.yaml");
    let ran = run(&["sdl", "validate", "--output", "json", text(&file)]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert_eq!(
        ran.stdout,
        r#"{
  "valid": false,
  "errors": [
    {
      "path": "services.web.expose[0].port",
      "line": 8,
      "column": 15,
      "message": "port 99999 is out of range",
      "allowed": "1 to 65535"
    }
  ],
  "warnings": []
}
"#
    );
}

#[test]
fn json_of_a_valid_file_has_the_version() {
    let ran = run_with(&["sdl", "validate", "-o", "json", "-"], &[], RECORDED_SDL.as_bytes());
    let report: serde_json::Value = serde_json::from_str(&ran.quietly()).unwrap();
    let version = run_with(&["sdl", "version", "-"], &[], RECORDED_SDL.as_bytes()).quietly();
    assert_eq!(
        report,
        serde_json::json!({"valid": true, "version": version.trim(), "errors": [], "warnings": []})
    );
}

#[test]
fn what_is_in_the_file_cannot_steer_the_terminal() {
    let sdl = RECORDED_SDL.replace("port: 8080", "port: \u{1b}[2J\u{202e}");
    let ran = run_with(&["sdl", "validate", "-"], &[], sdl.as_bytes());
    assert_eq!(ran.code, 1);
    assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{:?}", ran.stdout);
}
