//! One object, written at most once.

use std::time::Duration;

use akash_types::Backoff;
use kube_access::merge::{MergeError, Merged, Occasion, merge};
use kube_access::{Failure, KubeClient, Preconditions, ResourceKind};
use serde_json::Value;

use super::ApplyError;
use crate::build::Object;
use crate::watch::{CachedObject, Shared};

/// How often an object is read again because somebody else wrote it.
const CONFLICTS: u32 = 5;

/// Why an object was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error("unknown kind")]
    Kind,
    #[error("what was there is still being deleted")]
    Ending,
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error(transparent)]
    Request(#[from] Failure),
}

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
    ) -> Result<Written, ApplyError> {
        let about = |why| {
            let name = object.metadata().name.as_deref().unwrap_or_default();
            ApplyError::Write { object: format!("{} {name}", object.kind()), why }
        };
        let wanted = object.to_json().map_err(|error| about(error.into()))?;
        let kind = ResourceKind::named(object.kind()).ok_or_else(|| about(WriteError::Kind))?;
        let name = object.metadata().name.as_deref().unwrap_or_default();
        let namespace = object.metadata().namespace.as_deref();
        let seen = self.seen(kind, namespace, name);
        let existing = seen.map(|shown| shown.json(kind));
        let change = |there: Option<&Value>| {
            let mut object = match there {
                None => wanted.clone(),
                Some(there) if there.pointer("/metadata/deletionTimestamp").is_some() => {
                    return Err(WriteError::Ending);
                }
                Some(_) if stays() => return Ok(None),
                Some(there) => match merge(there, &wanted, occasion)? {
                    Merged::Unchanged => return Ok(None),
                    Merged::Replace(merged) => merged,
                },
            };
            amend(&mut object);
            Ok(Some(object))
        };
        let written = self.update(kind, namespace, name, existing, change).await;
        written.map_err(|failure| about(failure.into()))?.map_err(about)
    }

    /// Writes what `change` makes of an object, if anything. What is there is read again where
    /// somebody else wrote it meanwhile.
    pub(super) async fn update(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
        existing: Option<Value>,
        change: impl Fn(Option<&Value>) -> Result<Option<Value>, WriteError> + Send + Sync,
    ) -> Result<Result<Written, WriteError>, Failure> {
        let change = &change;
        // Whether it was written although no answer came is found out by trying.
        let attempt = |known: Option<Option<Value>>| async move {
            let existing = match known {
                Some(existing) => existing,
                None => self.client.get(kind, namespace, name).await.map_err(|why| (None, why))?,
            };
            let object = match change(existing.as_ref()) {
                Ok(Some(object)) => object,
                Ok(None) => {
                    let shown = CachedObject::new(existing.unwrap_or_default());
                    let unchanged = shown.map(|shown| Written { shown, is_new: false });
                    return Ok(unchanged.map_err(WriteError::Json));
                }
                Err(why) => return Ok(Err(why)),
            };
            let answer = match &existing {
                None => self.client.create(kind, namespace, &object).await,
                Some(_) => self.client.replace(kind, namespace, name, &object).await,
            };
            match answer {
                Ok(answer) => Ok(self.took(kind, answer).map_err(WriteError::Request)),
                Err(Failure::NotFound(why)) if existing.is_some() => {
                    Err((None, Failure::Conflict(why)))
                }
                Err(conflict @ Failure::Conflict(_)) => Err((None, conflict)),
                Err(failure) => Err((Some(existing), failure)),
            }
        };
        self.retry(CONFLICTS, Some(existing), attempt).await
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
        let answer = self.repeat(|| async {
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
        self.repeat(|| self.client.get(kind, namespace, name)).await
    }

    pub(super) async fn delete(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
        exactly: Preconditions,
    ) -> Result<(), Failure> {
        self.repeat(|| self.client.delete(kind, namespace, name, exactly.clone())).await
    }

    pub(super) async fn delete_all(
        &self,
        kind: ResourceKind,
        namespace: &str,
        selector: &str,
    ) -> Result<(), Failure> {
        self.repeat(|| self.client.delete_all(kind, namespace, selector)).await
    }

    async fn repeat<T, F>(&self, request: impl Fn() -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let request = &request;
        self.retry(0, (), |()| async move { request().await.map_err(|failure| ((), failure)) })
            .await
    }

    /// Repeats a request: at once after a conflict, as often as `conflicts` says, and after a pause
    /// as long as [`pause`] allows. A request that failed says what the next one begins with.
    async fn retry<S, T, F>(
        &self,
        mut conflicts: u32,
        mut start: S,
        request: impl Fn(S) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<T, (S, Failure)>>,
    {
        let mut tries = 0;
        loop {
            let (next, failure) = match request(start).await {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            start = next;
            tries += 1;
            if matches!(failure, Failure::Conflict(_)) && conflicts > 0 {
                conflicts -= 1;
                continue;
            }
            let Some(pause) = pause(tries, &failure) else {
                self.shared.doubts(&failure);
                return Err(failure);
            };
            tokio::time::sleep(pause).await;
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
