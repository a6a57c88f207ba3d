//! What everyone who answers clients shares.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::node::{App, Block, BroadcastError, Checked, Hash};

use super::faucet::Faucet;
use super::faults::Faults;
use super::task::Command;
use super::view::{View, Views};
use super::ws::Clients;

#[derive(Clone, Debug)]
pub(super) struct NodeFacts {
    pub(super) moniker: String,
    /// Hexadecimal, of twenty bytes.
    pub(super) id: String,
    pub(super) listen_addr: String,
    pub(super) rpc_address: String,
}

/// Versions that a recorded node of the v2.1.0 line answered with.
pub(super) const COMETBFT_VERSION: &str = "0.38.19";
pub(super) const APP_NAME: &str = "akash";
pub(super) const APP_VERSION: &str = "2.1.0-dev";
/// Numbers of the channels that the node would speak with others.
pub(super) const CHANNELS: [u8; 10] = [0x40, 0x20, 0x21, 0x22, 0x23, 0x30, 0x38, 0x60, 0x61, 0x00];

/// Shared by all connections.
pub(super) struct Context<A> {
    pub(super) views: Views<A>,
    pub(super) commands: mpsc::Sender<Command>,
    pub(super) blocks: broadcast::Sender<Arc<Block>>,
    pub(super) faults: Faults,
    pub(super) facts: NodeFacts,
    pub(super) genesis: Box<RawValue>,
    pub(super) commit_timeout: Duration,
    pub(super) clients: Clients,
    /// Closed when the owner of the node is gone.
    pub(super) alive: watch::Receiver<()>,
    pub(super) faucet: Option<Faucet>,
}

/// Why a transaction is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SendError {
    #[error(transparent)]
    Refused(#[from] BroadcastError),
    #[error("endpoint is closed while node is catching up")]
    CatchingUp,
    #[error("the node is stopping")]
    Stopping,
}

impl<A: App> Context<A> {
    pub(super) fn view(&self) -> Arc<View<A>> {
        self.views.now()
    }

    pub(super) async fn broadcast(&self, tx: Bytes) -> Result<Checked, SendError> {
        if self.faults.get(|plan| plan.catching_up) {
            return Err(SendError::CatchingUp);
        }
        let answer = self.ask(|reply| Command::Broadcast { tx, reply }).await;
        Ok(answer.ok_or(SendError::Stopping)??)
    }

    /// Asks the owner of the node; `None` when it has stopped.
    pub(super) async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.ok()?;
        answer.await.ok()
    }

    /// Waits until a transaction is in a block: that block, and its place there.
    pub(super) async fn included(&self, hash: &Hash) -> Option<(Arc<Block>, usize)> {
        let mut views = self.views.clone();
        loop {
            let view = views.now();
            if let Some((place, block)) = view.history.tx(hash) {
                return Some((Arc::clone(block), place.index));
            }
            if !views.changed().await {
                return None;
            }
        }
    }
}
