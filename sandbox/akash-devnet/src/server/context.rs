//! What everyone who answers clients shares.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::value::RawValue;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::faucet::Faucet;
use super::faults::Faults;
use super::task::Command;
use super::ws::Clients;
use crate::node::{App, Block, BroadcastError, Chain, Checked, Commit, Hash, History, Node};

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

pub(super) struct View<A> {
    pub(super) chain: Arc<Chain>,
    pub(super) history: History<A>,
    /// The newest block and what waits.
    pub(super) check: A,
    /// Height of that block. A node that lags answers with an older one, but tries transactions on
    /// this: so it looks behind one address with several nodes.
    pub(super) checked_at: u64,
    pub(super) pending: usize,
    pub(super) pending_bytes: u64,
}

impl<A: App> View<A> {
    pub(super) fn of(node: &Node<A>) -> Self {
        Self {
            chain: Arc::clone(node.chain()),
            history: node.history().clone(),
            check: node.check_state().clone(),
            checked_at: node.history().latest(),
            pending: node.mempool().len(),
            pending_bytes: node.mempool().bytes(),
        }
    }

    /// The votes for a block, and whether the next block carries them.
    pub(super) fn commit(&self, block: &Block) -> (Commit, bool) {
        match self.history.block(block.height().saturating_add(1)) {
            Some(next) => (next.last_commit.clone(), true),
            None => {
                let time = block.header.time_unix_nanos.saturating_add(1_000_000);
                let chain = &self.chain;
                let (height, id) = (block.height(), block.id);
                (Commit::sign(&chain.validator, &chain.chain_id, height, id, time), false)
            }
        }
    }
}

/// Where readers get their snapshots.
pub(super) struct Views<A> {
    receiver: watch::Receiver<Arc<View<A>>>,
    faults: Faults,
}

impl<A> Clone for Views<A> {
    fn clone(&self) -> Self {
        Self { receiver: self.receiver.clone(), faults: self.faults.clone() }
    }
}

impl<A: App> Views<A> {
    pub(super) const fn new(receiver: watch::Receiver<Arc<View<A>>>, faults: Faults) -> Self {
        Self { receiver, faults }
    }

    /// The newest snapshot, or an older one where the node is to lag.
    pub(super) fn now(&self) -> Arc<View<A>> {
        let view = Arc::clone(&self.receiver.borrow());
        match self.faults.get(|plan| plan.lag) {
            0 => view,
            blocks => Arc::new(View {
                chain: Arc::clone(&view.chain),
                history: view.history.behind(blocks),
                check: view.check.clone(),
                checked_at: view.checked_at,
                pending: view.pending,
                pending_bytes: view.pending_bytes,
            }),
        }
    }

    /// Waits for the next snapshot; `false` when there will be none.
    pub(super) async fn changed(&mut self) -> bool {
        self.receiver.changed().await.is_ok()
    }
}
