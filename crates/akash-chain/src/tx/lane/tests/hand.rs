//! A lane whose every answer is given by hand.

use std::time::Duration;

use akash_types::{IntentId, Outcome};

use super::super::{
    AccountRead, Broadcasted, Draft, Effect, Input, Lane, LaneBlock, LaneConfig, OurTx, Simulated,
    TxOutcome, Verified,
};
use super::build::{create_bid, intent};
use super::chain::refusal;
use crate::tx::Refusal;

/// A lane whose every answer is given by hand.
pub(super) struct Hand {
    pub(super) lane: Lane,
    pub(super) now: Duration,
}

impl Hand {
    /// Ready at sequence 5 and height 100.
    pub(super) fn ready(config: LaneConfig) -> Self {
        let mut hand = Self { lane: Lane::new(config), now: Duration::ZERO };
        assert_eq!(hand.feed(Input::Tick), [Effect::ReadAccount]);
        hand.read(5, 5);
        hand
    }

    pub(super) fn feed(&mut self, input: Input) -> Vec<Effect> {
        self.lane.handle(self.now, input)
    }

    pub(super) fn read(&mut self, committed: u64, pending: u64) -> Vec<Effect> {
        self.feed(Input::AccountRead(AccountRead { committed, pending, height: 100 }))
    }

    /// Submits bids and simulates them; what is broadcast.
    pub(super) fn send(&mut self, ids: std::ops::Range<u64>) -> Vec<Draft> {
        let intents = ids.map(|id| intent(id, create_bid(id), 100)).collect();
        let effects = self.feed(Input::Submit(intents));
        self.simulate(effects)
    }

    pub(super) fn simulate(&mut self, effects: Vec<Effect>) -> Vec<Draft> {
        let mut sent = Vec::new();
        for effect in effects {
            let Effect::Simulate(draft) = effect else { continue };
            let input = Input::Simulated { tx: draft.tx, answer: Simulated::Gas(100_000) };
            let effects = self.feed(input);
            sent.extend(effects.into_iter().filter_map(|effect| match effect {
                Effect::Broadcast(draft) => Some(draft),
                _ => None,
            }));
        }
        for draft in &sent {
            let signature = draft.tx.0.to_le_bytes().to_vec();
            self.feed(Input::Signed { tx: draft.tx, signature });
        }
        sent
    }

    pub(super) fn answer(
        &mut self,
        draft: &Draft,
        attempt: u32,
        answer: Broadcasted,
    ) -> Vec<Effect> {
        self.feed(Input::BroadcastAnswered { tx: draft.tx, attempt, answer })
    }

    pub(super) fn refuse(&mut self, draft: &Draft, code: u32, log: &str) -> Vec<Effect> {
        let refusal = refusal("sdk", code, log.to_owned());
        self.answer(draft, 1, Broadcasted::Refused(refusal))
    }

    pub(super) fn block(&mut self, height: u64, txs: Vec<OurTx>) -> Vec<Effect> {
        self.feed(Input::Block(LaneBlock { height, unix_time: 0, txs }))
    }
}

pub(super) fn included(draft: &Draft, refusal: Option<Refusal>) -> OurTx {
    let signature = draft.tx.0.to_le_bytes().to_vec();
    let result = TxOutcome { refusal, gas_used: 100_000 };
    OurTx { sequence: draft.sequence, signature, result }
}

pub(super) fn simulated(effects: &[Effect]) -> Vec<Vec<u64>> {
    let drafts = effects.iter().filter_map(|effect| match effect {
        Effect::Simulate(draft) => Some(draft.intents.iter().map(|id| id.0).collect()),
        _ => None,
    });
    drafts.collect()
}

pub(super) fn ended(effects: &[Effect]) -> Vec<(u64, &Outcome)> {
    let ended = effects.iter().filter_map(|effect| match effect {
        Effect::Done { intent, outcome } => Some((intent.0, outcome)),
        _ => None,
    });
    ended.collect()
}

pub(super) fn verified(hand: &mut Hand, id: u64, answer: Verified) -> Vec<Effect> {
    hand.feed(Input::Verified { intent: IntentId(id), answer })
}
