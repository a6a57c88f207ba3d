//! Single requests to the API server. None is repeated here.
//!
//! Requests are built by `kube`. Its `Api` is not used: it reads metadata into a type, which loses
//! the fields of a newer API server when an object is written back, and drops the `Retry-After` of
//! an answer that has no `Status`.

use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStream;
use http::{Request, Response};
use http_body_util::BodyExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta;
use kube::Client;
use kube::api::{
    DeleteParams, GetParams, ListParams, Patch, PatchParams, PostParams, Preconditions, WatchParams,
};
use kube::client::Body;
use kube::core::{Request as Builder, Status, WatchEvent, request};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::{Failure, of_status};
use crate::kind::ResourceKind;

/// The writer of an object, as the API server notes it. The Go provider is called the same, so that
/// what it wrote stays the provider's.
const WRITER: &str = "provider-services";
/// Objects in one page of a list.
const PAGE: u32 = 500;

/// Called for each request: the action, such as `manifests-get`, and whether it succeeded.
pub type Counter = Arc<dyn Fn(&str, bool) + Send + Sync>;

/// A client of the API server. Clones share connections.
#[derive(Clone, derive_more::Debug)]
#[debug("KubeClient {{ limit: {:?}, .. }}", self.limit)]
pub struct KubeClient {
    client: Client,
    limit: Duration,
    counter: Counter,
}

/// All objects of a kind at one resource version.
#[derive(Debug)]
pub struct Listed<T> {
    pub items: Vec<T>,
    pub version: String,
}

/// Selects objects of a kind; an empty text selects all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selector<'a> {
    pub labels: &'a str,
    pub fields: &'a str,
}

impl Selector<'_> {
    fn parts(&self) -> (Option<String>, Option<String>) {
        let part = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        (part(self.labels), part(self.fields))
    }
}

impl KubeClient {
    /// A client whose requests take at most `limit` each.
    pub fn new(client: Client, limit: Duration, counter: Counter) -> Self {
        Self { client, limit, counter }
    }

    pub fn within(&self, limit: Duration) -> Self {
        Self { limit, ..self.clone() }
    }

    /// Whether the API server is ready to answer.
    pub async fn ping(&self) -> Result<(), Failure> {
        self.send("readyz-get", at("/readyz")).await.map(drop)
    }

    /// The API server's own version.
    pub async fn version(&self) -> Result<Value, Failure> {
        read(&self.send("version-get", at("/version")).await?)
    }

    /// What a service says at `path` on one of its ports, which has a name or a number. The API server
    /// asks for us, so this works from outside of the cluster too.
    pub async fn get_from_service(
        &self,
        namespace: &str,
        service: &str,
        port: &str,
        path: &str,
    ) -> Result<String, Failure> {
        let path = format!("/api/v1/namespaces/{namespace}/services/{service}:{port}/proxy/{path}");
        let body = self.send("services-proxy", at(&path)).await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// `None` if there is no such object.
    pub async fn get(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>, Failure> {
        let request = builder(kind, namespace).get(name, &GetParams::default());
        match self.send(&action(kind, "get"), request).await {
            Ok(body) => read(&body).map(Some),
            Err(Failure::NotFound(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    pub async fn create(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        object: &Value,
    ) -> Result<Value, Failure> {
        let request = builder(kind, namespace).create(&writer(false), bytes(object));
        read(&self.send(&action(kind, "create"), request).await?)
    }

    /// The object as it would be created. Nothing is written.
    pub async fn dry_run(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        object: &Value,
    ) -> Result<Value, Failure> {
        let request = builder(kind, namespace).create(&writer(true), bytes(object));
        read(&self.send(&action(kind, "dry-run"), request).await?)
    }

    /// What `read` finds in the API server's refusal of an object, for facts that no object shows;
    /// `None` if it would create the object. Nothing is written.
    pub async fn in_refusal<T>(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        object: &Value,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let request = builder(kind, namespace).create(&writer(true), bytes(object));
        let answer = match self.exchange(request).await {
            Ok(_) => Ok(None),
            Err(Failure::Refused(why)) => read(&why).map(Some).ok_or(Failure::Refused(why)),
            Err(failure) => Err(failure),
        };
        (self.counter)(&action(kind, "dry-run"), answer.is_ok());
        answer
    }

    /// Replaces an object as it was read; the object as it was written.
    pub async fn replace(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
        object: &Value,
    ) -> Result<Value, Failure> {
        let request = builder(kind, namespace).replace(name, &writer(false), bytes(object));
        read(&self.send(&action(kind, "update"), request).await?)
    }

    /// Server-side apply, which takes over fields of other writers.
    pub async fn apply(
        &self,
        kind: ResourceKind,
        name: &str,
        object: &Value,
        manager: &str,
    ) -> Result<Value, Failure> {
        let params = PatchParams::apply(manager).force();
        let request = builder(kind, None).patch(name, &params, &Patch::Apply(object));
        read(&self.send(&action(kind, "patch"), request).await?)
    }

    /// Deletes an object. One that does not exist, or does not meet the preconditions, is left alone.
    pub async fn delete(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        name: &str,
        exactly: Preconditions,
    ) -> Result<(), Failure> {
        let is_any = exactly == Preconditions::default();
        let params = DeleteParams::background().preconditions(exactly);
        let request = builder(kind, namespace).delete(name, &params);
        match self.send(&action(kind, "delete"), request).await {
            Ok(_) | Err(Failure::NotFound(_)) => Ok(()),
            Err(Failure::Conflict(_)) if !is_any => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Deletes all objects with these labels.
    pub async fn delete_all(
        &self,
        kind: ResourceKind,
        namespace: &str,
        labels: &str,
    ) -> Result<(), Failure> {
        let request = builder(kind, Some(namespace))
            .delete_collection(&DeleteParams::default(), &ListParams::default().labels(labels));
        self.send(&action(kind, "delete-collection"), request).await.map(drop)
    }

    /// All objects that `selector` selects, page by page.
    pub async fn list<T: DeserializeOwned>(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        selector: Selector<'_>,
    ) -> Result<Listed<T>, Failure> {
        let (label_selector, field_selector) = selector.parts();
        let first = ListParams { label_selector, field_selector, ..ListParams::default() };
        let mut params = first.limit(PAGE);
        let mut items = Vec::new();
        loop {
            let request = builder(kind, namespace).list(&params);
            let page: Page<T> = read(&self.send(&action(kind, "list"), request).await?)?;
            items.extend(page.items);
            params.continue_token = page.metadata.continue_.filter(|next| !next.is_empty());
            if params.continue_token.is_none() {
                let version = page.metadata.resource_version.unwrap_or_default();
                return Ok(Listed { items, version });
            }
        }
    }

    /// Changes of a kind since the resource version `from`. The API server ends the stream after
    /// `seconds`. No time limit of this client applies.
    pub async fn watch<T: DeserializeOwned + Clone + 'static>(
        &self,
        kind: ResourceKind,
        namespace: Option<&str>,
        selector: Selector<'_>,
        seconds: u32,
        from: &str,
    ) -> kube::Result<impl TryStream<Item = kube::Result<WatchEvent<T>>> + use<T>> {
        let (label_selector, field_selector) = selector.parts();
        let params = WatchParams { label_selector, field_selector, ..WatchParams::default() };
        let request = builder(kind, namespace).watch(&params.timeout(seconds), from);
        let request = request.map_err(kube::Error::BuildRequest)?;
        self.client.request_events(request).await
    }

    async fn send(&self, action: &str, request: Built) -> Result<Vec<u8>, Failure> {
        let result = self.exchange(request).await;
        // Also "not found" is an answer.
        (self.counter)(action, matches!(result, Ok(_) | Err(Failure::NotFound(_))));
        result
    }

    async fn exchange(&self, request: Built) -> Result<Vec<u8>, Failure> {
        let request = request?.map(Body::from);
        let answered = tokio::time::timeout(self.limit, async {
            let response = self.client.send(request).await?;
            whole(response).await
        });
        answered.await.unwrap_or_else(|_| Err(Failure::silence(self.limit)))
    }
}

/// A page of a list. `kube`'s type for it holds every item twice while it is read.
#[derive(serde::Deserialize)]
struct Page<T> {
    metadata: ListMeta,
    #[serde(default = "Vec::new")]
    items: Vec<T>,
}

type Built = Result<Request<Vec<u8>>, request::Error>;

fn at(path: &str) -> Built {
    Request::get(path).body(Vec::new()).map_err(request::Error::BuildRequest)
}

fn builder(kind: ResourceKind, namespace: Option<&str>) -> Builder {
    Builder::new(kind.path(namespace))
}

fn writer(dry_run: bool) -> PostParams {
    PostParams { dry_run, field_manager: Some(WRITER.to_owned()) }
}

fn bytes(object: &Value) -> Vec<u8> {
    object.to_string().into_bytes()
}

fn action(kind: ResourceKind, verb: &str) -> String {
    format!("{}-{verb}", kind.plural)
}

/// The whole answer, or the failure that it tells, with its `Retry-After`.
async fn whole(response: Response<Body>) -> Result<Vec<u8>, Failure> {
    let code = response.status();
    let wait = response.headers().get(http::header::RETRY_AFTER);
    let wait = wait.and_then(|wait| wait.to_str().ok()?.parse().ok()).map(Duration::from_secs);
    let body = response.into_body().collect().await?.to_bytes();
    if code.is_success() {
        return Ok(body.to_vec());
    }
    let status = serde_json::from_slice::<Status>(&body).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(&body);
        Status::failure(text.trim(), code.as_str())
    });
    match of_status(&status.with_code(code.as_u16())) {
        Failure::Unavailable { why, after, silent } => {
            Err(Failure::Unavailable { why, after: after.max(wait), silent })
        }
        failure => Err(failure),
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(body)
        .map_err(|error| Failure::unavailable(format!("an answer cannot be read: {error}")))
}
