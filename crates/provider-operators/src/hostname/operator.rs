//! The operator: watches what decisions are made from, and writes what was decided.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use akash_types::hostname::BlockedHostnames;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::jiff::Timestamp;
use kube_access::follow::{Source, WatchEvent, follow};
use kube_access::{CachedObject, Failure, KubeClient, ResourceKind};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::figures::Figures;
use super::notice;
use super::reconcile::{HostIndex, Job, Moment, Write};
use super::settings::{Routes, Settings};

/// Selects what the provider made.
const OURS: &str = "akash.network=true";
/// Writes at once. An API server has places for more, but others want some of them.
const WRITES: usize = 16;
/// Notices at once; more are not sent.
const NOTICES: usize = 8;
/// How long a page of a list may take.
const LISTS: Duration = Duration::from_secs(30);

/// The hostname operator. Clones are the same one; it works as long as [`run`](Self::run) is polled.
#[derive(Clone, Debug)]
pub struct HostnameOperator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: KubeClient,
    settings: Settings,
    index: Mutex<HostIndex>,
    changed: Notify,
    /// Nobody ends a pause of a watch early.
    again: Arc<Notify>,
    started: Instant,
    /// Sent on whenever something may be another way than before.
    turns: watch::Sender<()>,
    leads: AtomicBool,
}

/// Says for as long as it is there that this replica works.
struct Leading<'a>(&'a AtomicBool);

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl HostnameOperator {
    /// An operator that has seen nothing yet.
    pub fn new(client: KubeClient, settings: Settings) -> Self {
        Self(Arc::new(Inner {
            client,
            index: Mutex::new(HostIndex::new(settings.clone())),
            settings,
            changed: Notify::new(),
            again: Arc::default(),
            started: Instant::now(),
            turns: watch::Sender::new(()),
            leads: AtomicBool::new(false),
        }))
    }

    /// Names that are not served from now on. Routes that are there stay.
    pub fn block(&self, blocked: BlockedHostnames) {
        self.index().block(blocked);
        self.0.changed.notify_one();
    }

    pub fn leads(&self) -> bool {
        self.0.leads.load(Ordering::Relaxed)
    }

    /// How things are, and what was counted.
    pub fn figures(&self) -> Figures {
        let (leads, index) = (self.leads(), self.index());
        let counts = index.counted().clone();
        Figures { hosts: index.states(), queue: index.queue(), leads, counts }
    }

    /// Tells whenever something may be another way than before.
    pub fn turns(&self) -> watch::Receiver<()> {
        self.0.turns.subscribe()
    }

    /// What is known, and what is to be done.
    pub fn index(&self) -> MutexGuard<'_, HostIndex> {
        self.0.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches and writes, for as long as this is polled. Dropped at any moment, it can be gone on
    /// with, here or by another one; but not by two at a time.
    pub async fn run(&self) -> Infallible {
        self.index().resume();
        self.0.leads.store(true, Ordering::Relaxed);
        let _leading = Leading(&self.0.leads);
        let Settings { manifest_namespace, routes, .. } = &self.0.settings;
        let mut watches = JoinSet::new();
        let own = Some(manifest_namespace.clone());
        for kind in [ResourceKind::HOST, ResourceKind::MANIFEST] {
            let source = Source { namespace: own.clone(), ..Source::everything(kind) };
            watches.spawn(self.follow(source));
        }
        for kind in [routes.kind(), routes.other_kind()] {
            let source = Source { labels: OURS, ..Source::everything(kind) };
            watches.spawn(self.follow(source));
        }
        watches.spawn(self.follow_backends());
        if let Routes::Gateway { name, namespace, .. } = routes {
            let gateway = Source {
                namespace: Some(namespace.clone()),
                fields: format!("metadata.name={name}"),
                ..Source::everything(ResourceKind::GATEWAY)
            };
            watches.spawn(self.follow(gateway));
            watches.spawn(self.follow(Source::everything(ResourceKind::GATEWAY_CLASS)));
        }
        let (mut writes, mut notices) = (JoinSet::new(), JoinSet::new());
        let mut follows_filters = false;
        loop {
            if !follows_filters && self.index().needs_filters() {
                let source =
                    Source { labels: OURS, ..Source::everything(ResourceKind::SNIPPETS_FILTER) };
                watches.spawn(self.follow(source));
                follows_filters = true;
            }
            self.begin(&mut writes);
            self.notify(&mut notices);
            self.0.turns.send_replace(());
            let due = self.index().due().map(|due| self.0.started + due);
            let has_place = writes.len() < WRITES;
            tokio::select! {
                () = self.0.changed.notified() => {}
                Some(done) = writes.join_next() => {
                    if let Ok((job, result)) = done {
                        self.end(&job, result);
                    }
                }
                Some(_) = notices.join_next() => {}
                () = sleep_until(due), if due.is_some() && has_place => {}
            }
        }
    }

    /// Begins as many writes as there are places.
    fn begin(&self, writes: &mut JoinSet<(Job, Result<Option<CachedObject>, Failure>)>) {
        let now = self.now();
        let mut index = self.index();
        while writes.len() < WRITES {
            let Some(job) = index.next(now) else {
                break;
            };
            let client = self.0.client.clone();
            writes.spawn(async move {
                let result = write(&client, &job.write).await;
                (job, result)
            });
        }
        for (host, reason) in index.news() {
            tracing::info!(host, why = reason.why, "no route is written for the hostname");
        }
    }

    /// Tells tenants about hosts of theirs that are not served. What cannot be told stays in the log.
    fn notify(&self, notices: &mut JoinSet<()>) {
        for notice in self.index().notices() {
            if notices.len() >= NOTICES {
                continue;
            }
            let (client, event) = (self.0.client.clone(), notice::event(&notice, Timestamp::now()));
            notices.spawn(async move {
                match client
                    .create(ResourceKind::EVENT, Some(&event.namespace), &event.object)
                    .await
                {
                    // It was told before.
                    Ok(_) | Err(Failure::Conflict(_)) => {}
                    Err(why) => tracing::debug!(%why, "a tenant was not told of a hostname"),
                }
            });
        }
    }

    fn end(&self, job: &Job, result: Result<Option<CachedObject>, Failure>) {
        match &result {
            Ok(_) => tracing::debug!(host = job.host, what = job.write.verb(), "route written"),
            Err(why) => {
                let what = job.write.verb();
                tracing::warn!(host = job.host, what, %why, "the route was not written");
            }
        }
        self.index().done(job, result, self.now());
    }

    /// Keeps one kind of object in the index.
    fn follow(&self, source: Source) -> impl Future<Output = ()> + Send + use<> {
        let (operator, kind) = (self.clone(), source.kind);
        let is_filter = kind == ResourceKind::SNIPPETS_FILTER;
        let is_needed = kind != self.0.settings.routes.other_kind();
        let mut last = String::new();
        let tell = move |told: WatchEvent<CachedObject>| {
            match told {
                WatchEvent::Synced(all) => operator.index().synced(kind, all),
                WatchEvent::Applied(shown) => operator.index().applied(kind, shown),
                WatchEvent::Deleted(shown) => operator.index().deleted(kind, &shown),
                WatchEvent::Connected => last.clear(),
                WatchEvent::Failed(failure) => {
                    let is_of_gateway =
                        kind == ResourceKind::GATEWAY || kind == ResourceKind::GATEWAY_CLASS;
                    if is_of_gateway && !matches!(failure, Failure::Unavailable { .. }) {
                        operator.index().cannot_see_gateway(kind);
                    }
                    let why = failure.to_string();
                    if why == last {
                        return;
                    }
                    // Of filters that were seen, what was seen last counts.
                    if is_filter && !operator.index().uses_filters() {
                        operator.index().has_no_filters();
                    }
                    // Clusters without the Gateway API are usual.
                    if is_needed {
                        tracing::warn!(kind = kind.name, why, "cannot watch; trying again");
                    } else {
                        tracing::debug!(kind = kind.name, why, "cannot watch; trying again");
                    }
                    last = why;
                }
            }
            operator.0.changed.notify_one();
        };
        follow(self.0.client.within(LISTS), source, tell, Arc::clone(&self.0.again))
    }

    /// Tells who answers for services.
    fn follow_backends(&self) -> impl Future<Output = ()> + Send + use<> {
        let operator = self.clone();
        let mut last = String::new();
        let tell = move |told: WatchEvent<EndpointSlice>| {
            let backends = &mut operator.index().backends;
            match told {
                WatchEvent::Synced(all) => backends.synced(&all),
                WatchEvent::Applied(slice) => backends.applied(&slice),
                WatchEvent::Deleted(slice) => backends.deleted(&slice),
                WatchEvent::Connected => {
                    backends.known(true);
                    last.clear();
                }
                WatchEvent::Failed(failure) => {
                    let why = failure.to_string();
                    backends.known(false);
                    if why != last {
                        let kind = ResourceKind::ENDPOINT_SLICE.name;
                        tracing::warn!(kind, why, "cannot watch; who answers is not known");
                        last = why;
                    }
                }
            }
            operator.0.turns.send_replace(());
        };
        let source = Source { labels: OURS, ..Source::everything(ResourceKind::ENDPOINT_SLICE) };
        follow(self.0.client.within(LISTS), source, tell, Arc::clone(&self.0.again))
    }

    fn now(&self) -> Moment {
        Moment { since_start: self.0.started.elapsed(), time: Timestamp::now() }
    }
}

impl Write {
    pub(super) const fn verb(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Replace { .. } => "replace",
            Self::Delete { .. } => "delete",
        }
    }
}

/// Does one write; the object as it is then, if it is there.
async fn write(client: &KubeClient, write: &Write) -> Result<Option<CachedObject>, Failure> {
    let answer = match write {
        Write::Create { kind, namespace, object } => {
            client.create(*kind, Some(namespace), object).await?
        }
        Write::Replace { kind, namespace, name, object } => {
            client.replace(*kind, Some(namespace), name, object).await?
        }
        Write::Delete { kind, namespace, name, exactly } => {
            client.delete(*kind, Some(namespace), name, exactly.clone()).await?;
            return Ok(None);
        }
    };
    let unread = |error| Failure::unavailable(format!("an answer cannot be read: {error}"));
    CachedObject::new(answer).map(Some).map_err(unread)
}

async fn sleep_until(due: Option<Instant>) {
    if let Some(due) = due {
        tokio::time::sleep_until(due).await;
    }
}
