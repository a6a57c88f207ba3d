//! Calls of the API server, one by one.
//!
//! A call says what came of it and nothing else: it is not repeated here.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;
use kube::core::Status;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::failure::{Failure, of_status};
use super::kind::Kind;

/// Who wrote an object, as the API server notes it. The Go provider is called the same, so that
/// what it wrote stays the provider's.
const WRITER: &str = "provider-services";
/// Objects in one page of a list.
const PAGE: u32 = 500;

/// Told of every call: what was called, such as `manifests-get`, and whether it was answered well.
pub type Counter = Arc<dyn Fn(&str, bool) + Send + Sync>;

/// Calls of the API server. Clones share connections.
#[derive(Clone)]
pub struct Calls {
    client: Client,
    limit: Duration,
    counter: Counter,
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Calls").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// All objects of a kind at one moment.
#[derive(Debug)]
pub struct Listed<T> {
    /// The objects.
    pub items: Vec<T>,
    /// The moment.
    pub version: String,
}

/// Which object to delete: this one, and not one of the same name that came after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exactly {
    /// Its identity.
    pub uid: Option<String>,
    /// How it was when that was decided.
    pub version: Option<String>,
}

impl Calls {
    /// Calls that take at most `limit` each.
    #[must_use]
    pub fn new(client: Client, limit: Duration, counter: Counter) -> Self {
        Self { client, limit, counter }
    }

    /// The same calls with another limit.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        Self { limit, ..self.clone() }
    }

    /// The client beneath, for what is no single answer.
    #[must_use]
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Whether the API server is ready to answer.
    ///
    /// # Errors
    ///
    /// When it is not, or will not say.
    pub async fn ping(&self) -> Result<(), Failure> {
        let request = Request::get("/readyz").body(Vec::new());
        self.send("readyz-get", request).await.map(drop)
    }

    /// What the API server says of its own version.
    ///
    /// # Errors
    ///
    /// When it does not say.
    pub async fn version(&self) -> Result<Value, Failure> {
        let request = Request::get("/version").body(Vec::new());
        read(&self.send("version-get", request).await?)
    }

    /// The object of this name, if there is one.
    ///
    /// # Errors
    ///
    /// When that is not known.
    pub async fn get(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>, Failure> {
        let request = Request::get(format!("{}/{name}", kind.path(namespace))).body(Vec::new());
        match self.send(&action(kind, "get"), request).await {
            Ok(body) => read(&body).map(Some),
            Err(Failure::NotFound(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// Creates an object; what was made of it.
    ///
    /// # Errors
    ///
    /// When it was not, as far as is known.
    pub async fn create(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        object: &Value,
    ) -> Result<Value, Failure> {
        let uri = format!("{}?fieldManager={WRITER}", kind.path(namespace));
        let request = Request::post(uri).body(object.to_string().into_bytes());
        read(&self.send(&action(kind, "create"), request).await?)
    }

    /// Replaces an object as it was read; what was made of it.
    ///
    /// # Errors
    ///
    /// When it was not, as far as is known.
    pub async fn replace(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
        object: &Value,
    ) -> Result<Value, Failure> {
        let uri = format!("{}/{name}?fieldManager={WRITER}", kind.path(namespace));
        let request = Request::put(uri).body(object.to_string().into_bytes());
        read(&self.send(&action(kind, "update"), request).await?)
    }

    /// Has the API server merge an object into the one that is there, or create it, by the names of
    /// its fields. Those of other writers are taken over.
    ///
    /// # Errors
    ///
    /// When it was not, as far as is known.
    pub async fn apply(
        &self,
        kind: Kind,
        name: &str,
        object: &Value,
        manager: &str,
    ) -> Result<Value, Failure> {
        let uri = format!("{}/{name}?fieldManager={manager}&force=true", kind.path(None));
        let request = Request::patch(uri)
            .header(http::header::CONTENT_TYPE, "application/apply-patch+yaml")
            .body(object.to_string().into_bytes());
        read(&self.send(&action(kind, "patch"), request).await?)
    }

    /// Has an object deleted. One that is not there, or not the one that was meant, is left alone.
    ///
    /// # Errors
    ///
    /// When it is not known to be on its way out.
    pub async fn delete(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        name: &str,
        exactly: Exactly,
    ) -> Result<(), Failure> {
        let uri = format!("{}/{name}", kind.path(namespace));
        let options = json!({
            "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background",
            "preconditions": {"uid": exactly.uid, "resourceVersion": exactly.version},
        });
        let request = Request::delete(uri).body(options.to_string().into_bytes());
        match self.send(&action(kind, "delete"), request).await {
            Ok(_) | Err(Failure::NotFound(_)) => Ok(()),
            Err(Failure::Conflict(_)) if exactly != Exactly::default() => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Has all objects deleted that `selector` selects.
    ///
    /// # Errors
    ///
    /// When they are not known to be on their way out.
    pub async fn delete_all(
        &self,
        kind: Kind,
        namespace: &str,
        selector: &str,
    ) -> Result<(), Failure> {
        let uri = format!("{}?labelSelector={}", kind.path(Some(namespace)), encoded(selector));
        let request = Request::delete(uri).body(Vec::new());
        self.send(&action(kind, "delete-collection"), request).await.map(drop)
    }

    /// All objects that `selector` selects, page by page.
    ///
    /// # Errors
    ///
    /// When they are not all known.
    pub async fn list<T: DeserializeOwned>(
        &self,
        kind: Kind,
        namespace: Option<&str>,
        selector: Selector<'_>,
    ) -> Result<Listed<T>, Failure> {
        let (mut items, mut next) = (Vec::new(), String::new());
        loop {
            let uri = format!(
                "{}?limit={PAGE}{}&continue={}",
                kind.path(namespace),
                selector.query(),
                encoded(&next)
            );
            let body = self.send(&action(kind, "list"), Request::get(uri).body(Vec::new())).await?;
            let page: Page<T> = read(&body)?;
            items.extend(page.items);
            match page.metadata.next.filter(|next| !next.is_empty()) {
                Some(more) => next = more,
                None => return Ok(Listed { items, version: page.metadata.version }),
            }
        }
    }

    async fn send(
        &self,
        action: &str,
        request: http::Result<Request<Vec<u8>>>,
    ) -> Result<Vec<u8>, Failure> {
        let mut request = request.map_err(|error| Failure::Refused(error.to_string()))?;
        if *request.method() != Method::GET {
            let json = http::HeaderValue::from_static("application/json");
            request.headers_mut().entry(http::header::CONTENT_TYPE).or_insert(json);
        }
        let answered = tokio::time::timeout(self.limit, async {
            let response = self.client.send(request.map(Body::from)).await?;
            whole(response).await
        });
        let result = answered.await.unwrap_or_else(|_| Err(Failure::silence(self.limit)));
        // That something is not there is an answer.
        (self.counter)(action, matches!(result, Ok(_) | Err(Failure::NotFound(_))));
        result
    }
}

/// What is selected of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selector<'a> {
    /// By labels; everything if empty.
    pub labels: &'a str,
    /// By fields; everything if empty.
    pub fields: &'a str,
}

impl Selector<'_> {
    /// As parameters of an address, with a separator before each.
    #[must_use]
    pub fn query(&self) -> String {
        let part = |name: &str, text: &str| match text {
            "" => String::new(),
            text => format!("&{name}={}", encoded(text)),
        };
        part("labelSelector", self.labels) + &part("fieldSelector", self.fields)
    }
}

#[derive(serde::Deserialize)]
struct Page<T> {
    metadata: PageMeta,
    #[serde(default = "Vec::new")]
    items: Vec<T>,
}

#[derive(serde::Deserialize)]
struct PageMeta {
    #[serde(rename = "resourceVersion", default)]
    version: String,
    #[serde(rename = "continue", default)]
    next: Option<String>,
}

/// The whole answer, or what it says is wrong.
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

fn action(kind: Kind, verb: &str) -> String {
    format!("{}-{verb}", kind.plural)
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
