//! The task that owns the plan: it hears, asks the plan, and does as told. It decides nothing.

use std::time::Duration;

use serde::Serialize;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use super::block::{BlockEffects, Followed, FollowedBlock};
use super::decode::Results;
use super::plan::{Effect, Fetched, Input, News, Plan, Problem, StatusAnswer, Ticket};
use super::status::{FollowStatus, problem_of};
use super::subscribe;
use crate::query::{BlockHeader, Node};
use crate::transport::{Limits, RpcClient, RpcError};

/// News that may wait; a subscription that has more waits too.
const NEWS: usize = 256;

/// The longest the plan sleeps.
const IDLE: Duration = Duration::from_secs(60);

/// A node, as the task reaches it.
pub(super) struct Reached {
    rpc: RpcClient,
    limits: Limits,
    subscription: Option<Subscribed>,
}

impl Reached {
    pub(super) const fn new(rpc: RpcClient, limits: Limits) -> Self {
        Self { rpc, limits, subscription: None }
    }
}

struct Subscribed {
    pings: mpsc::Sender<()>,
    task: AbortHandle,
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The follower at work.
pub(super) struct Task {
    pub(super) plan: Plan<BlockEffects>,
    pub(super) nodes: Vec<Reached>,
    pub(super) items: mpsc::Sender<Followed>,
    pub(super) status: watch::Sender<FollowStatus>,
    pub(super) origin: Instant,
}

struct Running {
    answers: JoinSet<Input<BlockEffects>>,
    subscriptions: JoinSet<()>,
    news: mpsc::Sender<(Ticket, News)>,
    wake: Duration,
}

impl Task {
    /// Runs until nobody listens any more.
    pub(super) async fn run(mut self) {
        let (news, mut heard) = mpsc::channel(NEWS);
        let mut running = Running {
            answers: JoinSet::new(),
            subscriptions: JoinSet::new(),
            news,
            wake: Duration::ZERO,
        };
        let items = self.items.clone();
        loop {
            while running.subscriptions.try_join_next().is_some() {}
            let wake = self.origin + running.wake;
            let mut permit = None;
            let input = tokio::select! {
                Some(answer) = running.answers.join_next() => match answer {
                    Ok(input) => input,
                    // It was never answered; the plan has a deadline for that.
                    Err(_) => Input::Tick,
                },
                Some((ticket, news)) = heard.recv() => Input::Subscription { ticket, news },
                reserved = items.reserve(), if self.plan.is_ready() => match reserved {
                    Ok(reserved) => {
                        permit = Some(reserved);
                        Input::Room
                    }
                    Err(_) => return,
                },
                () = items.closed() => return,
                () = sleep_until(wake) => {
                    // Until the plan names another time.
                    running.wake = self.origin.elapsed() + IDLE;
                    Input::Tick
                }
            };
            let effects = self.plan.handle(self.origin.elapsed(), input);
            for effect in effects {
                match effect {
                    Effect::Deliver { header, block } => {
                        let (height, time) = (header.height, header.time);
                        let item = FollowedBlock { height, time, effects: block };
                        if let Some(permit) = permit.take() {
                            permit.send(Followed::Block(item));
                        }
                    }
                    Effect::Resync(resync) => {
                        if let Some(permit) = permit.take() {
                            permit.send(Followed::Resync(resync));
                        }
                    }
                    other => self.perform(other, &mut running),
                }
            }
        }
    }

    fn perform(&mut self, effect: Effect<BlockEffects>, running: &mut Running) {
        match effect {
            Effect::AskStatus { node, ticket, within } => {
                let Some(rpc) = self.rpc(node) else { return };
                running.answers.spawn(async move {
                    Input::Status { ticket, answer: status(rpc, within).await }
                });
            }
            Effect::FetchHeaders { node, ticket, from, to, within } => {
                let Some(rpc) = self.rpc(node) else { return };
                running.answers.spawn(async move {
                    Input::Headers { ticket, answer: headers(rpc, from, to, within).await }
                });
            }
            Effect::FetchResults { node, ticket, height, within } => {
                let Some(rpc) = self.rpc(node) else { return };
                running.answers.spawn(async move {
                    Input::Results { ticket, answer: results(rpc, height, within).await }
                });
            }
            Effect::Renew { node } => {
                if let Some(reached) = self.nodes.get_mut(node)
                    && let Ok(rpc) = RpcClient::new(reached.rpc.endpoint().clone(), reached.limits)
                {
                    reached.rpc = rpc;
                }
            }
            Effect::Subscribe { node, ticket, within } => {
                let Some(reached) = self.nodes.get_mut(node) else { return };
                let (pings, receiver) = mpsc::channel(1);
                let (rpc, news) = (reached.rpc.clone(), running.news.clone());
                let session = subscribe::run(rpc, ticket, within, news, receiver);
                let task = running.subscriptions.spawn(session);
                reached.subscription = Some(Subscribed { pings, task });
            }
            Effect::Ping { node } => {
                let subscription = self.nodes.get(node).and_then(|node| node.subscription.as_ref());
                if let Some(subscription) = subscription {
                    // One that still waits to be sent is as good.
                    let _ = subscription.pings.try_send(());
                }
            }
            Effect::Unsubscribe { node } => {
                if let Some(reached) = self.nodes.get_mut(node) {
                    reached.subscription = None;
                }
            }
            Effect::Publish(status) => drop(self.status.send_replace(status)),
            Effect::WakeAt(wake) => running.wake = wake,
            Effect::Deliver { .. } | Effect::Resync(_) => {}
        }
    }

    fn rpc(&self, node: usize) -> Option<RpcClient> {
        self.nodes.get(node).map(|node| node.rpc.clone())
    }
}

#[derive(Serialize)]
struct AtHeight {
    height: String,
}

pub(super) async fn status(rpc: RpcClient, within: Duration) -> Result<StatusAnswer, Problem> {
    let status = bounded(within, 0, Node::new(rpc).rpc_status()).await?;
    Ok(StatusAnswer {
        chain_id: status.chain_id,
        height: status.latest_height,
        hash: status.latest_hash,
        earliest: status.earliest_height,
        catching_up: status.catching_up,
    })
}

pub(super) async fn headers(
    rpc: RpcClient,
    from: u64,
    to: u64,
    within: Duration,
) -> Result<Vec<BlockHeader>, Problem> {
    bounded(within, from, Node::new(rpc).rpc_headers(from, to)).await
}

pub(super) async fn results(
    rpc: RpcClient,
    height: u64,
    within: Duration,
) -> Result<Fetched<BlockEffects>, Problem> {
    let params = AtHeight { height: height.to_string() };
    let call = rpc.call_weighed::<Results>("block_results", &params);
    let (results, bytes) = bounded(within, height, call).await?;
    if results.height != height {
        let reason = format!("asked for block {height}, got {}", results.height);
        return Err(Problem::Failed { reason });
    }
    Ok(Fetched { block: results.effects, bytes })
}

async fn bounded<T>(
    within: Duration,
    height: u64,
    call: impl Future<Output = Result<T, RpcError>>,
) -> Result<T, Problem> {
    match timeout(within, call).await {
        Ok(answer) => answer.map_err(|error| problem_of(&error, height)),
        Err(_) => Err(Problem::Silent),
    }
}
