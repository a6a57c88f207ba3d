//! Drives a lane over the model chain: answers are late, lost, doubled and out of order.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use akash_types::{Action, Class, Intent, IntentId, Outcome, Wanted};

use super::super::{
    AccountRead, Broadcasted, Draft, Effect, Input, Lane, LaneBlock, LaneConfig, LookedUp,
    Simulated, TxRef, Verified,
};
use super::chain::{Chain, ModelTx};
use crate::tx::SimulationRefusal;

pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }

    /// An index into something of this length.
    fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(u64::try_from(length).unwrap())).unwrap()
    }

    /// True this many times of a hundred.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A question on its way to the node.
enum Question {
    Account,
    Simulate(Draft),
    LookUp(TxRef),
    Verify(IntentId, Wanted),
}

pub(super) struct Driver {
    pub(super) lane: Lane,
    pub(super) chain: Chain,
    pub(super) dice: Dice,
    /// How much goes wrong, in percent.
    pub(super) trouble: u64,
    pub(super) now: Duration,
    pub(super) done: BTreeMap<IntentId, Outcome>,
    pub(super) forgotten: Vec<IntentId>,
    /// Forgotten before a restart: nobody hears of them again.
    abandoned: Vec<IntentId>,
    generation: u64,
    questions: Vec<Question>,
    broadcasts: VecDeque<(TxRef, u32)>,
    answers: Vec<Input>,
    blocks: VecDeque<LaneBlock>,
    kept: BTreeMap<TxRef, ModelTx>,
    /// Bytes of earlier lives that are still on their way to the node.
    late: Vec<ModelTx>,
    wake: Option<Duration>,
    /// Class and gas of what is under way.
    shares: BTreeMap<TxRef, (Class, u64)>,
    foreign: u64,
}

impl Driver {
    pub(super) fn new(config: LaneConfig, seed: u64, trouble: u64) -> Self {
        Self {
            lane: Lane::new(config),
            chain: Chain::default(),
            dice: Dice::new(seed),
            trouble,
            now: Duration::ZERO,
            done: BTreeMap::new(),
            forgotten: Vec::new(),
            abandoned: Vec::new(),
            generation: 0,
            questions: Vec::new(),
            broadcasts: VecDeque::new(),
            answers: Vec::new(),
            blocks: VecDeque::new(),
            kept: BTreeMap::new(),
            late: Vec::new(),
            wake: None,
            shares: BTreeMap::new(),
            foreign: 0,
        }
    }

    pub(super) fn submit(&mut self, intents: Vec<Intent>) {
        for intent in &intents {
            self.chain.intents.insert(intent.id, intent.clone());
        }
        self.feed(Input::Submit(intents));
    }

    pub(super) fn feed(&mut self, input: Input) {
        for effect in self.lane.handle(self.now, input) {
            self.take(effect);
        }
    }

    fn take(&mut self, effect: Effect) {
        match effect {
            Effect::ReadAccount => self.questions.push(Question::Account),
            Effect::Simulate(draft) => self.questions.push(Question::Simulate(draft)),
            Effect::LookUp { tx } => self.questions.push(Question::LookUp(tx)),
            Effect::Verify { intent, wanted } => {
                self.questions.push(Question::Verify(intent, wanted));
            }
            Effect::Broadcast(draft) => self.sign(draft),
            Effect::Rebroadcast { tx, attempt } => self.broadcasts.push_back((tx, attempt)),
            Effect::Drop { tx } => {
                self.kept.remove(&tx);
                self.shares.remove(&tx);
            }
            Effect::WakeAt(at) => self.wake = Some(at),
            Effect::Done { intent, outcome } => {
                let before = self.done.insert(intent, outcome.clone());
                assert_eq!(before, None, "intent {intent} ended twice, now as {outcome:?}");
            }
        }
    }

    fn sign(&mut self, draft: Draft) {
        assert_eq!(draft.intents.len(), draft.messages.len());
        let signature = format!("{}/{}", self.generation, draft.tx).into_bytes();
        let other = self.kept.values().find(|kept| kept.sequence == draft.sequence);
        assert!(other.is_none(), "sequence {} is signed twice", draft.sequence);
        let tx = ModelTx {
            sequence: draft.sequence,
            signature: signature.clone(),
            timeout_height: draft.timeout_height,
            intents: draft.intents.clone(),
        };
        let class = self.chain.intents[&draft.intents[0]].class;
        self.shares.insert(draft.tx, (class, draft.fee.gas_limit));
        self.check_shares();
        self.kept.insert(draft.tx, tx);
        self.broadcasts.push_back((draft.tx, 1));
        self.feed(Input::Signed { tx: draft.tx, signature });
    }

    /// What is under way fits a block, and of it bids fit four fifths, unless it is one alone.
    fn check_shares(&self) {
        let most = self.lane.config().block_gas;
        let gas = |which: &dyn Fn(Class) -> bool| -> (usize, u64) {
            let shares = self.shares.values().filter(|(class, _)| which(*class));
            (shares.clone().count(), shares.map(|(_, gas)| gas).sum())
        };
        let (count, all) = gas(&|_| true);
        assert!(count == 1 || all <= most, "{count} transactions ask for {all}");
        let (count, bids) = gas(&|class| class == Class::Bid);
        assert!(count <= 1 || bids <= most / 5 * 4, "{count} with bids ask for {bids}");
    }

    pub(super) fn step(&mut self) {
        self.now += Duration::from_millis(self.dice.below(120));
        if self.wake.is_some_and(|wake| wake <= self.now) {
            self.wake = None;
            self.feed(Input::Tick);
        }
        if !self.late.is_empty() && self.dice.percent(4) {
            let index = self.dice.index(self.late.len());
            // Whoever could hear the answer is gone.
            let _ = self.chain.check(self.late.swap_remove(index));
        }
        match self.dice.below(10) {
            0 | 1 => self.ask_one(),
            2 | 3 => self.broadcast_one(),
            4..=6 => self.answer_one(),
            7 => self.follow_one(),
            _ if self.dice.percent(30) => self.make_block(),
            _ => {}
        }
        if self.trouble > 0 && self.dice.percent(self.trouble) {
            self.mischief();
        }
    }

    fn unlucky(&mut self) -> bool {
        self.trouble > 0 && self.dice.percent(self.trouble * 3)
    }

    fn ask_one(&mut self) {
        if self.questions.is_empty() {
            return;
        }
        let index = self.dice.index(self.questions.len());
        let question = self.questions.swap_remove(index);
        let unlucky = self.unlucky();
        let (chain, height) = (&self.chain, self.chain.height);
        let input = match question {
            Question::Account if unlucky => Input::AccountUnread { reason: "silence".to_owned() },
            Question::Account => Input::AccountRead(AccountRead {
                committed: chain.committed,
                pending: chain.pending(),
                height,
            }),
            Question::Simulate(draft) => {
                let answer = match chain.simulate(draft.sequence, &draft.intents) {
                    _ if unlucky => Simulated::Unavailable,
                    Ok(()) => Simulated::Gas(45_000 + 80_000 * draft.intents.len() as u64),
                    Err(refusal) => Simulated::Refused(SimulationRefusal {
                        message_index: refusal.message_index(),
                        sequence_mismatch: refusal.sequence_mismatch(),
                        gas_used: None,
                        text: refusal.log,
                        height: Some(height),
                    }),
                };
                Input::Simulated { tx: draft.tx, answer }
            }
            Question::LookUp(tx) => {
                let found = self.kept.get(&tx).and_then(|tx| chain.included.get(&tx.signature));
                let answer = match found {
                    Some((height, result)) if !unlucky => {
                        LookedUp::Found { height: *height, result: result.clone() }
                    }
                    // Nodes need not keep an index.
                    _ if self.dice.percent(50) => LookedUp::Absent,
                    _ => LookedUp::Unavailable,
                };
                Input::LookedUp { tx, answer }
            }
            Question::Verify(intent, wanted) => {
                let lag = if unlucky { self.dice.below(4) } else { 0 };
                let height = height.saturating_sub(lag);
                let answer = match self.chain.holds(&wanted, height) {
                    _ if lag == 3 => Verified::Unavailable,
                    true => Verified::Holds { height },
                    false => Verified::Open { height },
                };
                Input::Verified { intent, answer }
            }
        };
        self.answers.push(input);
    }

    fn broadcast_one(&mut self) {
        let Some((tx, attempt)) = self.broadcasts.pop_front() else { return };
        let Some(kept) = self.kept.get(&tx).cloned() else { return };
        let arrives = !(self.trouble > 0 && self.dice.percent(self.trouble));
        let answer = match arrives.then(|| self.chain.check(kept)) {
            None => Broadcasted::Unknown,
            Some(_) if self.unlucky() => Broadcasted::Unknown,
            Some(Ok(())) => Broadcasted::Accepted,
            Some(Err(refusal)) => Broadcasted::Refused(refusal),
        };
        self.answers.push(Input::BroadcastAnswered { tx, attempt, answer });
    }

    /// Any answer may be next, and may come twice.
    fn answer_one(&mut self) {
        if self.answers.is_empty() {
            return;
        }
        let index = self.dice.index(self.answers.len());
        let answer = self.answers.swap_remove(index);
        if self.unlucky() {
            self.answers.push(answer.clone());
        }
        self.feed(answer);
    }

    fn follow_one(&mut self) {
        if let Some(block) = self.blocks.pop_front() {
            if self.unlucky() {
                self.feed(Input::Block(block.clone()));
            }
            self.feed(Input::Block(block));
        }
    }

    fn make_block(&mut self) {
        self.foreign += 1;
        let number = self.foreign;
        let foreign = self.trouble > 0 && self.dice.percent(self.trouble);
        let first = foreign.then(|| format!("elsewhere {number}").into_bytes());
        let most = if self.unlucky() { self.dice.index(4) } else { usize::MAX };
        let block = self.chain.block(first, most);
        self.blocks.push_back(block);
    }

    fn mischief(&mut self) {
        match self.dice.below(6) {
            0 => {
                self.foreign += 1;
                self.chain.foreign(self.foreign);
            }
            1 => {
                let index = self.dice.index(5);
                self.chain.lose(index);
            }
            2 => self.chain.mempool.clear(),
            3 => {
                // The follower gives up on blocks.
                self.blocks.clear();
                let height = self.chain.height;
                self.feed(Input::Resynced { height });
            }
            4 => {
                let open = self.chain.intents.values().find(|intent| {
                    intent.class == Class::Bid
                        && !self.done.contains_key(&intent.id)
                        && !self.forgotten.contains(&intent.id)
                        && !self.abandoned.contains(&intent.id)
                });
                let Some(intent) = open else { return };
                let (id, action) = (intent.id, intent.action.clone());
                if let Action::CreateBid(offer) = action {
                    self.chain.closed_orders.insert(offer.id.dseq());
                }
                if self.dice.percent(50) {
                    self.forgotten.push(id);
                    self.feed(Input::Forget(id));
                }
            }
            _ => {}
        }
    }

    /// The lane dies and starts anew; whoever wanted something wants it still.
    pub(super) fn restart(&mut self) {
        let config = self.lane.config().clone();
        self.lane = Lane::new(config);
        self.generation += 1;
        self.questions.clear();
        let sent = self.broadcasts.drain(..).filter_map(|(tx, _)| self.kept.get(&tx));
        self.late.extend(sent.cloned());
        self.answers.clear();
        self.kept.clear();
        self.shares.clear();
        self.wake = None;
        self.feed(Input::Tick);
        let is_wanted = |intent: &&Intent| {
            !self.done.contains_key(&intent.id) && !self.forgotten.contains(&intent.id)
        };
        let wanted = self.chain.intents.values().filter(is_wanted).cloned().collect();
        self.abandoned.append(&mut self.forgotten);
        self.feed(Input::Submit(wanted));
    }

    fn open(&self) -> Vec<IntentId> {
        let ended = |id: &&IntentId| !self.done.contains_key(id) && !self.abandoned.contains(id);
        self.chain.intents.keys().filter(ended).copied().collect()
    }

    /// Everything works from here on; until every intent has ended.
    pub(super) fn finish(&mut self, steps: usize) {
        self.trouble = 0;
        for _ in 0..steps {
            if self.open().is_empty() {
                return;
            }
            self.step();
        }
        let open = self.open();
        panic!("no end for {open:?}: {:#?}\n{:?}", self.lane.status(), self.lane);
    }
}
