//! Who goes first, how much of a block, and what keeps apart.

use std::time::Duration;

use akash_types::{Class, IntentId, Outcome};

use super::super::{
    AccountRead, Broadcasted, Draft, Effect, GasSetting, Input, Lane, LaneBlock, LaneConfig, OurTx,
    Simulated, TxOutcome,
};
use super::build::{close_bid, config, create_bid, intent, transfer, withdraw};

/// A lane on a node where everything works, and no block comes unless told.
pub(super) struct Bench {
    pub(super) lane: Lane,
    pub(super) now: Duration,
    pub(super) sent: Vec<Draft>,
    pub(super) done: Vec<(IntentId, Outcome)>,
    /// Gas that simulation says of a message.
    pub(super) gas: u64,
    pub(super) height: u64,
}

impl Bench {
    pub(super) fn new(config: LaneConfig) -> Self {
        let mut bench = Self {
            lane: Lane::new(config),
            now: Duration::ZERO,
            sent: Vec::new(),
            done: Vec::new(),
            gas: 80_000,
            height: 100,
        };
        bench.feed(Input::Tick);
        bench
    }

    pub(super) fn feed(&mut self, input: Input) -> Vec<Effect> {
        let mut inputs = vec![input];
        let mut others = Vec::new();
        while !inputs.is_empty() {
            let effects = self.lane.handle(self.now, inputs.remove(0));
            for effect in effects {
                match effect {
                    Effect::ReadAccount => inputs.push(Input::AccountRead(AccountRead {
                        committed: 0,
                        pending: u64::try_from(self.sent.len()).unwrap(),
                        height: self.height,
                    })),
                    Effect::Simulate(draft) => {
                        let messages = u64::try_from(draft.messages.len()).unwrap();
                        let answer = Simulated::Gas(45_000 + self.gas * messages);
                        inputs.push(Input::Simulated { tx: draft.tx, answer });
                    }
                    Effect::Broadcast(draft) => {
                        let signature = draft.sequence.to_le_bytes().to_vec();
                        let (tx, attempt, answer) = (draft.tx, 1, Broadcasted::Accepted);
                        inputs.push(Input::Signed { tx, signature });
                        inputs.push(Input::BroadcastAnswered { tx, attempt, answer });
                        self.sent.push(draft);
                    }
                    Effect::Done { intent, outcome } => self.done.push((intent, outcome)),
                    other => others.push(other),
                }
            }
        }
        others
    }

    pub(super) fn submit(&mut self, intents: Vec<akash_types::Intent>) {
        self.feed(Input::Submit(intents));
    }

    /// A block with everything that was sent from `first` on, all of it successful.
    pub(super) fn block(&mut self, first: usize) {
        self.height += 1;
        let txs = self.sent.iter().skip(first).map(|draft| OurTx {
            sequence: draft.sequence,
            signature: draft.sequence.to_le_bytes().to_vec(),
            result: TxOutcome { refusal: None, gas_used: 1_000_000 },
        });
        let block = LaneBlock { height: self.height, unix_time: 0, txs: txs.collect() };
        self.feed(Input::Block(block));
    }

    fn ids(&self, from: usize) -> Vec<u64> {
        self.sent.iter().skip(from).flat_map(|draft| &draft.intents).map(|id| id.0).collect()
    }
}

fn bids(ids: std::ops::Range<u64>, height: u64) -> Vec<akash_types::Intent> {
    ids.map(|id| intent(id, create_bid(id), height)).collect()
}

#[test]
fn a_hundred_bids_go_at_once_in_ten_transactions_with_consecutive_sequences() {
    let mut bench = Bench::new(config());
    bench.submit(bids(1..101, 100));
    let sequences: Vec<u64> = bench.sent.iter().map(|draft| draft.sequence).collect();
    assert_eq!(sequences, (0..10).collect::<Vec<_>>());
    assert!(bench.sent.iter().all(|draft| draft.messages.len() == 10));
    assert!(bench.sent.iter().all(|draft| draft.timeout_height == 110));
    let gas = (45_000 + 800_000) * 130 / 100;
    assert!(bench.sent.iter().all(|draft| draft.fee.gas_limit == gas));
    assert!(bench.done.is_empty(), "nothing is done until a block says so");
}

#[test]
fn bids_never_take_the_last_fifth_of_a_block_and_others_find_it_free() {
    let mut bench = Bench::new(config());
    bench.submit(bids(1..2_001, 100));
    let gas: u64 = bench.sent.iter().map(|draft| draft.fee.gas_limit).sum();
    let most = 48_000_000;
    assert!(gas <= most && gas > most - 2_000_000, "{gas}");
    let before = bench.sent.len();
    bench.submit((3_000..3_300).map(|id| intent(id, withdraw(id, 1), 100)).collect());
    let others: u64 = bench.sent.iter().skip(before).map(|draft| draft.fee.gas_limit).sum();
    assert!(others > 10_000_000 && gas + others <= 60_000_000, "{others}");
    let sent = bench.sent.len();
    bench.block(0);
    let gas: u64 = bench.sent.iter().skip(sent).map(|draft| draft.fee.gas_limit).sum();
    assert!(gas <= 60_000_000, "the next block is filled alike");
    let rest = bench.ids(sent).iter().filter(|id| **id >= 3_000).count();
    assert!(rest > 0, "those that wait go beside bids");
}

#[test]
fn limits_hold_by_real_gas_and_not_by_what_was_expected() {
    let mut bench = Bench::new(config());
    bench.gas = 400_000;
    bench.submit(bids(1..1_001, 100));
    let gas: u64 = bench.sent.iter().map(|draft| draft.fee.gas_limit).sum();
    assert!(gas <= 48_000_000, "{gas}");
}

#[test]
fn what_has_waited_five_blocks_goes_before_all_bids() {
    // A fifth is room for one transfer.
    let mut bench = Bench::new(LaneConfig { block_gas: 1_400_000, ..config() });
    let transfers = (1_000..1_012).map(|id| intent(id, transfer(id), 100)).collect();
    bench.submit(bids(1..2, 100));
    bench.submit(transfers);
    bench.submit(bids(2..200, 100));
    let mut before = 0;
    let mut transfers = Vec::new();
    for _ in 0..12 {
        let sent = bench.sent.len();
        bench.block(before);
        before = sent;
        let ids = bench.ids(sent);
        transfers.push(ids.iter().filter(|id| **id >= 1_000).count());
        if bench.height == 105 {
            assert!(ids.iter().all(|id| *id >= 1_000), "bids wait for once: {ids:?}");
        }
    }
    assert!(transfers[..4].iter().all(|count| *count <= 2), "{transfers:?}");
    let all = bench.ids(0).iter().filter(|id| **id >= 1_000).count();
    assert_eq!(all, 12);
}

#[test]
fn withdrawals_of_one_deployment_never_share_a_block_and_a_close_follows_a_withdrawal() {
    let mut bench = Bench::new(config());
    let all = vec![
        intent(1, withdraw(7, 1), 100),
        intent(2, withdraw(7, 2), 100),
        intent(3, withdraw(8, 1), 100),
    ];
    bench.submit(all);
    assert_eq!(bench.ids(0), [1, 3]);
    // Its sequence is higher than that of the withdrawal.
    bench.submit(vec![intent(4, close_bid(8), 100)]);
    assert_eq!(bench.ids(1), Vec::<u64>::new(), "one subject at a time");
    bench.block(0);
    assert_eq!(bench.ids(1), [4, 2]);
    bench.submit(vec![intent(5, withdraw(8, 2), 101)]);
    assert_eq!(bench.ids(3), Vec::<u64>::new(), "the close settles the account");
    bench.block(1);
    assert_eq!(bench.ids(3), [5]);
}

#[test]
fn intents_about_one_bid_go_in_the_order_they_came() {
    let mut bench = Bench::new(config());
    bench.submit(vec![intent(2, create_bid(7), 100), intent(1, close_bid(7), 100)]);
    assert_eq!(bench.ids(0), [2]);
    bench.block(0);
    assert_eq!(bench.ids(0), [2, 1]);
    bench.block(1);
    let executed: Vec<_> = bench.done.iter().map(|(id, outcome)| (id.0, outcome.holds())).collect();
    assert_eq!(executed, [(2, true), (1, true)]);
}

#[test]
fn what_was_forgotten_or_is_late_is_dropped_unsent() {
    let mut bench = Bench::new(LaneConfig { block_gas: 1_400_000, ..config() });
    bench.submit(bids(1..11, 100));
    let waiting = bids(11..14, 100);
    bench.submit(vec![waiting[0].clone(), waiting[1].clone().until(101), waiting[2].clone()]);
    bench.feed(Input::Forget(IntentId(11)));
    bench.feed(Input::Forget(IntentId(1)));
    assert_eq!(bench.done, [(IntentId(11), Outcome::Forgotten)]);
    bench.block(0);
    let ended = |id| bench.done.iter().find(|(ended, _)| *ended == IntentId(id));
    assert_eq!(ended(12).map(|(_, outcome)| outcome), Some(&Outcome::Expired));
    let fate = ended(1).map(|(_, outcome)| outcome);
    assert_eq!(fate, Some(&Outcome::Executed { height: 101 }), "it was sent already");
    assert_eq!(bench.ids(1), [13]);
}

#[test]
fn fixed_gas_is_taken_as_it_is_and_not_simulated() {
    let mut bench = Bench::new(LaneConfig { gas: GasSetting::Fixed(777_777), ..config() });
    bench.submit(bids(1..21, 100));
    let limits: Vec<u64> = bench.sent.iter().map(|draft| draft.fee.gas_limit).collect();
    assert_eq!(limits, [777_777, 777_777]);
}

#[test]
fn an_intent_that_makes_no_message_ends_at_once() {
    let mut bench = Bench::new(config());
    let stranger = "akash16emlsfgm325de4hwqgu9wszg8fvcm0yw0wk84r".parse().unwrap();
    bench.lane = Lane::new(LaneConfig::new(stranger, config().fee));
    bench.feed(Input::Tick);
    bench.submit(bids(1..2, 100));
    assert!(matches!(bench.done.as_slice(), [(_, Outcome::Invalid { .. })]), "{:?}", bench.done);
}

#[test]
fn the_status_counts_what_waits_by_class() {
    let mut bench = Bench::new(LaneConfig { block_gas: 1_400_000, ..config() });
    bench.submit(bids(1..31, 100));
    let status = bench.lane.status();
    assert_eq!(status.queued.first(), Some(&(Class::Bid, 20)));
    assert_eq!((status.txs_in_flight, status.messages_in_flight), (1, 10));
    assert!(!bench.lane.is_idle());
}
