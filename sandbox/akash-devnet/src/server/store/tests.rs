//! Blocks survive whatever happens to the end of their file.

use crate::node::tests::fake::{Fake, tx};
use crate::node::{Chain, Node, Record};

use super::*;

const GENESIS_JSON: &str = r#"{"chain_id":"test"}"#;

fn node() -> Node<Fake> {
    Node::new(Chain::new("test", 1, 0), Fake::default())
}

fn open(home: &Path) -> (Store, Node<Fake>) {
    let mut node = node();
    let store = Store::open(home, GENESIS_JSON, &mut node, |_| {}).unwrap();
    (store, node)
}

fn grow(store: &mut Store, node: &mut Node<Fake>, blocks: u64) {
    for _ in 0..blocks {
        let sequence = node.history().latest();
        node.broadcast(tx("a", sequence, 10)).unwrap();
        store.append(&Record::of(&node.produce_block(0))).unwrap();
    }
}

#[test]
fn blocks_are_there_after_reopening_and_more_can_follow() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, mut before) = open(home.path());
    grow(&mut store, &mut before, 3);
    drop(store);
    let (mut store, mut node) = open(home.path());
    assert_eq!(node.history().latest_block(), before.history().latest_block());
    grow(&mut store, &mut node, 2);
    drop(store);
    assert_eq!(open(home.path()).1.history().latest(), 5);
}

#[test]
fn a_last_record_cut_anywhere_loses_that_block_only() {
    let home = tempfile::tempdir().unwrap();
    let (mut store, mut node) = open(home.path());
    grow(&mut store, &mut node, 2);
    let path = home.path().join(BLOCKS);
    let two = std::fs::read(&path).unwrap();
    grow(&mut store, &mut node, 1);
    drop(store);
    let three = std::fs::read(&path).unwrap();
    for length in two.len()..three.len() {
        std::fs::write(&path, &three[..length]).unwrap();
        let (mut store, mut node) = open(home.path());
        assert_eq!(node.history().latest(), 2, "cut at {length}");
        assert_eq!(std::fs::read(&path).unwrap(), two, "what was damaged is gone");
        grow(&mut store, &mut node, 1);
        drop(store);
        assert_eq!(open(home.path()).1.history().latest(), 3);
    }
    for index in two.len()..three.len() {
        let mut damaged = three.clone();
        damaged[index] ^= 0x40;
        std::fs::write(&path, &damaged).unwrap();
        assert_eq!(open(home.path()).1.history().latest(), 2, "changed at {index}");
    }
}

#[test]
fn a_file_whose_beginning_was_never_finished_starts_over() {
    for length in 0..MAGIC.len() {
        let home = tempfile::tempdir().unwrap();
        drop(open(home.path()));
        std::fs::write(home.path().join(BLOCKS), &MAGIC[..length]).unwrap();
        let (mut store, mut node) = open(home.path());
        grow(&mut store, &mut node, 1);
        drop(store);
        assert_eq!(open(home.path()).1.history().latest(), 1);
    }
}

#[test]
fn foreign_files_and_other_chains_are_left_alone() {
    let home = tempfile::tempdir().unwrap();
    drop(open(home.path()));
    let other = Store::open(home.path(), "{}", &mut node(), |_| {});
    assert!(matches!(other, Err(StoreError::OtherGenesis(_))));
    let path = home.path().join(BLOCKS);
    std::fs::write(&path, "something else altogether").unwrap();
    let foreign = Store::open(home.path(), GENESIS_JSON, &mut node(), |_| {});
    assert!(matches!(foreign, Err(StoreError::Foreign(_))));
    assert_eq!(std::fs::read(&path).unwrap(), b"something else altogether");
}
