//! What readers see: a snapshot of the chain that the owner publishes after every change.

use std::sync::Arc;

use tokio::sync::watch;

use crate::node::{App, Block, Chain, Commit, History, Node};

use super::faults::Faults;

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
