//! One replica's log.

use std::sync::Arc;
use std::time::Duration;

use futures_util::AsyncReadExt;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use kube::api::{Api, LogParams};
use kube_access::{Failure, KubeClient, ResourceKind};
use provider_engine::cluster::port::LogPart;

use super::lines::{Lines, Piece};
use super::queue::{Deaf, Sender};
use super::{Container, container, has_previous};
use crate::apply::of_read;
use crate::read::Replica;
use crate::watch::Shared;

/// How long to wait before a log that broke off is read on.
const PAUSE: Duration = Duration::from_secs(1);

/// After how long of silence to look whether the way to the log still is one.
const QUIET: Duration = Duration::from_mins(2);

pub(super) struct Reader {
    pub(super) client: KubeClient,
    pub(super) streams: Client,
    pub(super) shared: Arc<Shared>,
    pub(super) replica: Replica,
    /// How many of the newest lines of the first container.
    pub(super) tail: Option<u64>,
    pub(super) told: Sender,
}

impl Reader {
    pub(super) async fn read(self, previous: bool) {
        let pod = self.pod();
        let has_any = pod.as_deref().is_some_and(|pod| match previous {
            true => has_previous(pod, &self.replica.service),
            false => container(pod, &self.replica.service) != Container::Waiting,
        });
        if !has_any {
            return;
        }
        let mut lines = Lines::default();
        let how = LogParams { previous, tail_lines: self.tail(), ..self.usual() };
        match self.stream(&how, &mut lines).await {
            // A container that is gone or has not started has nothing to read.
            Ok(Ok(()) | Err(Failure::NotFound(_) | Failure::Refused(_))) | Err(Deaf) => {}
            Ok(Err(failure)) => {
                self.shared.doubts(&failure);
                let _ = self.told.send(Err(of_read(failure))).await;
            }
        }
    }

    /// Reads what there is and what comes, container after container, until the pod is gone.
    pub(super) async fn follow(mut self) {
        let mut newest = None;
        let mut last = None;
        let mut turns = self.shared.turns();
        loop {
            // A container that was read to its end is not read again.
            let next = loop {
                let Some(pod) = self.pod() else {
                    let _ = self.pause("the replica has ended".to_owned(), last.is_some()).await;
                    return;
                };
                match container(&pod, &self.replica.service) {
                    Container::Running(instance) if last.is_none_or(|last| instance > last) => {
                        break instance;
                    }
                    Container::Ended(instance, _) if last.is_none_or(|last| instance > last) => {
                        break instance;
                    }
                    _ => {}
                }
                if turns.changed().await.is_err() {
                    return;
                }
            };
            match self.instance(next, &mut newest).await {
                Ok((ended, note)) => {
                    last = Some(ended);
                    let missed = ended > next;
                    let note = if missed { format!("{note}; lines may be missing") } else { note };
                    if self.pause(note, true).await.is_err() {
                        return;
                    }
                }
                Err(Deaf) => return,
            }
            self.tail = None;
        }
    }

    /// Reads one container to its end; which one had ended by then, and how.
    async fn instance(
        &self,
        instance: i32,
        newest: &mut Option<Timestamp>,
    ) -> Result<(i32, String), Deaf> {
        let mut tail = self.tail();
        // With a tail, what was written before is not wanted later either.
        let begun = tail.map(|_| Timestamp::now());
        loop {
            let mut lines = Lines::after(*newest);
            let since_time = newest.or(begun).filter(|_| tail.is_none());
            let how = LogParams { follow: true, since_time, tail_lines: tail, ..self.usual() };
            let result = self.stream(&how, &mut lines).await?;
            *newest = lines.newest();
            tail = None;
            // Whether the container ended, or only the way to its log, the API server knows.
            let namespace = Some(self.replica.namespace.as_str());
            let pod = self.client.get(ResourceKind::POD, namespace, &self.replica.name).await;
            let pod = pod.map(|pod| {
                let pod = pod.and_then(|pod| serde_json::from_value::<Pod>(pod).ok());
                pod.filter(|pod| pod.metadata.uid.as_deref() == Some(&self.replica.uid))
            });
            match pod {
                Ok(None) => return Ok((instance, "the replica has ended".to_owned())),
                Ok(Some(pod)) => match container(&pod, &self.replica.service) {
                    Container::Ended(ended, how) => return Ok((ended, how)),
                    Container::Running(running) if running > instance => {
                        return Ok((running - 1, "its container was started again".to_owned()));
                    }
                    // It runs on: what it writes is read on.
                    Container::Running(_) | Container::Waiting => {}
                },
                Err(failure) => self.shared.doubts(&failure),
            }
            if result.is_err() {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Tells lines until the log ends.
    async fn stream(
        &self,
        how: &LogParams,
        lines: &mut Lines,
    ) -> Result<Result<(), Failure>, Deaf> {
        let api: Api<Pod> = Api::namespaced(self.streams.clone(), &self.replica.namespace);
        let mut log = match api.log_stream(&self.replica.name, how).await {
            Ok(log) => std::pin::pin!(log),
            Err(error) => return Ok(Err(error.into())),
        };
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let read = tokio::select! {
                read = log.read(&mut buffer) => read,
                () = self.told.closed() => return Err(Deaf),
                () = tokio::time::sleep(QUIET) => {
                    self.tell(lines.end()).await?;
                    return Ok(Err(Failure::unavailable("nothing was written for long")));
                }
            };
            match read {
                Ok(0) => {
                    self.tell(lines.end()).await?;
                    return Ok(Ok(()));
                }
                Ok(read) => self.tell(lines.feed(buffer.get(..read).unwrap_or_default())).await?,
                Err(error) => {
                    self.tell(lines.end()).await?;
                    return Ok(Err(Failure::unavailable(error.to_string())));
                }
            }
        }
    }

    async fn tell(&self, pieces: Vec<Piece>) -> Result<(), Deaf> {
        for Piece { text, continues } in pieces {
            let Replica { service, name, .. } = &self.replica;
            let (service, replica) = (service.clone(), name.clone());
            let part = LogPart::Text { service, replica, text, continues };
            self.told.send(Ok(part)).await?;
        }
        Ok(())
    }

    async fn pause(&self, note: String, was_read: bool) -> Result<(), Deaf> {
        if !was_read {
            return Ok(());
        }
        let Replica { service, name, .. } = &self.replica;
        let part = LogPart::Break { service: service.clone(), replica: name.clone(), note };
        self.told.send(Ok(part)).await
    }

    fn usual(&self) -> LogParams {
        let container = Some(self.replica.service.clone());
        LogParams { container, timestamps: true, ..LogParams::default() }
    }

    fn tail(&self) -> Option<i64> {
        self.tail.map(|tail| i64::try_from(tail).unwrap_or(i64::MAX))
    }

    /// The pod as it was last seen; `None` if it is gone.
    fn pod(&self) -> Option<Arc<Pod>> {
        let cache = self.shared.cache();
        let pod = cache.entry(&self.replica.namespace)?.pods.get(&self.replica.name)?;
        (pod.metadata.uid.as_deref() == Some(&self.replica.uid)).then(|| Arc::clone(pod))
    }
}
