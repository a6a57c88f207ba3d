//! What the engine wants, carried out.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use akash_chain::tx::lane::LaneHandle;
use akash_types::Intent;
use provider_engine::cluster::command::{Command, CommandAnswer, CommandFailure};
use provider_engine::cluster::port::Execute;
use provider_engine::order::pricing::{ScriptFailure, ScriptRequest};
use provider_engine::{Effect, Input};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::inbox::Inbox;
use crate::chain::Reader;

/// Commands that the cluster is given at once.
const COMMANDS: usize = 16;
/// How long a command may take before it counts as unanswered.
const COMMAND_LIMIT: Duration = Duration::from_secs(120);

/// Asks the price script. Answers always, whatever happens.
pub trait Script: Clone + Send + Sync + 'static {
    /// What the script wrote.
    fn ask(
        &self,
        request: ScriptRequest,
    ) -> impl Future<Output = Result<Vec<u8>, ScriptFailure>> + Send;

    /// What the script wrote about what nobody ordered; `None` if orders need it.
    fn screen(
        &self,
        request: ScriptRequest,
    ) -> impl Future<Output = Option<Result<Vec<u8>, ScriptFailure>>> + Send;
}

/// Carries out what the engine wants. What it wants is started and not waited for; its answer comes
/// to the inbox.
#[derive(Debug)]
pub(crate) struct World<C, S> {
    inbox: Inbox,
    reader: Reader,
    lane: LaneHandle,
    cluster: C,
    script: S,
    commands: Arc<Semaphore>,
    /// Intents of this turn: what is wanted together goes together.
    intents: Vec<Intent>,
    /// What is out. Ends with its owner.
    tasks: JoinSet<()>,
}

impl<C, S> World<C, S> {
    pub(crate) fn new(
        inbox: Inbox,
        reader: Reader,
        lane: LaneHandle,
        cluster: C,
        script: S,
    ) -> Self {
        let commands = Arc::new(Semaphore::new(COMMANDS));
        let (intents, tasks) = (Vec::new(), JoinSet::new());
        Self { inbox, reader, lane, cluster, script, commands, intents, tasks }
    }

    /// Starts something whose answer the engine waits for.
    fn spawn(&mut self, span: tracing::Span, answer: impl Future<Output = Input> + Send + 'static) {
        let inbox = self.inbox.clone();
        let task = async move {
            // Nobody is left to hear it only when everything ends.
            let _ = inbox.tell(answer.await).await;
        };
        self.tasks.spawn(task.instrument(span));
        // Ended tasks are let go of.
        while self.tasks.try_join_next().is_some() {}
    }

    /// That was all of this turn: what was collected goes out.
    pub(super) async fn send_intents(&mut self) {
        let intents = std::mem::take(&mut self.intents);
        if !intents.is_empty() && self.lane.submit(intents).await.is_err() {
            tracing::error!("the transaction lane has stopped: what was wanted is not sent");
        }
    }
}

impl<C: Execute + Clone + 'static, S: Script> World<C, S> {
    pub(super) async fn start(&mut self, effect: Effect) {
        match effect {
            Effect::Query(id, query) => {
                let reader = self.reader.clone();
                let span = tracing::debug_span!("query", ?query);
                self.spawn(span, async move { Input::Chain(reader.answer(id, &query).await) });
            }
            Effect::Submit(intent) => self.intents.push(intent),
            Effect::Forget(intent) => {
                self.send_intents().await;
                // A lane that has stopped was told of already.
                let _ = self.lane.forget(intent).await;
            }
            Effect::Command(command) => {
                let (cluster, room) = (self.cluster.clone(), Arc::clone(&self.commands));
                let span = match command.operation.lease() {
                    Some(lease) => tracing::info_span!("lease", id = %lease),
                    None => tracing::info_span!("cluster"),
                };
                self.spawn(span, carry_out(cluster, room, command));
            }
            Effect::Script(id, request) => {
                let script = self.script.clone();
                let span = tracing::debug_span!("price");
                self.spawn(
                    span,
                    async move { Input::Script { id, result: script.ask(request).await } },
                );
            }
            // Kept, published and answered by the engine's owner.
            Effect::Record(_) | Effect::Publish(_) | Effect::Reply(..) | Effect::WakeAt(_) => {}
        }
    }
}

async fn carry_out<C: Execute>(cluster: C, room: Arc<Semaphore>, command: Command) -> Input {
    let Command { id, operation } = command;
    // Never closed, so there is room sooner or later.
    let _room = room.acquire().await;
    // Thousands may wait: room for the work is set aside once it begins.
    let work = Box::pin(cluster.execute(operation));
    let executed = tokio::time::timeout(COMMAND_LIMIT, work).await;
    let result = executed.unwrap_or_else(|_| {
        Err(CommandFailure::Unavailable(format!("no answer within {COMMAND_LIMIT:?}")))
    });
    if let Err(failure) = &result {
        tracing::warn!(%failure, "the cluster did not do what was wanted");
    }
    Input::Command(CommandAnswer { id, result })
}
