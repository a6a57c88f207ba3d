//! What happened to a lease, and what happens.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use akash_types::LeaseId;
use futures_util::StreamExt;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::jiff::Timestamp;
use kube::core::WatchEvent;
use kube_access::{Failure, KubeClient, ResourceKind, Selector};
use provider_engine::cluster::port::{
    ClusterEvent, EventQuery, EventStream, Missing, ReadFailure, ServiceChoice,
};
use tokio::sync::mpsc;

use super::{Look, is_there};
use crate::apply::of_read;
use crate::status;
use crate::watch::Shared;

const WAITING: usize = 64;
/// Events that are remembered, so that none is told twice when all are read again.
const REMEMBERED: usize = 4096;
/// How long one watch lasts, in seconds.
const LASTS: u32 = 55;
/// How long to wait after a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// Events of a lease, as they come.
#[derive(Debug)]
pub struct KubeEvents {
    events: mpsc::Receiver<Result<ClusterEvent, ReadFailure>>,
}

impl EventStream for KubeEvents {
    async fn next(&mut self) -> Result<Option<ClusterEvent>, ReadFailure> {
        self.events.recv().await.transpose()
    }
}

pub(crate) async fn events(
    client: &KubeClient,
    shared: &Arc<Shared>,
    id: LeaseId,
    query: EventQuery,
) -> Result<KubeEvents, ReadFailure> {
    let look = Look::at(shared, id)?;
    look.has(&query.services)?;
    let namespace = look.lease.namespace.clone();
    let listed = client.list::<Event>(ResourceKind::EVENT, Some(&namespace), Selector::default());
    let listed = listed.await.map_err(of_read)?;
    let (told, events) = mpsc::channel(WAITING);
    let teller = Teller {
        names: look.lease.services.iter().map(|service| service.name().to_owned()).collect(),
        services: query.services,
        seen: BTreeSet::new(),
        told,
    };
    let (client, shared) = (client.clone(), Arc::clone(shared));
    tokio::spawn(async move {
        let mut teller = teller;
        let mut version = listed.version;
        if teller.tell(in_order(listed.items)).await.is_none() || !query.follow {
            return;
        }
        while let Some(next) = follow(&client, &shared, &namespace, version, &mut teller).await {
            version = next;
        }
    });
    Ok(KubeEvents { events })
}

pub(super) fn in_order(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by_key(when);
    events
}

fn when(event: &Event) -> Option<Timestamp> {
    let last = event.series.as_ref().map(|series| series.last_observed_time.0);
    let deprecated = event.deprecated_last_timestamp.as_ref().map(|at| at.0);
    let first = event.event_time.as_ref().map(|at| at.0);
    let made = event.metadata.creation_timestamp.as_ref().map(|at| at.0);
    last.or(deprecated).or(first).or(made)
}

/// Tells what was not told before.
struct Teller {
    names: Vec<String>,
    services: ServiceChoice,
    seen: BTreeSet<(String, String)>,
    told: mpsc::Sender<Result<ClusterEvent, ReadFailure>>,
}

impl Teller {
    /// `None` if nobody listens.
    async fn tell(&mut self, events: Vec<Event>) -> Option<()> {
        for event in events {
            let metadata = &event.metadata;
            let key = (metadata.uid.clone(), metadata.resource_version.clone());
            if self.seen.len() >= REMEMBERED {
                self.seen.clear();
            }
            if !self.seen.insert((key.0.unwrap_or_default(), key.1.unwrap_or_default())) {
                continue;
            }
            let event = status::event(&event, self.names.iter().map(String::as_str));
            let is_meant = match (&self.services, &event.service) {
                (ServiceChoice::All, _) => true,
                (services, Some(service)) => services.includes(service),
                (ServiceChoice::Named(_), None) => false,
            };
            if is_meant {
                self.told.send(Ok(event)).await.ok()?;
            }
        }
        Some(())
    }
}

/// Tells what happens until a watch ends; from where to go on, or `None` if nobody listens or the
/// lease is gone.
async fn follow(
    client: &KubeClient,
    shared: &Arc<Shared>,
    namespace: &str,
    version: String,
    teller: &mut Teller,
) -> Option<String> {
    let mut turns = shared.turns();
    let gone = async {
        while is_there(shared, namespace) != Some(false) {
            turns.changed().await.ok()?;
        }
        Some(())
    };
    let told = teller.told.clone();
    tokio::select! {
        next = watch(client, namespace, version, teller) => match next {
            Ok(next) => next,
            Err(_) => {
                tokio::time::sleep(PAUSE).await;
                // What happened meanwhile is read, and told if it was not told.
                Some(String::new())
            }
        },
        Some(()) = gone => {
            let _ = told.send(Err(ReadFailure::NotFound(Missing::Lease))).await;
            None
        }
        () = told.closed() => None,
    }
}

async fn watch(
    client: &KubeClient,
    namespace: &str,
    mut version: String,
    teller: &mut Teller,
) -> Result<Option<String>, Failure> {
    if version.is_empty() {
        let listed =
            client.list::<Event>(ResourceKind::EVENT, Some(namespace), Selector::default()).await?;
        let told = teller.tell(in_order(listed.items)).await;
        return Ok(told.map(|()| listed.version));
    }
    let events = client.watch::<Event>(
        ResourceKind::EVENT,
        Some(namespace),
        Selector::default(),
        LASTS,
        &version,
    );
    let mut events = std::pin::pin!(events.await?);
    while let Some(event) = events.next().await {
        match event? {
            WatchEvent::Added(event) | WatchEvent::Modified(event) => {
                version = event.metadata.resource_version.clone().unwrap_or(version);
                if teller.tell(vec![event]).await.is_none() {
                    return Ok(None);
                }
            }
            WatchEvent::Bookmark(mark) => version = mark.metadata.resource_version,
            WatchEvent::Deleted(_) => {}
            // Where it was is forgotten.
            WatchEvent::Error(_) => return Ok(Some(String::new())),
        }
    }
    Ok(Some(version))
}
