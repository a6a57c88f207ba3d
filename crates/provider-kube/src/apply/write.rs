//! One object, written at most once.

use std::time::Duration;

use akash_types::Backoff;
use kube_access::merge::{Merged, Occasion, merge};
use kube_access::{Failure, KubeClient, Preconditions, ResourceKind};
use provider_engine::cluster::command::CommandFailure;
use serde_json::Value;

use crate::apply::of_command;
use crate::build::Object;
use crate::watch::{CachedObject, Shared};

/// How often an object is read again because somebody else wrote it.
const CONFLICTS: u32 = 5;

#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) shown: CachedObject,
    pub(super) is_new: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Writer<'a> {
    pub(super) client: &'a KubeClient,
    pub(super) shared: &'a Shared,
}

impl Writer<'_> {
    /// Makes an object be there as it is wanted. `amend` adds what is written along when something
    /// is written anyway; what is there `stays` as it is where it should by now.
    pub(super) async fn write(
        &self,
        object: &Object,
        occasion: Occasion,
        amend: impl Fn(&mut Value) + Send + Sync,
        stays: impl Fn() -> bool + Send + Sync,
    ) -> Result<Written, CommandFailure> {
        let refused = |why: String| CommandFailure::Refused(format!("{}: {why}", title(object)));
        let wanted = object.to_json().map_err(|error| refused(error.to_string()))?;
        let kind =
            ResourceKind::named(object.kind()).ok_or_else(|| refused("unknown kind".to_owned()))?;
        let name = object.metadata().name.clone().unwrap_or_default();
        let namespace = object.metadata().namespace.clone();
        let seen = self.seen(kind, namespace.as_deref(), &name);
        let mut existing = seen.as_ref().map(|shown| shown.json(kind));
        let (mut tries, mut conflicts) = (0, 0);
        loop {
            let namespace = namespace.as_deref();
            let result = match &existing {
                None => {
                    let mut object = wanted.clone();
                    amend(&mut object);
                    self.client.create(kind, namespace, &object).await
                }
                Some(there) if there.pointer("/metadata/deletionTimestamp").is_some() => {
                    let why = "what was there is still being deleted";
                    return Err(CommandFailure::Unavailable(format!("{}: {why}", title(object))));
                }
                Some(there) if stays() => return unchanged(there).map_err(refused),
                Some(there) => match merge(there, &wanted, occasion) {
                    Err(error) => return Err(refused(error.to_string())),
                    Ok(Merged::Unchanged) => return unchanged(there).map_err(refused),
                    Ok(Merged::Replace(mut merged)) => {
                        amend(&mut merged);
                        self.client.replace(kind, namespace, &name, &merged).await
                    }
                },
            };
            let failure = match result {
                Ok(answer) => return self.took(kind, answer).map_err(|why| told(object, why)),
                Err(failure) => failure,
            };
            tries += 1;
            let is_stale = matches!(failure, Failure::Conflict(_))
                || (matches!(failure, Failure::NotFound(_)) && existing.is_some());
            if is_stale && conflicts < CONFLICTS {
                conflicts += 1;
                existing =
                    self.read(kind, namespace, &name).await.map_err(|it| told(object, it))?;
            } else {
                self.wait(tries, failure).await.map_err(|failure| told(object, failure))?;
                // Whether it was written although no answer came is found out by trying.
            }
        }
    }

    /// Writes an object that was read, if nobody else wrote it since.
    pub(super) async fn put(
        &self,
        kind: ResourceKind,
        object: &Value,
    ) -> Result<CachedObject, Failure> {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let name = text("/metadata/name").unwrap_or_default();
        let namespace = text("/metadata/namespace");
        let answer = self.retry(|| async {
            match text("/metadata/resourceVersion") {
                Some(_) => self.client.replace(kind, namespace, name, object).await,
                None => self.client.create(kind, namespace, object).await,
            }
        });
        self.took(kind, answer.await?).map(|written| written.shown)
    }

    /// Reads an object that others write too.
    pub(super) async fn read(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>, Failure> {
        self.retry(|| self.client.get(kind, namespace, name)).await
    }

    pub(super) async fn delete(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
        exactly: Preconditions,
    ) -> Result<(), Failure> {
        self.retry(|| self.client.delete(kind, namespace, name, exactly.clone())).await
    }

    pub(super) async fn delete_all(
        &self,
        kind: ResourceKind,
        namespace: &str,
        selector: &str,
    ) -> Result<(), Failure> {
        self.retry(|| self.client.delete_all(kind, namespace, selector)).await
    }

    /// Repeats a request as long as `pause` allows.
    async fn retry<T, F>(&self, request: impl Fn() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let mut tries = 0;
        loop {
            match request().await {
                Ok(answer) => return Ok(answer),
                Err(failure) => {
                    tries += 1;
                    self.wait(tries, failure).await?;
                }
            }
        }
    }

    /// What the watches show of it.
    fn seen(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Option<std::sync::Arc<CachedObject>> {
        let cache = self.shared.cache();
        match kind {
            ResourceKind::MANIFEST | ResourceKind::HOST | ResourceKind::LEASED_IP => {
                cache.named(kind, name)
            }
            ResourceKind::NAMESPACE => cache.get(kind, name, name),
            _ => cache.get(kind, namespace?, name),
        }
    }

    fn took(&self, kind: ResourceKind, answer: Value) -> Result<Written, Failure> {
        let unread = |error| Failure::unavailable(format!("an answer cannot be read: {error}"));
        let shown = CachedObject::new(answer).map_err(unread)?;
        self.shared.wrote(kind, shown.clone());
        Ok(Written { shown, is_new: true })
    }

    /// Waits for the next try, if there is to be one.
    async fn wait(&self, tries: u32, failure: Failure) -> Result<(), Failure> {
        match pause(tries, &failure) {
            Some(pause) => {
                tokio::time::sleep(pause).await;
                Ok(())
            }
            None => {
                self.shared.doubts(&failure);
                Err(failure)
            }
        }
    }
}

fn unchanged(there: &Value) -> Result<Written, String> {
    let shown = CachedObject::new(there.clone()).map_err(|error| error.to_string())?;
    Ok(Written { shown, is_new: false })
}

fn told(object: &Object, failure: Failure) -> CommandFailure {
    match of_command(failure) {
        CommandFailure::Refused(why) => {
            CommandFailure::Refused(format!("{}: {why}", title(object)))
        }
        CommandFailure::Unavailable(why) => {
            CommandFailure::Unavailable(format!("{}: {why}", title(object)))
        }
    }
}

fn title(object: &Object) -> String {
    format!("{} {}", object.kind(), object.metadata().name.as_deref().unwrap_or_default())
}

/// How often a call is tried at most.
const TRIES: u32 = 4;
/// How often it is tried when no answer comes: each try takes long.
const SILENT_TRIES: u32 = 2;
/// The longest wait that the API server may ask for.
const LONGEST: Duration = Duration::from_secs(10);

/// How long to wait before the next try, after `tries` that ended with `failure`; `None` if there is
/// to be none.
fn pause(tries: u32, failure: &Failure) -> Option<Duration> {
    let Failure::Unavailable { after, silent, .. } = failure else {
        return None;
    };
    if tries >= if *silent { SILENT_TRIES } else { TRIES } {
        return None;
    }
    let grown = Backoff { first: Duration::from_millis(200), most: LONGEST }.after(tries, 0);
    match after {
        // Who is to come back later than that is told so, and comes back as a new command.
        Some(after) if *after > LONGEST => None,
        after => Some(grown.max(after.unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unavailable(after: Option<u64>, silent: bool) -> Failure {
        Failure::Unavailable { why: String::new(), after: after.map(Duration::from_secs), silent }
    }

    #[test]
    fn only_what_may_help_is_repeated_and_not_for_long() {
        let millis = |tries, failure: &Failure| pause(tries, failure).map(|it| it.as_millis());
        let busy = unavailable(None, false);
        assert_eq!([1, 2, 3, 4].map(|n| millis(n, &busy)), [Some(200), Some(400), Some(800), None]);
        let silent = unavailable(None, true);
        assert_eq!([1, 2].map(|n| millis(n, &silent)), [Some(200), None]);
        assert_eq!(millis(1, &unavailable(Some(3), false)), Some(3000));
        assert_eq!(millis(1, &unavailable(Some(60), false)), None);
        for failure in [
            Failure::Refused(String::new()),
            Failure::NotFound(String::new()),
            Failure::Conflict(String::new()),
        ] {
            assert_eq!(pause(1, &failure), None);
        }
    }
}
