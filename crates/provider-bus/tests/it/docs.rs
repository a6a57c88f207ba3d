//! What docs/bus.md says is what the program does.

use std::collections::BTreeMap;

use provider_bus::fact::{
    BalanceStatus, BidEngineStatus, Block, ClusterStatus, InventoryCluster, InventoryNodes,
    InventoryStatus, InventoryStorage, LeaseChange, ManifestStatus,
};
use provider_bus::{Event, EventKind, Fact, STREAM, STREAM_LENGTH, Topic, VERSION};
use serde_json::Value;

const GUIDE: &str = include_str!("../../../../docs/bus.md");

/// Examples by the heading they stand under.
fn examples() -> BTreeMap<&'static str, String> {
    let mut found = BTreeMap::new();
    let sections = GUIDE.split("\n### `").skip(1);
    for section in sections {
        let (name, rest) = section.split_once('`').unwrap();
        let example = rest.split("```json\n").nth(1).and_then(|rest| rest.split("```").next());
        let example = example.unwrap_or_else(|| panic!("{name} has no example")).to_owned();
        assert!(found.insert(name, example).is_none(), "{name} stands there twice");
    }
    found
}

#[test]
fn every_topic_has_an_example_that_parses_and_nothing_else_does() {
    let examples = examples();
    let mut names = Topic::ALL.map(Topic::name).to_vec();
    names.sort_unstable();
    assert_eq!(examples.keys().copied().collect::<Vec<_>>(), names);
    for topic in Topic::ALL {
        topic.check(&examples[topic.name()]).unwrap_or_else(|error| panic!("{topic:?}: {error:?}"));
    }
}

#[test]
fn examples_show_the_fields_that_are_written_and_no_others() {
    let examples = examples();
    same::<ClusterStatus>(&examples);
    same::<BidEngineStatus>(&examples);
    same::<ManifestStatus>(&examples);
    same::<InventoryStatus>(&examples);
    same::<BalanceStatus>(&examples);
    same::<InventoryCluster>(&examples);
    same::<InventoryNodes>(&examples);
    same::<InventoryStorage>(&examples);
    same::<Block>(&examples);
    same::<LeaseChange>(&examples);
}

fn same<F: Fact>(examples: &BTreeMap<&str, String>) {
    let message: Value = serde_json::from_str(&examples[F::TOPIC.name()]).unwrap();
    assert_eq!(message["version"], VERSION, "{:?}", F::TOPIC);
    let fact: F = serde_json::from_value(message["fact"].clone()).unwrap();
    assert_eq!(serde_json::to_value(&fact).unwrap(), message["fact"], "{:?}", F::TOPIC);
}

#[test]
fn the_events_are_documented_as_they_are_written() {
    let (_, guide) = GUIDE.split_once("\n## Events\n").unwrap();
    assert!(guide.contains(STREAM) && guide.contains(&format!("MAXLEN ~ {STREAM_LENGTH}")));
    let table = guide.lines().filter_map(|line| line.strip_prefix("| `"));
    let named: Vec<_> = table.filter_map(|line| line.split('`').next()).collect();
    let kinds: Vec<_> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
    assert!(named.ends_with(&kinds), "{named:?}");
    let example =
        guide.split("```json\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let event: Event = serde_json::from_str(example).unwrap();
    let written: Value = serde_json::from_str(example).unwrap();
    assert_eq!(serde_json::to_value(&event).unwrap(), written);
}
