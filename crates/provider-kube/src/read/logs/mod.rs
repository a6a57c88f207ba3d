//! What the containers of a lease wrote, and write.
//!
//! ```text
//!            turns of the cache: pods come and go
//!                       │
//! supervisor ── reader per pod ── lines ──▶ bounded queue ──▶ KubeLines
//! ```
//!
//! Services are followed, not pods: a reader is begun for every pod that comes, and goes on with
//! the next container when one ends.

mod lines;
mod queue;
mod reader;

use std::collections::BTreeSet;
use std::sync::Arc;

use akash_types::LeaseId;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::Client;
use kube_access::KubeClient;
use provider_engine::cluster::port::{LogLines, LogPart, LogQuery, Missing, ReadFailure};
use reader::Reader;
use tokio::task::JoinSet;

use super::{Look, goes_on, replicas};
use crate::observe::replica::exit;
use crate::watch::Shared;

/// Parts of logs, as they come.
#[derive(Debug)]
pub struct KubeLines {
    parts: queue::Receiver,
}

impl LogLines for KubeLines {
    async fn next(&mut self) -> Result<Option<LogPart>, ReadFailure> {
        self.parts.next_part().await.transpose()
    }
}

pub(crate) fn logs(
    client: &KubeClient,
    streams: &Client,
    shared: &Arc<Shared>,
    id: LeaseId,
    query: LogQuery,
) -> Result<KubeLines, ReadFailure> {
    let look = Look::at(shared, id)?.deployed()?;
    look.has(&query.services)?;
    let (told, parts) = queue::queue();
    let supervisor = Supervisor {
        client: client.clone(),
        streams: streams.clone(),
        shared: Arc::clone(shared),
        namespace: look.lease.namespace,
        query,
        told,
    };
    tokio::spawn(supervisor.run());
    Ok(KubeLines { parts })
}

struct Supervisor {
    client: KubeClient,
    streams: Client,
    shared: Arc<Shared>,
    namespace: String,
    query: LogQuery,
    told: queue::Sender,
}

impl Supervisor {
    async fn run(self) {
        let mut readers = JoinSet::new();
        let mut begun = BTreeSet::new();
        let mut turns = self.shared.turns();
        self.begin(&mut begun, &mut readers, self.query.tail);
        if !self.query.follow || self.query.previous {
            while readers.join_next().await.is_some() {}
            return;
        }
        loop {
            tokio::select! {
                () = self.told.closed() => return,
                turn = turns.changed() => {
                    if turn.is_err() {
                        return;
                    }
                }
                Some(_) = readers.join_next() => {}
            }
            match goes_on(&self.shared, &self.namespace) {
                None => {}
                Some(false) => {
                    readers.abort_all();
                    let _ = self.told.send(Err(ReadFailure::NotFound(Missing::Lease))).await;
                    return;
                }
                // What a pod that came since has written is new, all of it.
                Some(true) => self.begin(&mut begun, &mut readers, None),
            }
        }
    }

    /// Begins to read every replica that is meant and is not read yet.
    fn begin(&self, begun: &mut BTreeSet<String>, readers: &mut JoinSet<()>, tail: Option<u64>) {
        for replica in replicas(&self.shared, &self.namespace) {
            let is_meant = self.query.services.includes(&replica.service);
            if !is_meant || !begun.insert(replica.uid.clone()) {
                continue;
            }
            let reader = Reader {
                client: self.client.clone(),
                streams: self.streams.clone(),
                shared: Arc::clone(&self.shared),
                replica,
                tail,
                told: self.told.clone(),
            };
            let (follow, previous) = (self.query.follow, self.query.previous);
            readers.spawn(async move {
                if follow && !previous {
                    reader.follow().await;
                } else {
                    reader.read(previous).await;
                }
            });
        }
    }
}

/// Where a container is in its life. Instances are counted by restarts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Container {
    /// It never started: it has written nothing.
    Waiting,
    Running(i32),
    Ended(i32, String),
}

fn container(pod: &Pod, service: &str) -> Container {
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref());
    let Some(status) = statuses.into_iter().flatten().find(|status| status.name == service) else {
        return Container::Waiting;
    };
    let state = status.state.as_ref();
    if state.is_some_and(|state| state.running.is_some()) {
        return Container::Running(status.restart_count);
    }
    match ended(status) {
        Some(how) => Container::Ended(status.restart_count, how),
        None => Container::Waiting,
    }
}

fn ended(status: &ContainerStatus) -> Option<String> {
    let states = [&status.state, &status.last_state];
    let over = states.into_iter().find_map(|state| state.as_ref()?.terminated.as_ref())?;
    Some(exit(over.exit_code, over.reason.as_deref()))
}

/// How many instances there were before the one that runs or ran last.
fn has_previous(pod: &Pod, service: &str) -> bool {
    match container(pod, service) {
        Container::Waiting => false,
        Container::Running(restarts) | Container::Ended(restarts, _) => restarts > 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn at(state: Value, last: Value, restarts: i32) -> Container {
        let pod = json!({"metadata": {}, "status": {"containerStatuses": [{
            "name": "web", "image": "", "imageID": "", "ready": true, "restartCount": restarts,
            "state": state, "lastState": last,
        }]}});
        container(&serde_json::from_value(pod).unwrap(), "web")
    }

    #[test]
    fn a_container_between_two_starts_has_ended() {
        let over = json!({"terminated": {"exitCode": 3}});
        let words = || "it ended with exit code 3".to_owned();
        let waiting = || json!({"waiting": {"reason": "CrashLoopBackOff"}});
        assert_eq!(at(waiting(), json!({}), 0), Container::Waiting);
        assert_eq!(at(json!({"running": {}}), over.clone(), 2), Container::Running(2));
        assert_eq!(at(waiting(), over.clone(), 2), Container::Ended(2, words()));
        assert_eq!(at(over, json!({}), 0), Container::Ended(0, words()));
        assert_eq!(container(&Pod::default(), "web"), Container::Waiting);
    }
}
