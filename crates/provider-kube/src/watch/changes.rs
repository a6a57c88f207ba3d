//! What somebody who watches sees.

use provider_engine::cluster::port::Changes;
use provider_engine::cluster::view::ViewChange;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{mpsc, oneshot};

use super::owner::Ask;

/// What somebody who watches sees. Whoever cannot keep up is given the whole view again.
#[derive(Debug)]
pub struct KubeChanges {
    asks: mpsc::Sender<Ask>,
    receiver: Option<Receiver<ViewChange>>,
    /// The last that was told is that nothing is known.
    is_lost: bool,
}

impl KubeChanges {
    pub(super) const fn new(asks: mpsc::Sender<Ask>) -> Self {
        Self { asks, receiver: None, is_lost: false }
    }

    async fn begin(&mut self) -> Option<ViewChange> {
        let (reply, answer) = oneshot::channel();
        self.asks.send(reply).await.ok()?;
        let (first, receiver) = answer.await.ok()?;
        self.receiver = Some(receiver);
        Some(first)
    }
}

impl Changes for KubeChanges {
    async fn next(&mut self) -> ViewChange {
        loop {
            let change = match &mut self.receiver {
                Some(receiver) => match receiver.recv().await {
                    Ok(change) => change,
                    // Too far behind: beginning again tells.
                    Err(RecvError::Lagged(_) | RecvError::Closed) => {
                        self.receiver = None;
                        continue;
                    }
                },
                None => match self.begin().await {
                    Some(first) => first,
                    // The driver was stopped; nothing will ever be told.
                    None if self.is_lost => std::future::pending().await,
                    None => ViewChange::Lost,
                },
            };
            let was_lost = std::mem::replace(&mut self.is_lost, change == ViewChange::Lost);
            if !(was_lost && self.is_lost) {
                return change;
            }
        }
    }
}
