use crate::cli::support::command;

/// What charts and guides install; made by `provider-services crd > deploy/kubernetes/crds.yaml`.
const INSTALLED: &str = include_str!("../../../../../deploy/kubernetes/crds.yaml");

#[test]
fn the_definitions_that_are_shipped_are_the_programs() {
    let output = command(&["crd"], &[]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), INSTALLED);
}
