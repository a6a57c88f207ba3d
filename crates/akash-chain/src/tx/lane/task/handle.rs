//! What others hold of a lane.

use akash_types::{Intent, IntentId};
use tokio::sync::{mpsc, watch};

use super::super::{Input, LaneBlock, LaneStatus};

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
    pub(super) const fn new(
        inputs: mpsc::Sender<Input>,
        status: watch::Receiver<LaneStatus>,
    ) -> Self {
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
