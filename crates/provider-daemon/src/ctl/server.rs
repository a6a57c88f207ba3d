//! The server: lines in, lines out.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use provider_engine::engine::{BidStatus, InventoryStatus, LeaseStatus};
use provider_engine::journal::Subject;
use provider_engine::{OperatorRequest, Reply, TenantRequest};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::task::JoinSet;

use super::answer::answer;
use super::socket::{BindError, Socket};
use super::wire::{Attempt, Decided, LONGEST_LINE, Request, Response, Status};

/// How many may be connected at once.
const MOST_CLIENTS: usize = 32;
/// How long a client may say nothing.
const SILENCE: Duration = Duration::from_secs(60);
/// How long to wait when the system gives no connections, for want of files or memory.
const BREATH: Duration = Duration::from_millis(100);
const ROOT: u32 = 0;

/// The operator's socket, ready to answer.
#[derive(Debug)]
pub struct CtlServer {
    socket: Socket,
}

impl CtlServer {
    /// Listens at `path`, for the user that runs this process and nobody else.
    pub async fn bind(path: &Path) -> Result<Self, BindError> {
        Ok(Self { socket: Socket::bind(path).await? })
    }

    /// Answers until it is dropped. The socket's file goes with it.
    pub async fn serve(self, provider: Arc<impl Operate>) {
        let mut clients = JoinSet::new();
        loop {
            while clients.len() >= MOST_CLIENTS {
                clients.join_next().await;
            }
            // Those that are done are forgotten.
            while clients.try_join_next().is_some() {}
            match self.socket.listener.accept().await {
                Ok((stream, _)) => {
                    // A side that cannot be told is not allowed.
                    let owner = self.socket.owner;
                    let allowed = stream.peer_cred().is_ok_and(|peer| may_ask(peer.uid(), owner));
                    clients.spawn(talk(stream, Arc::clone(&provider), allowed));
                }
                Err(error) => {
                    tracing::warn!(%error, "the operator's socket gives no connection");
                    tokio::time::sleep(BREATH).await;
                }
            }
        }
    }
}

/// Whether a user may ask: the owner of the socket, or root. Its mode says so too, but not every
/// system looks at that, and a directory can be given away.
const fn may_ask(user: u32, owner: u32) -> bool {
    user == owner || user == ROOT
}

/// Answers one client until it goes, is silent for long, or says what cannot be read.
async fn talk(stream: UnixStream, provider: Arc<impl Operate>, allowed: bool) {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    if !allowed {
        let hint = "run this as the user that runs the provider, or as root";
        let refusal = Response::error("the provider answers only its own user", hint);
        let _ = write.write_all(&line(&refusal)).await;
        return;
    }
    loop {
        let mut text = Vec::new();
        let limit = u64::try_from(LONGEST_LINE).unwrap_or(u64::MAX) + 1;
        let mut bounded = (&mut read).take(limit);
        let got = tokio::time::timeout(SILENCE, bounded.read_until(b'\n', &mut text)).await;
        let Ok(Ok(1..)) = got else { return };
        let (response, last) = if text.len() > LONGEST_LINE {
            (Response::error("the question is too long", "no SDL is longer than 1 MiB"), true)
        } else {
            match serde_json::from_slice::<Request>(&text) {
                Ok(request) => (answer(provider.as_ref(), request).await, false),
                Err(error) => {
                    let hint = "client and provider should be of the same version";
                    (Response::error(format!("the question cannot be read: {error}"), hint), true)
                }
            }
        };
        let written = write.write_all(&line(&response)).await;
        if last || written.is_err() {
            return;
        }
    }
}

fn line(response: &Response) -> Vec<u8> {
    // Texts and numbers only, so it cannot fail.
    let mut line = serde_json::to_vec(response).unwrap_or_default();
    line.push(b'\n');
    line
}

/// The provider, as its operator sees it.
///
/// What only reads answers at once, from what was published last, and never waits for the engine.
pub trait Operate: Send + Sync + 'static {
    fn status(&self) -> Status;

    /// Bids that are open, on their way to the chain, or on their way out.
    fn bids(&self) -> Vec<BidStatus>;

    fn leases(&self) -> Vec<LeaseStatus>;

    /// What there is to sell; `None` before the cluster was seen.
    fn inventory(&self) -> Option<InventoryStatus>;

    /// Orders and deployments with this number about which something was decided, those included
    /// that were declined or are over.
    fn subjects(&self, dseq: u64) -> Vec<Subject>;

    /// What was decided about something, oldest first, as far as that is known.
    fn decisions(&self, subject: Subject) -> Vec<Decided>;

    /// Asks the engine for something.
    fn operator(
        &self,
        request: OperatorRequest,
    ) -> impl Future<Output = Result<Reply, Unavailable>> + Send;

    /// Finds out which connections of tenants' pods are open that must not be, with pods of this
    /// image or the one that is set. Takes minutes.
    fn probe_isolation(
        &self,
        image: Option<String>,
    ) -> impl Future<Output = Result<Vec<Attempt>, String>> + Send;

    /// Asks the engine for something in the name of a tenant.
    fn tenant(
        &self,
        request: TenantRequest,
    ) -> impl Future<Output = Result<Reply, Unavailable>> + Send;
}

/// Why the engine could not be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    #[error("the provider has too much to do")]
    Busy,
    #[error("the provider is stopping")]
    Stopping,
    #[error("the provider did not answer in time; it may have been done all the same")]
    TimedOut,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_and_root_may_ask() {
        assert!(may_ask(1000, 1000));
        assert!(may_ask(ROOT, 1000));
        assert!(!may_ask(1001, 1000));
        assert!(!may_ask(1000, ROOT));
    }
}
