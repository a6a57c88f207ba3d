//! The task that owns the node: it takes commands, makes blocks in time, and publishes what readers
//! see. Nobody else changes anything.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::node::{App, Block, BroadcastError, Checked, Node, Record};

use super::DevnetError;
use super::context::View;
use super::faults::Faults;
use super::store::{Store, StoreError};

pub(super) enum Command {
    Broadcast {
        tx: Bytes,
        reply: oneshot::Sender<Result<Checked, BroadcastError>>,
    },
    Check {
        tx: Bytes,
        reply: oneshot::Sender<Checked>,
    },
    Unconfirmed {
        limit: usize,
        reply: oneshot::Sender<Vec<Bytes>>,
    },
    /// Make a block now, at the given time or the clock's.
    Produce {
        time_unix_nanos: Option<i64>,
        reply: oneshot::Sender<Arc<Block>>,
    },
    Prune {
        below: u64,
        reply: oneshot::Sender<()>,
    },
}

/// The node and the file of its blocks.
pub(super) struct Keeper<A> {
    pub(super) node: Node<A>,
    pub(super) store: Option<Store>,
}

impl<A: App> Keeper<A> {
    fn produce(&mut self, time_unix_nanos: i64) -> Result<Arc<Block>, StoreError> {
        let block = self.node.produce_block(time_unix_nanos);
        if let Some(store) = &mut self.store {
            store.append(&Record::of(&block))?;
        }
        Ok(block)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) block_time: Option<Duration>,
    pub(super) idle_blocks: bool,
}

pub(super) struct Owner<A> {
    pub(super) keeper: Keeper<A>,
    pub(super) pace: Pace,
    pub(super) faults: Faults,
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) views: watch::Sender<Arc<View<A>>>,
    pub(super) blocks: broadcast::Sender<Arc<Block>>,
    /// Dropped with the owner, so that whoever serves a client notices.
    #[expect(dead_code, reason = "held, never used")]
    pub(super) alive: watch::Sender<()>,
}

impl<A: App> Owner<A> {
    /// Runs until nobody can send commands any more, or a block cannot be kept.
    pub(super) async fn run(mut self) -> Result<(), DevnetError> {
        if self.keeper.node.history().latest() == 0 {
            self = self.produce(None).await?.0;
        }
        let mut ticks = self.pace.block_time.map(ticks);
        let mut is_late = false;
        loop {
            let command = tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => Some(command),
                    None => return Ok(()),
                },
                () = tick(&mut ticks) => None,
            };
            match command {
                Some(Command::Produce { time_unix_nanos, reply }) => {
                    let (owner, block) = self.produce(time_unix_nanos).await?;
                    self = owner;
                    let _ = reply.send(block);
                }
                Some(command) => self.handle(command),
                None if self.is_due() => {
                    let delay = self.faults.get(|plan| plan.block_delay);
                    // Put off once, while commands are still taken.
                    is_late = !delay.is_zero() && !is_late;
                    match &mut ticks {
                        Some(ticks) if is_late => ticks.reset_after(delay),
                        _ => self = self.produce(None).await?.0,
                    }
                }
                None => {}
            }
        }
    }

    fn is_due(&self) -> bool {
        let wanted = self.pace.idle_blocks || !self.keeper.node.mempool().is_empty();
        wanted && !self.faults.get(|plan| plan.stop_blocks)
    }

    /// Whoever asked may have gone away; the answer is lost then.
    fn handle(&mut self, command: Command) {
        let node = &mut self.keeper.node;
        match command {
            Command::Broadcast { tx, reply } => {
                let answer = if self.faults.get(|plan| plan.mempool_full) {
                    Err(node.mempool().full())
                } else {
                    node.broadcast(tx)
                };
                // Published first: who was told of success finds the new sequence.
                self.publish();
                let _ = reply.send(answer);
            }
            Command::Check { tx, reply } => drop(reply.send(node.check_only(&tx))),
            Command::Unconfirmed { limit, reply } => {
                let txs = node.mempool().iter().take(limit).map(|pending| pending.tx.clone());
                let _ = reply.send(txs.collect());
            }
            Command::Prune { below, reply } => {
                node.prune_below(below);
                self.publish();
                let _ = reply.send(());
            }
            Command::Produce { .. } => {}
        }
    }

    /// Makes a block where it may take its time, then tells everyone.
    async fn produce(
        mut self,
        time_unix_nanos: Option<i64>,
    ) -> Result<(Self, Arc<Block>), DevnetError> {
        let time = time_unix_nanos.unwrap_or_else(now);
        let mut keeper = self.keeper;
        let made = tokio::task::spawn_blocking(move || {
            let block = keeper.produce(time);
            (keeper, block)
        });
        let (keeper, block) = made.await.map_err(|_| DevnetError::Stopped)?;
        self.keeper = keeper;
        let block = block?;
        self.publish();
        if !self.faults.get(|plan| plan.drop_block_events) {
            // Nobody listening is no error.
            let _ = self.blocks.send(Arc::clone(&block));
        }
        Ok((self, block))
    }

    fn publish(&self) {
        self.views.send_replace(Arc::new(View::of(&self.keeper.node)));
    }
}

/// Ticks that never come in bursts after a pause.
fn ticks(block_time: Duration) -> Interval {
    let block_time = block_time.max(Duration::from_millis(1));
    let mut ticks = interval_at(Instant::now() + block_time, block_time);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

async fn tick(ticks: &mut Option<Interval>) {
    match ticks {
        Some(ticks) => drop(ticks.tick().await),
        None => std::future::pending().await,
    }
}

/// The time in nanoseconds since 1970; a clock before that counts as 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
