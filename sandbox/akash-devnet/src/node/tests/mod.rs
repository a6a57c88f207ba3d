//! The node over a tiny state machine.

pub(crate) mod fake;
mod recorded;

use bytes::Bytes;

use self::fake::{Fake, tx};
use super::*;

const START: i64 = 1_700_000_000_000_000_000;
const SECOND: i64 = 1_000_000_000;

fn chain() -> Chain {
    Chain::new("test", 1, START)
}

fn node() -> Node<Fake> {
    Node::new(chain(), Fake::default())
}

fn send(node: &mut Node<Fake>, tx: Bytes) -> u32 {
    node.broadcast(tx).unwrap().result.code
}

#[test]
fn transactions_of_one_sender_wait_in_order_and_enter_one_block() {
    let mut node = node();
    for sequence in 0..3 {
        assert_eq!(send(&mut node, tx("a", sequence, 10)), 0);
    }
    assert_eq!(send(&mut node, tx("a", 9, 10)), 32, "not the next");
    let block = node.produce_block(START);
    assert_eq!(block.txs, [tx("a", 0, 10), tx("a", 1, 10), tx("a", 2, 10)]);
    assert!(block.results.iter().all(crate::state::TxResult::is_ok));
    assert!(node.mempool().is_empty());
}

#[test]
fn the_same_bytes_are_refused_until_they_fail_or_are_forgotten() {
    let mut node = node();
    assert_eq!(send(&mut node, tx("a", 0, 10)), 0);
    let again = node.broadcast(tx("a", 0, 10));
    assert_eq!(again.unwrap_err().to_string(), "tx already exists in cache");
    node.produce_block(START);
    assert_eq!(node.broadcast(tx("a", 0, 10)), Err(BroadcastError::InCache), "worked in a block");

    let failing = Bytes::from_static(b"a:1:10:fail");
    assert_eq!(send(&mut node, failing.clone()), 0);
    node.produce_block(START);
    assert_eq!(send(&mut node, failing), 32, "failed in a block, so it is looked at again");

    assert_eq!(send(&mut node, tx("a", 7, 10)), 32);
    assert_eq!(send(&mut node, tx("a", 7, 10)), 32, "refused, so it is looked at again");
}

#[test]
fn a_full_mempool_and_a_large_transaction_are_refused_with_cometbfts_texts() {
    let mut chain = chain();
    chain.mempool = MempoolLimits { max_txs: 1, max_bytes: 100, max_tx_bytes: 20, cache: 10 };
    let mut node = Node::new(chain, Fake::default());
    let large = node.broadcast(Bytes::from(vec![b'x'; 21])).unwrap_err();
    assert_eq!(large.to_string(), "Tx too large. Max size is 20, but got 21");
    assert_eq!(send(&mut node, tx("a", 0, 10)), 0);
    let full = node.broadcast(tx("b", 0, 10)).unwrap_err();
    let text = "mempool is full: number of txs 1 (max: 1), total txs bytes 6 (max: 100)";
    assert_eq!(full.to_string(), text);
    node.produce_block(START);
    assert_eq!(send(&mut node, tx("b", 0, 10)), 0, "room again");
}

#[test]
fn a_block_takes_what_fits_its_gas_and_leaves_the_rest_in_order() {
    let mut chain = chain();
    chain.block.max_gas = Some(100);
    let mut node = Node::new(chain, Fake::default());
    for (sender, gas) in [("a", 60), ("b", 40), ("c", 50), ("d", 1)] {
        assert_eq!(send(&mut node, tx(sender, 0, gas)), 0);
    }
    assert_eq!(send(&mut node, tx("e", 0, 101)), 41, "would never fit");
    assert_eq!(node.produce_block(START).txs, [tx("a", 0, 60), tx("b", 0, 40)]);
    assert_eq!(node.produce_block(START).txs, [tx("c", 0, 50), tx("d", 0, 1)]);
    assert!(node.produce_block(START).txs.is_empty());
}

#[test]
fn a_block_takes_what_fits_its_bytes() {
    let mut chain = chain();
    let one = tx("a", 0, 10).len() as u64 + 2;
    chain.block.max_bytes = 840 + 2 * one;
    let mut node = Node::new(chain, Fake::default());
    for sender in ["a", "b", "c"] {
        assert_eq!(send(&mut node, tx(sender, 0, 10)), 0);
    }
    let block = node.produce_block(START);
    assert_eq!(block.txs.len(), 2);
    assert!(block.size as u64 <= node.chain().block.max_bytes);
    assert_eq!(node.produce_block(START).txs.len(), 1);
}

#[test]
fn after_a_block_what_no_longer_passes_leaves_the_mempool() {
    let mut chain = chain();
    chain.block.max_gas = Some(100);
    let mut node = Node::new(chain, Fake::default());
    // The first fills the block; its twin with the same sequence cannot enter the mempool, so let
    // the block be made elsewhere: a replayed block uses up the sequence that waits here.
    assert_eq!(send(&mut node, tx("a", 0, 100)), 0);
    assert_eq!(send(&mut node, tx("a", 1, 100)), 0);
    let mut other = node.clone();
    let record = Record::of(&other.produce_block(START));
    let mut late = node.clone();
    late.replay(&record).unwrap();
    assert_eq!(late.mempool().len(), 2, "replay leaves the mempool alone");
    let block = late.produce_block(START);
    assert_eq!(block.results[0].code, 32, "was in the block before");
    assert_eq!(late.mempool().len(), 1);
    assert_eq!(late.produce_block(START).results[0].code, 0);
    assert!(late.mempool().is_empty());
}

#[test]
fn blocks_are_linked_and_time_only_goes_forward() {
    let mut node = node();
    let first = node.produce_block(START + 5 * SECOND);
    assert_eq!(first.header.time_unix_nanos, START, "the first block has the time of genesis");
    assert_eq!(first.last_commit, Commit::default());
    let second = node.produce_block(START - SECOND);
    assert_eq!(second.header.time_unix_nanos, START + 1_000_000);
    let third = node.produce_block(START + SECOND);
    assert_eq!(third.header.time_unix_nanos, START + SECOND);

    assert_eq!(second.header.last_block_id, Some(first.id));
    assert_eq!(second.header.app_hash, first.app_hash);
    assert_eq!(third.last_commit.block_id, Some(second.id));
    assert_eq!(third.last_commit.hash(), third.header.last_commit_hash);
    assert_eq!(third.header.hash(), third.id.hash);
    let vote = third.last_commit.vote.clone().unwrap();
    let bytes = sign_bytes("test", 2, &second.id, third.header.time_unix_nanos);
    let key =
        ed25519_dalek::VerifyingKey::from_bytes(&node.chain().validator.public_key()).unwrap();
    let signature = ed25519_dalek::Signature::from_slice(&vote.signature).unwrap();
    key.verify_strict(&bytes, &signature).unwrap();
}

#[test]
fn the_same_calls_give_the_same_blocks() {
    let run = || {
        let mut node = node();
        send(&mut node, tx("a", 0, 10));
        node.produce_block(START);
        send(&mut node, tx("b", 0, 10));
        node.produce_block(START + SECOND)
    };
    assert_eq!(run(), run());
}

#[test]
fn replay_rebuilds_every_block_and_notices_changed_rules() {
    let mut node = node();
    let mut records = Vec::new();
    for (sequence, time) in (0..5).zip(START..) {
        send(&mut node, tx("a", sequence, 10));
        records.push(Record::of(&node.produce_block(time)));
    }
    let mut again = self::node();
    for record in &records {
        again.replay(record).unwrap();
    }
    assert_eq!(again.history().latest_block(), node.history().latest_block());

    let mut again = self::node();
    let order = ReplayError::Order { expected: 1, found: 2 };
    assert_eq!(again.replay(&records[1]), Err(order));
    let changed = Record { app_hash: [0; 32], ..records[0].clone() };
    assert_eq!(again.replay(&changed), Err(ReplayError::Diverged { height: 1 }));
}

#[test]
fn history_finds_blocks_and_transactions() {
    let mut node = node();
    node.produce_block(START);
    send(&mut node, tx("a", 0, 10));
    send(&mut node, tx("b", 0, 10));
    let block = node.produce_block(START);
    let history = node.history();
    assert_eq!(history.block_by_hash(&block.id.hash), Some(&block));
    let place = TxPlace { height: 2, index: 1 };
    assert_eq!(history.tx(&block.tx_hashes[1]), Some((place, &block)));

    let search = |query: &str| history.search(&query.parse().unwrap());
    let hash = hex::encode_upper(block.tx_hashes[1]);
    assert_eq!(search(&format!("tx.hash='{hash}'")), [place]);
    assert_eq!(search(&format!("tx.hash='{hash}' AND tx.height=1")), []);
    assert_eq!(search("tx.hash='zz'"), []);
    assert_eq!(search("tx.height=2").len(), 2);
    assert_eq!(search("tx.height>2"), []);
    assert_eq!(search("message.sender='b'"), [place]);
    let blocks = |query: &str| history.search_blocks(&query.parse().unwrap());
    assert_eq!(blocks("begin.height=2"), [2]);
    assert_eq!(blocks("block.height<=2"), [1, 2]);
}

#[test]
fn heights_outside_the_chain_are_refused_with_cometbfts_texts() {
    let mut node = node();
    for _ in 0..3 {
        node.produce_block(START);
    }
    node.prune_below(2);
    let text = |height| node.history().height(Some(height)).unwrap_err().to_string();
    assert_eq!(text(0), "height must be greater than 0, but got 0");
    assert_eq!(text(4), "height 4 must be less than or equal to the current blockchain height 3");
    assert_eq!(text(1), "height 1 is not available, lowest height is 2");
    assert_eq!(node.history().height(None), Ok(3));
    assert_eq!(node.history().height_or_next(None), Ok(4));
    node.prune_below(100);
    assert_eq!(node.history().base(), 3, "the newest stays");
}

#[test]
fn a_history_that_lags_does_not_know_the_newest() {
    let mut node = node();
    send(&mut node, tx("a", 0, 10));
    node.produce_block(START);
    send(&mut node, tx("a", 1, 10));
    let newest = node.produce_block(START);
    let behind = node.history().behind(1);
    assert_eq!(behind.latest(), 1);
    assert_eq!(behind.block(2), None);
    assert_eq!(behind.tx(&newest.tx_hashes[0]), None);
    assert!(behind.state(2).is_none() && behind.state(1).is_some());
    assert_eq!(node.history().behind(9).latest(), 1, "never before the first");
}

#[test]
fn only_so_many_blocks_and_states_are_kept() {
    let mut chain = chain();
    (chain.retain_blocks, chain.retain_states) = (5, 2);
    let mut node = Node::new(chain, Fake::default());
    for sequence in 0..20 {
        send(&mut node, tx("a", sequence, 10));
        node.produce_block(START);
    }
    assert_eq!(node.history().base(), 15);
    assert_eq!(node.history().oldest_state(), 18);
    assert_eq!(node.history().search(&"tx.height>0".parse().unwrap()).len(), 6);
}
