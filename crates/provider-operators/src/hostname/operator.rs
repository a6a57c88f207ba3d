//! The operator: watches what decisions are made from, and writes what was decided.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::jiff::Timestamp;
use provider_engine::manifest::BlockedHostnames;
use provider_kube::client::{Calls, Failure, Kind};
use provider_kube::follow::{Shown, Source, Told, follow};
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::figures::Figures;
use super::notice;
use super::reconcile::{Board, Job, Moment, Write};
use super::settings::{Implementation, Routes, Settings};

/// Selects what the provider made.
const OURS: &str = "akash.network=true";
/// Writes at once. An API server has places for more, but others want some of them.
const WRITES: usize = 16;
/// Notices at once; more are not sent.
const NOTICES: usize = 8;
/// Pauses between tries to read who serves the gateway.
const READS: [Duration; 4] = [Duration::from_secs(1); 4];
/// How long a page of a list may take.
const LISTS: Duration = Duration::from_secs(30);

/// The hostname operator. Clones are the same one; it works as long as [`run`](Self::run) is polled.
#[derive(Clone, Debug)]
pub struct HostnameOperator(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    calls: Calls,
    settings: Settings,
    board: Mutex<Board>,
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
    #[must_use]
    pub fn new(calls: Calls, settings: Settings) -> Self {
        Self(Arc::new(Inner {
            calls,
            board: Mutex::new(Board::new(settings.clone())),
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
        self.board().block(blocked);
        self.0.changed.notify_one();
    }

    /// Whether this replica works.
    #[must_use]
    pub fn leads(&self) -> bool {
        self.0.leads.load(Ordering::Relaxed)
    }

    /// How things are, and what was counted.
    #[must_use]
    pub fn figures(&self) -> Figures {
        let (leads, board) = (self.leads(), self.board());
        let counts = board.counted().clone();
        Figures { hosts: board.states(), queue: board.queue(), leads, counts }
    }

    /// Tells whenever something may be another way than before.
    #[must_use]
    pub fn turns(&self) -> watch::Receiver<()> {
        self.0.turns.subscribe()
    }

    /// What is known, and what is to be done.
    pub fn board(&self) -> MutexGuard<'_, Board> {
        self.0.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches and writes, for as long as this is polled. Dropped at any moment, it can be gone on
    /// with, here or by another one; but not by two at a time.
    pub async fn run(&self) -> Infallible {
        self.board().resume();
        self.0.leads.store(true, Ordering::Relaxed);
        let _leading = Leading(&self.0.leads);
        let Settings { manifest_namespace, routes, .. } = &self.0.settings;
        let mut watches = JoinSet::new();
        let own = Some(manifest_namespace.clone());
        for kind in [Kind::HOST, Kind::MANIFEST] {
            let source = Source { namespace: own.clone(), ..Source::everything(kind) };
            watches.spawn(self.follow(source));
        }
        for kind in [routes.kind(), routes.other_kind()] {
            let source = Source { labels: OURS, ..Source::everything(kind) };
            watches.spawn(self.follow(source));
        }
        watches.spawn(self.follow_backends());
        if let Routes::Gateway { name, namespace, .. } = routes {
            let implementation = implementation(&self.0.calls, namespace, name).await;
            tracing::info!(?implementation, gateway = name, "gateway found");
            let has_filters = implementation == Implementation::Nginx;
            self.board().serves(implementation);
            if has_filters {
                let source = Source { labels: OURS, ..Source::everything(Kind::SNIPPETS_FILTER) };
                watches.spawn(self.follow(source));
            }
        }
        let (mut writes, mut notices) = (JoinSet::new(), JoinSet::new());
        loop {
            self.begin(&mut writes);
            self.notify(&mut notices);
            self.0.turns.send_replace(());
            let due = self.board().due().map(|due| self.0.started + due);
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
    fn begin(&self, writes: &mut JoinSet<(Job, Result<Option<Shown>, Failure>)>) {
        let now = self.now();
        let mut board = self.board();
        while writes.len() < WRITES {
            let Some(job) = board.next(now) else {
                break;
            };
            let calls = self.0.calls.clone();
            writes.spawn(async move {
                let result = write(&calls, &job.write).await;
                (job, result)
            });
        }
        for (host, reason) in board.news() {
            tracing::info!(host, why = reason.why, "no route is written for the hostname");
        }
    }

    /// Tells tenants about hosts of theirs that are not served. What cannot be told stays in the log.
    fn notify(&self, notices: &mut JoinSet<()>) {
        for notice in self.board().notices() {
            if notices.len() >= NOTICES {
                continue;
            }
            let (calls, event) = (self.0.calls.clone(), notice::event(&notice, Timestamp::now()));
            notices.spawn(async move {
                match calls.create(Kind::EVENT, Some(&event.namespace), &event.object).await {
                    // It was told before.
                    Ok(_) | Err(Failure::Conflict(_)) => {}
                    Err(why) => tracing::debug!(%why, "a tenant was not told of a hostname"),
                }
            });
        }
    }

    fn end(&self, job: &Job, result: Result<Option<Shown>, Failure>) {
        match &result {
            Ok(_) => tracing::debug!(host = job.host, what = job.write.verb(), "route written"),
            Err(why) => {
                let what = job.write.verb();
                tracing::warn!(host = job.host, what, %why, "the route was not written");
            }
        }
        self.board().done(job, result, self.now());
    }

    /// Tells the board what one kind of object is like.
    fn follow(&self, source: Source) -> impl Future<Output = ()> + Send + use<> {
        let (operator, kind) = (self.clone(), source.kind);
        let is_filter = kind == Kind::SNIPPETS_FILTER;
        let is_needed = kind != self.0.settings.routes.other_kind();
        let mut last = String::new();
        let tell = move |told: Told<Shown>| {
            match told {
                Told::All(all) => operator.board().all(kind, all),
                Told::Is(shown) => operator.board().is(kind, shown),
                Told::Gone(shown) => operator.board().gone(kind, &shown),
                Told::Live => last.clear(),
                Told::Broken(why) if why == last => {}
                Told::Broken(why) => {
                    // Of filters that were seen, what was seen last counts.
                    if is_filter && !operator.board().uses_filters() {
                        operator.board().has_no_filters();
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
        follow(self.0.calls.within(LISTS), source, tell, Arc::clone(&self.0.again))
    }

    /// Tells who answers for services.
    fn follow_backends(&self) -> impl Future<Output = ()> + Send + use<> {
        let operator = self.clone();
        let mut last = String::new();
        let tell = move |told: Told<EndpointSlice>| {
            let backends = &mut operator.board().backends;
            match told {
                Told::All(all) => backends.all(&all),
                Told::Is(slice) => backends.is(&slice),
                Told::Gone(slice) => backends.gone(&slice),
                Told::Live => {
                    backends.known(true);
                    last.clear();
                }
                Told::Broken(why) => {
                    backends.known(false);
                    if why != last {
                        let kind = Kind::ENDPOINT_SLICE.name;
                        tracing::warn!(kind, why, "cannot watch; who answers is not known");
                        last = why;
                    }
                }
            }
            operator.0.turns.send_replace(());
        };
        let source = Source { labels: OURS, ..Source::everything(Kind::ENDPOINT_SLICE) };
        follow(self.0.calls.within(LISTS), source, tell, Arc::clone(&self.0.again))
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
async fn write(calls: &Calls, write: &Write) -> Result<Option<Shown>, Failure> {
    let answer = match write {
        Write::Create { kind, namespace, object } => {
            calls.create(*kind, Some(namespace), object).await?
        }
        Write::Replace { kind, namespace, name, object } => {
            calls.replace(*kind, Some(namespace), name, object).await?
        }
        Write::Delete { kind, namespace, name, exactly } => {
            calls.delete(*kind, Some(namespace), name, exactly.clone()).await?;
            return Ok(None);
        }
    };
    let unread = |error| Failure::unavailable(format!("an answer cannot be read: {error}"));
    Shown::new(answer).map(Some).map_err(unread)
}

/// Which program serves a gateway. Where that cannot be found out, routes are as they always were.
async fn implementation(calls: &Calls, namespace: &str, name: &str) -> Implementation {
    let read = async |kind: Kind, namespace: Option<&str>, name: &str| {
        for pause in READS {
            match calls.get(kind, namespace, name).await {
                Err(Failure::Unavailable { .. }) => tokio::time::sleep(pause).await,
                Err(why) => {
                    tracing::info!(%why, kind = kind.name, "cannot find out who serves the gateway");
                    return None;
                }
                Ok(found) => return found,
            }
        }
        None
    };
    let text = |object: &Value, pointer: &str| {
        object.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
    };
    let found = async {
        let gateway = read(Kind::GATEWAY, Some(namespace), name).await?;
        let class = text(&gateway, "/spec/gatewayClassName")?;
        let class = read(Kind::GATEWAY_CLASS, None, &class).await?;
        text(&class, "/spec/controllerName")
    };
    found.await.map_or(Implementation::Unknown, |controller| Implementation::of(&controller))
}

async fn sleep_until(due: Option<Instant>) {
    if let Some(due) = due {
        tokio::time::sleep_until(due).await;
    }
}
