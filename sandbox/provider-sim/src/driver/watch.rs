//! Watching a core.

use provider_engine::cluster::port::Changes;
use provider_engine::cluster::view::ViewChange;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;

use super::{Ask, SimDriver};

#[derive(Debug)]
pub struct SimChanges {
    driver: SimDriver,
    receiver: Option<Receiver<ViewChange>>,
    is_over: bool,
}

impl SimChanges {
    pub(super) const fn new(driver: SimDriver) -> Self {
        Self { driver, receiver: None, is_over: false }
    }

    async fn begin(&mut self) -> Option<ViewChange> {
        let (reply, answer) = oneshot::channel();
        self.driver.asks.send(Ask::Observe(reply)).await.ok()?;
        let (first, receiver) = answer.await.ok()?;
        self.receiver = Some(receiver);
        Some(first)
    }
}

impl Changes for SimChanges {
    async fn next(&mut self) -> ViewChange {
        if let Some(receiver) = &mut self.receiver {
            match receiver.recv().await {
                Ok(change) => return change,
                // Too far behind, or over: whichever it is, beginning again tells.
                Err(RecvError::Lagged(_) | RecvError::Closed) => self.receiver = None,
            }
        }
        match self.begin().await {
            Some(first) => first,
            // A cluster in this process that has ended does not come back.
            None if self.is_over => std::future::pending().await,
            None => {
                self.is_over = true;
                ViewChange::Lost
            }
        }
    }
}
