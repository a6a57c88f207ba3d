//! Flags from the environment.

use crate::cli::support::{RECORDED_SDL, Ran, repository, run_with, text};

fn manifest(args: &[&str], variables: &[(&str, &str)]) -> String {
    let args = [&["sdl-to-manifest", "-"], args].concat();
    run_with(&args, variables, RECORDED_SDL.as_bytes()).quietly()
}

fn is_yaml(text: &str) -> bool {
    text.starts_with("- name: westcoast\n")
}

#[test]
fn either_prefix_sets_a_flag() {
    assert!(!is_yaml(&manifest(&[], &[])));
    assert!(is_yaml(&manifest(&[], &[("AP_OUTPUT", "yaml")])));
    assert!(is_yaml(&manifest(&[], &[("AKASH_OUTPUT", "yaml")])));
}

#[test]
fn ap_wins_over_akash_unless_it_is_empty() {
    assert!(is_yaml(&manifest(&[], &[("AP_OUTPUT", "yaml"), ("AKASH_OUTPUT", "json")])));
    assert!(is_yaml(&manifest(&[], &[("AP_OUTPUT", ""), ("AKASH_OUTPUT", "yaml")])));
    assert!(!is_yaml(&manifest(&[], &[("AP_OUTPUT", ""), ("AKASH_OUTPUT", "")])));
}

#[test]
fn the_command_line_wins_over_both() {
    let variables = [("AP_OUTPUT", "yaml"), ("AKASH_OUTPUT", "yaml")];
    assert!(!is_yaml(&manifest(&["-o", "json"], &variables)));
    // What is not used is not looked at either.
    assert!(is_yaml(&manifest(&["-o", "yaml"], &[("AP_OUTPUT", "nonsense")])));
}

#[test]
fn switches_take_a_truth_value() {
    let version = |value| {
        let file = repository("examples/hello.yaml");
        run_with(&["sdl", "version", text(&file)], &[("AP_BASE64", value)], b"")
    };
    let (hex, base64) = (version("").quietly(), version("true").quietly());
    assert_eq!((hex.len(), base64.len()), (65, 45));
    assert_eq!(version("1").quietly(), base64);
    assert_eq!(version("false").quietly(), hex);
    assert_eq!(version("0").quietly(), hex);
    let stderr = version("perhaps").refused();
    assert!(stderr.starts_with("Error: invalid value 'perhaps' for '--base64'"), "{stderr}");
}

#[test]
fn a_refused_value_names_its_variable() {
    let variables = [("AKASH_OUTPUT", "xml")];
    let Ran { stderr, .. } = run_with(&["sdl-to-manifest", "-"], &variables, b"");
    let first = stderr.lines().next().unwrap();
    assert_eq!(first, "Error: invalid value 'xml' for '--output <FORMAT>' (from AKASH_OUTPUT)");
    // The value of the command line is nobody else's fault.
    let Ran { stderr, .. } = run_with(&["sdl-to-manifest", "-", "-o", "toml"], &variables, b"");
    assert!(!stderr.contains("AKASH_OUTPUT"), "{stderr}");
}

#[test]
fn arguments_without_a_flag_have_no_variable() {
    let file = repository("examples/hello.yaml");
    let variables = [("AP_PATH", text(&file)), ("AP_SDL", text(&file))];
    let stderr = run_with(&["sdl", "version"], &variables, b"").refused();
    assert!(stderr.starts_with("Error: the following required arguments"), "{stderr}");
}

#[test]
fn help_does_not_depend_on_the_environment() {
    let variables = [("AP_OUTPUT", "yaml"), ("AP_HELP", "true"), ("AP_VERSION", "true")];
    let args = ["sdl-to-manifest", "--help"];
    assert_eq!(run_with(&args, &variables, b"").quietly(), run_with(&args, &[], b"").quietly());
    assert!(is_yaml(&manifest(&[], &variables)));
}
