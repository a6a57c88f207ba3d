//! The task that owns the key: it does what the [`Lane`] says and tells it what came of it.
//!
//! Questions go out side by side, broadcasts one after the other. No choices are made here.

mod ask;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use akash_types::{Coin, Intent, IntentId, Outcome};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::ask::{Heard, Source};
use super::super::{Refusal, SignedTx, Signer, TxPlan, Unsigned};
use super::{Broadcasted, Draft, Effect, Input, Lane, LaneBlock, LaneConfig, LaneStatus, TxRef};
use crate::query::{Node, Query, Transport};

/// Inputs that may wait; who sends more waits too.
const INBOX: usize = 1024;
/// Questions that are out at once.
const QUESTIONS: usize = 16;

/// How an intent ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentEnd {
    /// Which.
    pub intent: IntentId,
    /// How.
    pub outcome: Outcome,
    /// Its share of the fee of the transaction it was in; absent if none was paid for it.
    pub fee: Option<Coin>,
}

/// A lane with its key and its node. Runs until every handle is gone.
pub struct LaneTask<S, T> {
    lane: Lane,
    signer: S,
    chain_id: String,
    source: Arc<Source<T>>,
    account_number: u64,
    kept: BTreeMap<TxRef, SignedTx>,
    inbox: mpsc::Receiver<Input>,
    heard: (mpsc::UnboundedSender<Heard>, mpsc::UnboundedReceiver<Heard>),
    outcomes: mpsc::UnboundedSender<IntentEnd>,
    /// What each intent's share of its newest transaction is.
    shares: BTreeMap<IntentId, Coin>,
    status: watch::Sender<LaneStatus>,
    /// Ends with the task.
    workers: JoinSet<()>,
    broadcasts: Option<mpsc::UnboundedSender<(TxRef, u32, SignedTx)>>,
    room: Arc<Semaphore>,
    start: Instant,
    wake: Option<Duration>,
}

impl<S, T> std::fmt::Debug for LaneTask<S, T> {
    /// Shows the lane, never the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaneTask").field("lane", &self.lane).finish_non_exhaustive()
    }
}

impl<S: Signer, T: Transport + 'static> LaneTask<S, T> {
    /// A lane for `signer`, who must be the account of `config`, on one node. Also who holds it,
    /// and where intents end.
    pub fn new(
        config: LaneConfig,
        signer: S,
        chain_id: String,
        query: Query<T>,
        node: Node,
    ) -> (Self, LaneHandle, mpsc::UnboundedReceiver<IntentEnd>) {
        let probe = ask::probe(&signer, &chain_id, &config);
        let source =
            Source { query, node, chain_id: chain_id.clone(), config: config.clone(), probe };
        let lane = Lane::new(config);
        let (inputs, inbox) = mpsc::channel(INBOX);
        let (outcomes, ended) = mpsc::unbounded_channel();
        let (status, watched) = watch::channel(lane.status());
        let task = Self {
            lane,
            signer,
            chain_id,
            source: Arc::new(source),
            account_number: 0,
            kept: BTreeMap::new(),
            inbox,
            heard: mpsc::unbounded_channel(),
            outcomes,
            shares: BTreeMap::new(),
            status,
            workers: JoinSet::new(),
            broadcasts: None,
            room: Arc::new(Semaphore::new(QUESTIONS)),
            start: Instant::now(),
            wake: None,
        };
        (task, LaneHandle::new(inputs, watched), ended)
    }

    /// Works until every handle is gone. What was broadcast may still come into a block.
    pub async fn run(mut self) {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.broadcasts = Some(sender);
        let (source, heard) = (Arc::clone(&self.source), self.heard.0.clone());
        self.workers.spawn(ask::broadcast_in_order(source, receiver, heard));
        self.feed(Input::Tick);
        loop {
            let wake = self.wake.map(|at| self.start + at);
            tokio::select! {
                input = self.inbox.recv() => match input {
                    Some(input) => self.take(input),
                    None => return,
                },
                Some(heard) = self.heard.1.recv() => self.hear(heard),
                () = until(wake) => {
                    self.wake = None;
                    self.feed(Input::Tick);
                }
            }
            // Ended questions are let go of.
            while self.workers.try_join_next().is_some() {}
            let status = self.lane.status();
            self.status.send_if_modified(|shown| {
                let changed = *shown != status;
                if changed {
                    *shown = status;
                }
                changed
            });
        }
    }

    /// Takes everything that waits, so that what was wanted together goes together.
    fn take(&mut self, input: Input) {
        let mut together = Vec::new();
        let mut next = Some(input);
        while let Some(input) = next {
            match input {
                Input::Submit(mut intents) => together.append(&mut intents),
                other => {
                    self.submit(&mut together);
                    self.feed(other);
                }
            }
            next = self.inbox.try_recv().ok();
        }
        self.submit(&mut together);
    }

    fn submit(&mut self, intents: &mut Vec<Intent>) {
        if !intents.is_empty() {
            self.feed(Input::Submit(std::mem::take(intents)));
        }
    }

    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Input(input) => self.feed(input),
            Heard::Account { number, read } => {
                self.account_number = number;
                self.feed(Input::AccountRead(read));
            }
        }
    }

    fn feed(&mut self, input: Input) {
        for effect in self.lane.handle(self.start.elapsed(), input) {
            self.do_it(effect);
        }
    }

    fn do_it(&mut self, effect: Effect) {
        match effect {
            Effect::Broadcast(draft) => self.sign(&draft),
            Effect::Rebroadcast { tx, attempt } => self.broadcast(tx, attempt),
            Effect::Drop { tx } => drop(self.kept.remove(&tx)),
            Effect::Done { intent, outcome } => {
                let share = self.shares.remove(&intent);
                let paid = matches!(outcome, Outcome::Executed { .. } | Outcome::Refused { .. });
                let end = IntentEnd { intent, outcome, fee: share.filter(|_| paid) };
                // Nobody listening is no reason to stop.
                let _ = self.outcomes.send(end);
            }
            Effect::WakeAt(at) => self.wake = Some(at),
            Effect::ReadAccount => self.ask(|source| async move { source.read_account().await }),
            Effect::Simulate(draft) => {
                let tx = draft.tx;
                match self.unsigned(&draft).map(|unsigned| unsigned.to_simulate()) {
                    Ok(raw) => {
                        self.ask(move |source| async move { source.simulate(tx, raw).await });
                    }
                    Err(refusal) => {
                        let answer = ask::not_built(refusal);
                        let _ = self.heard.0.send(Heard::Input(Input::Simulated { tx, answer }));
                    }
                }
            }
            Effect::LookUp { tx } => {
                let hash = self.kept.get(&tx).map(SignedTx::hash);
                self.ask(move |source| async move { source.look_up(tx, hash).await });
            }
            Effect::Verify { intent, wanted } => {
                self.ask(move |source| async move { source.verify(intent, wanted).await });
            }
        }
    }

    fn unsigned(&self, draft: &Draft) -> Result<Unsigned<&S>, Refusal> {
        let plan = TxPlan {
            chain_id: &self.chain_id,
            account_number: self.account_number,
            sequence: draft.sequence,
            messages: &draft.messages,
            fee: &draft.fee,
            memo: &draft.memo,
            timeout_height: draft.timeout_height,
        };
        Unsigned::new(&plan, &self.signer).map_err(|error| Refusal {
            codespace: "lane".to_owned(),
            code: 1,
            log: error.to_string(),
        })
    }

    fn sign(&mut self, draft: &Draft) {
        let tx = draft.tx;
        match self.unsigned(draft).map(Unsigned::sign_with_signature) {
            Ok((signed, signature)) => {
                self.kept.insert(tx, signed);
                self.share(draft);
                self.feed(Input::Signed { tx, signature: signature.to_vec() });
                self.broadcast(tx, 1);
            }
            Err(refusal) => {
                let answer = Broadcasted::Refused(refusal);
                let input = Input::BroadcastAnswered { tx, attempt: 1, answer };
                let _ = self.heard.0.send(Heard::Input(input));
            }
        }
    }

    /// Remembers what each intent of a transaction has to pay of its fee.
    fn share(&mut self, draft: &Draft) {
        let count = u128::try_from(draft.intents.len().max(1)).unwrap_or(u128::MAX);
        let Some(fee) = draft.fee.amount.first() else { return };
        let share = Coin::new(fee.denom().clone(), fee.amount().div_ceil(count));
        self.shares.extend(draft.intents.iter().map(|intent| (*intent, share.clone())));
    }

    fn broadcast(&mut self, tx: TxRef, attempt: u32) {
        if let (Some(signed), Some(broadcasts)) = (self.kept.get(&tx), &self.broadcasts) {
            let _ = broadcasts.send((tx, attempt, signed.clone()));
        }
    }

    fn ask<F>(&mut self, question: impl FnOnce(Arc<Source<T>>) -> F)
    where
        F: Future<Output = Heard> + Send + 'static,
    {
        let (heard, room) = (self.heard.0.clone(), Arc::clone(&self.room));
        let answer = question(Arc::clone(&self.source));
        self.workers.spawn(async move {
            // Never closed, so there is room sooner or later.
            let _room = room.acquire_owned().await;
            let _ = heard.send(answer.await);
        });
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Talks to a lane. The lane ends when the last of these is gone.
#[derive(Clone, Debug)]
pub struct LaneHandle {
    inputs: mpsc::Sender<Input>,
    status: watch::Receiver<LaneStatus>,
}

/// The lane is not running any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the transaction lane has stopped")]
pub struct LaneStopped;

impl LaneHandle {
    const fn new(inputs: mpsc::Sender<Input>, status: watch::Receiver<LaneStatus>) -> Self {
        Self { inputs, status }
    }

    /// Wants something. How it ends is told where all intents end.
    pub async fn submit(&self, intents: Vec<Intent>) -> Result<(), LaneStopped> {
        self.send(Input::Submit(intents)).await
    }

    /// Wants something no more. If it was sent already it is left to its fate.
    pub async fn forget(&self, intent: IntentId) -> Result<(), LaneStopped> {
        self.send(Input::Forget(intent)).await
    }

    /// Shows the lane the next block.
    pub async fn block(&self, block: LaneBlock) -> Result<(), LaneStopped> {
        self.send(Input::Block(block)).await
    }

    /// Tells the lane that it will not see blocks up to a height.
    pub async fn resynced(&self, height: u64) -> Result<(), LaneStopped> {
        self.send(Input::Resynced { height }).await
    }

    /// Tells the lane that the chain went back, and another branch of it is at a height.
    pub async fn rebased(&self, height: u64) -> Result<(), LaneStopped> {
        self.send(Input::Rebased { height }).await
    }

    /// How the lane is doing.
    pub fn status(&self) -> LaneStatus {
        self.status.borrow().clone()
    }

    /// The same, whenever it changes.
    pub fn watch(&self) -> watch::Receiver<LaneStatus> {
        self.status.clone()
    }

    async fn send(&self, input: Input) -> Result<(), LaneStopped> {
        self.inputs.send(input).await.map_err(|_| LaneStopped)
    }
}
