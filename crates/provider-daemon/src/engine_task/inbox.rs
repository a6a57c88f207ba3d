//! How others reach the engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use akash_types::{Address, GroupSpec};
use provider_engine::engine::{Published, WouldBid};
use provider_engine::{Input, OperatorRequest, Reply, TenantRequest};
use tokio::sync::{mpsc, oneshot, watch};

/// Letters that may wait; who sends more waits too.
const LETTERS: usize = 4096;
/// Requests of tenants that may wait; more are refused, as in the queues below.
const REQUESTS: usize = 256;
/// Requests of the operator that may wait.
const OPERATIONS: usize = 32;
/// Screenings that may wait: few, because anybody may ask.
const SCREENINGS: usize = 16;

/// How long a tenant's request waits. The engine answers after
/// [`ManifestSettings::submit_timeout`](provider_engine::manifest::ManifestSettings), and knows more.
const TENANT_PATIENCE: Duration = Duration::from_secs(150);

/// Something for the engine's owner.
#[derive(Debug)]
pub(crate) enum Letter {
    Input(Input),
    /// From a tenant, who waits for the answer.
    Tenant(TenantRequest, oneshot::Sender<Reply>),
    /// From the operator, who waits for the answer.
    Operator(OperatorRequest, oneshot::Sender<Reply>),
    Screen(Box<ScreenRequest>, oneshot::Sender<Screening>),
}

/// Somebody asks whether we would bid.
#[derive(Clone, Debug)]
pub struct ScreenRequest {
    pub spec: GroupSpec,
    /// Hostnames that its manifest would list.
    pub hostnames: Vec<String>,
    /// Whose order it would be, if that is known.
    pub owner: Option<Address>,
    /// The shortest reclamation window that must be offered, if one must.
    pub reclamation_min_window: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Screening {
    Yes(WouldBid),
    No(Vec<String>),
    /// It cannot be said now, and why: chain or cluster are not known.
    NotReady(String),
}

/// The engine cannot take a request now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    #[error("too many requests wait for the provider; try again in a moment")]
    Full,
    #[error("the provider is stopping")]
    Stopping,
    #[error("the provider did not answer in time; ask for the status to see what came of it")]
    TimedOut,
}

/// Where parts of the daemon leave what the engine has to know.
#[derive(Clone, Debug)]
pub struct Inbox(mpsc::Sender<Letter>);

impl Inbox {
    /// Tells the engine something, and waits while it is behind.
    pub async fn tell(&self, input: Input) -> Result<(), Busy> {
        self.0.send(Letter::Input(input)).await.map_err(|_| Busy::Stopping)
    }
}

/// What everybody outside holds of a running provider. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Handle {
    tenants: mpsc::Sender<Letter>,
    operator: mpsc::Sender<Letter>,
    screenings: mpsc::Sender<Letter>,
    shown: watch::Receiver<Arc<Published>>,
    refused: Arc<AtomicU64>,
}

impl Handle {
    /// The newest status. Never waits.
    pub fn published(&self) -> Arc<Published> {
        Arc::clone(&self.shown.borrow())
    }

    pub fn changes(&self) -> watch::Receiver<Arc<Published>> {
        self.shown.clone()
    }

    /// How many requests were turned away because too many waited.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Asks for something on behalf of a tenant, who was authenticated.
    /// Fails when there is no answer; it may be carried out all the same.
    pub async fn tenant(&self, request: TenantRequest) -> Result<Reply, Busy> {
        let queue = &self.tenants;
        self.ask(queue, |answer| Letter::Tenant(request, answer), TENANT_PATIENCE).await
    }

    /// Asks for something on behalf of the operator.
    /// Fails when there is no answer; it may be carried out all the same.
    pub async fn operator(&self, request: OperatorRequest) -> Result<Reply, Busy> {
        let queue = &self.operator;
        self.ask(queue, |answer| Letter::Operator(request, answer), Duration::from_secs(30)).await
    }

    /// Asks whether we would bid on something.
    pub async fn screen(&self, request: ScreenRequest) -> Result<Screening, Busy> {
        let queue = &self.screenings;
        let letter = |answer| Letter::Screen(Box::new(request), answer);
        self.ask(queue, letter, Duration::from_secs(10)).await
    }

    async fn ask<T>(
        &self,
        queue: &mpsc::Sender<Letter>,
        letter: impl FnOnce(oneshot::Sender<T>) -> Letter,
        limit: Duration,
    ) -> Result<T, Busy> {
        let (answer, answered) = oneshot::channel();
        queue.try_send(letter(answer)).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                Busy::Full
            }
            mpsc::error::TrySendError::Closed(_) => Busy::Stopping,
        })?;
        match tokio::time::timeout(limit, answered).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(Busy::Stopping),
            Err(_) => Err(Busy::TimedOut),
        }
    }
}

/// Where the engine's owner finds what is for it.
#[derive(Debug)]
pub(crate) struct Letters {
    letters: mpsc::Receiver<Letter>,
    operator: mpsc::Receiver<Letter>,
    tenants: mpsc::Receiver<Letter>,
    screenings: mpsc::Receiver<Letter>,
}

impl Letters {
    /// Waits for letters and takes those that are there, at most `most`; requests from outside come
    /// after everything else, the operator's first and screening last. 0 means that nobody is left to send any.
    pub(crate) async fn take(&mut self, into: &mut Vec<Letter>, most: usize) -> usize {
        let count = tokio::select! {
            biased;
            count = self.letters.recv_many(into, most) => count,
            Some(request) = self.operator.recv() => {
                into.push(request);
                1
            }
            Some(request) = self.tenants.recv() => {
                into.push(request);
                1
            }
            Some(request) = self.screenings.recv() => {
                into.push(request);
                1
            }
        };
        let mut count = count;
        for queue in [&mut self.operator, &mut self.tenants, &mut self.screenings] {
            while count > 0
                && count < most
                && let Ok(request) = queue.try_recv()
            {
                into.push(request);
                count += 1;
            }
        }
        count
    }
}

/// An inbox, who may write to it, and what everybody outside holds.
pub(crate) fn open(first: Published) -> (Inbox, Handle, Letters, watch::Sender<Arc<Published>>) {
    let (sender, letters) = mpsc::channel(LETTERS);
    let (tenants, of_tenants) = mpsc::channel(REQUESTS);
    let (operator, of_operator) = mpsc::channel(OPERATIONS);
    let (screenings, of_anybody) = mpsc::channel(SCREENINGS);
    let (shown, watched) = watch::channel(Arc::new(first));
    let handle = Handle { tenants, operator, screenings, shown: watched, refused: Arc::default() };
    let letters =
        Letters { letters, operator: of_operator, tenants: of_tenants, screenings: of_anybody };
    (Inbox(sender), handle, letters, shown)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use provider_engine::engine::{LeaseIndex, Status};
    use provider_gateway::port;

    use super::*;
    use crate::{gateway, overseer};

    fn published() -> Published {
        Published {
            status: Status { height: 1, ready: true, cluster_fresh: true, ..Status::default() },
            leases: LeaseIndex::default(),
            bids: vec![],
            inventory: None,
            deployments: 0,
            manifests: 0,
            drift: BTreeMap::new(),
        }
    }

    fn of_tenant() -> TenantRequest {
        let owner = Address::from_bytes(&[7; 20]).unwrap();
        TenantRequest::MigrateHostnames { hostnames: vec![], owner, dseq: 1, gseq: 1 }
    }

    fn of_stranger() -> ScreenRequest {
        let spec = GroupSpec {
            name: "web".to_owned(),
            requirements: akash_types::PlacementRequirements::default(),
            resources: vec![],
        };
        ScreenRequest { spec, hostnames: vec![], owner: None, reclamation_min_window: None }
    }

    /// Asks so often that the queue is full, and returns how often it was refused.
    async fn fill<F: Future<Output = bool> + Send + 'static>(
        count: usize,
        ask: impl Fn() -> F,
    ) -> usize {
        let mut refused = 0;
        for _ in 0..count {
            let asking = tokio::spawn(ask());
            tokio::task::yield_now().await;
            if asking.is_finished() && asking.await.unwrap() {
                refused += 1;
            }
        }
        refused
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_without_an_answer_may_have_been_done_and_one_at_the_end_says_so() {
        let (_inbox, handle, mut letters, _shown) = open(published());
        let begun = tokio::time::Instant::now();
        let late = handle.tenant(of_tenant()).await.unwrap_err();
        assert_eq!((late, begun.elapsed()), (Busy::TimedOut, TENANT_PATIENCE));
        assert_eq!(gateway::no_answer(late), port::Busy::TimedOut);
        let said = overseer::unavailable(late).to_string();
        assert!(said.contains("it may have been done all the same"), "{said}");
        // Whoever gave up waiting did not take the request back.
        assert_eq!(letters.take(&mut Vec::new(), 1).await, 1);

        let waiting = tokio::spawn({
            let handle = handle.clone();
            async move { handle.tenant(of_tenant()).await.unwrap_err() }
        });
        tokio::task::yield_now().await;
        drop(letters);
        let dropped = waiting.await.unwrap();
        let refused = handle.tenant(of_tenant()).await.unwrap_err();
        for stopping in [dropped, refused] {
            assert_eq!(stopping, Busy::Stopping);
            assert_eq!(gateway::no_answer(stopping), port::Busy::Stopping);
            let said = overseer::unavailable(stopping).to_string();
            assert_eq!(said, "the provider is stopping");
        }
        assert_eq!(begun.elapsed(), TENANT_PATIENCE, "nobody waits for a provider that stops");
    }

    #[tokio::test]
    async fn each_kind_of_client_fills_its_own_queue_only() {
        let (inbox, handle, mut letters, _shown) = open(published());
        let screen = {
            let handle = handle.clone();
            move || {
                let handle = handle.clone();
                async move { handle.screen(of_stranger()).await == Err(Busy::Full) }
            }
        };
        assert_eq!(fill(SCREENINGS + 5, screen).await, 5);
        let tenant = {
            let handle = handle.clone();
            move || {
                let handle = handle.clone();
                async move { handle.tenant(of_tenant()).await.is_err_and(|why| why == Busy::Full) }
            }
        };
        assert_eq!(fill(REQUESTS + 5, tenant).await, 5);
        let operator = {
            let handle = handle.clone();
            move || {
                let handle = handle.clone();
                async move { handle.operator(OperatorRequest::Drift).await.is_err() }
            }
        };
        assert_eq!(fill(3, operator).await, 0, "the operator's queue is empty");
        inbox.tell(Input::Tick).await.unwrap();
        assert_eq!(handle.refused(), 10);

        // The engine's own comes first, then the operator, tenants and screening.
        let mut taken = Vec::new();
        assert_eq!(letters.take(&mut taken, 4).await, 4);
        assert!(matches!(taken.first(), Some(Letter::Input(_))), "{taken:?}");
        assert!(taken[1..].iter().all(|letter| matches!(letter, Letter::Operator(..))));
        taken.clear();
        letters.take(&mut taken, REQUESTS + 1).await;
        let (last, rest) = taken.split_last().unwrap();
        assert!(rest.iter().all(|letter| matches!(letter, Letter::Tenant(..))));
        assert!(matches!(last, Letter::Screen(..)), "{last:?}");
    }
}
