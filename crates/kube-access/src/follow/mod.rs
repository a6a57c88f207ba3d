//! One kind of object, listed once and followed from there.
//!
//! ```text
//!          ┌──────────── gone (410) ────────────┐
//!          ▼                                    │
//!        list ──▶ watch ── ended ──▶ watch again ┤
//!          ▲        │                           │
//!          └─ pause ┴────── fails ──────────────┘
//! ```
//!
//! The API server ends a watch every minute, and it continues at its last resource version: a dead
//! connection is noticed that soon. The list is read again only if the API server has forgotten that
//! version.
//!
//! [`CachedObject`] is for followers to whom every field may matter. Knows no leases.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use akash_types::Backoff;
use futures_util::StreamExt;
use kube::core::WatchEvent as Event;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tokio::sync::Notify;

use crate::client::{KubeClient, Selector};
use crate::failure::{Failure, of_status};
use crate::kind::ResourceKind;

/// How long one watch lasts, in seconds.
const LASTS: u32 = 55;
/// How long to wait for the end of one that says nothing.
const SILENCE: Duration = Duration::from_secs(LASTS as u64 + 10);
const BACKOFF: Backoff =
    Backoff { first: Duration::from_millis(250), most: Duration::from_secs(15) };

#[derive(Clone, Debug)]
pub struct Source {
    pub kind: ResourceKind,
    /// All namespaces if there is none.
    pub namespace: Option<String>,
    /// Label selector; empty for all.
    pub labels: &'static str,
    /// Field selector; empty for all.
    pub fields: String,
}

impl Source {
    pub const fn everything(kind: ResourceKind) -> Self {
        Self { kind, namespace: None, labels: "", fields: String::new() }
    }
}

#[derive(Clone, Debug)]
pub enum WatchEvent<T> {
    Synced(Vec<T>),
    /// An object was created or changed.
    Applied(T),
    Deleted(T),
    /// The events so far are the current state, and changes will follow.
    Connected,
    /// No changes arrive at the moment.
    Failed(Failure),
}

/// Follows a source without end. `again` ends a pause early.
pub async fn follow<T: DeserializeOwned + Clone + 'static>(
    client: KubeClient,
    source: Source,
    mut send: impl FnMut(WatchEvent<T>),
    again: Arc<Notify>,
) {
    let mut failures = 0_u32;
    let mut version: Option<String> = None;
    loop {
        let result = match &version {
            None => list(&client, &source, &mut send).await,
            Some(from) => watch(&client, &source, from, &mut failures, &mut send).await,
        };
        match result {
            Ok(next) => version = next,
            Err(failure) => {
                send(WatchEvent::Failed(failure.clone()));
                failures = failures.saturating_add(1);
                tokio::select! {
                    () = tokio::time::sleep(pause(failures, &failure)) => {}
                    () = again.notified() => {}
                }
            }
        }
    }
}

/// Sends `Synced`; the resource version to watch from.
async fn list<T: DeserializeOwned>(
    client: &KubeClient,
    source: &Source,
    send: &mut impl FnMut(WatchEvent<T>),
) -> Result<Option<String>, Failure> {
    let selector = Selector { labels: source.labels, fields: &source.fields };
    let listed = client.list(source.kind, source.namespace.as_deref(), selector).await?;
    send(WatchEvent::Synced(listed.items));
    Ok(Some(listed.version))
}

/// Sends changes until the API server ends the watch; the resource version to go on from, or `None`
/// if the API server has forgotten it.
async fn watch<T: DeserializeOwned + Clone + 'static>(
    client: &KubeClient,
    source: &Source,
    from: &str,
    failures: &mut u32,
    send: &mut impl FnMut(WatchEvent<T>),
) -> Result<Option<String>, Failure> {
    let selector = Selector { labels: source.labels, fields: &source.fields };
    let namespace = source.namespace.as_deref();
    let began = client.watch::<Versioned<T>>(source.kind, namespace, selector, LASTS, from);
    let began = tokio::time::timeout(SILENCE, began);
    let events = match began.await {
        Ok(Err(kube::Error::Api(status))) if status.code == 410 => return Ok(None),
        Ok(events) => events?,
        Err(_) => return Err(Failure::silence(SILENCE)),
    };
    send(WatchEvent::Connected);
    *failures = 0;
    let mut events = std::pin::pin!(events);
    let mut version = from.to_owned();
    loop {
        match tokio::time::timeout(SILENCE, events.next()).await {
            Err(_) => return Err(Failure::silence(SILENCE)),
            Ok(None) => return Ok(Some(version)),
            Ok(Some(Err(kube::Error::Api(status)))) if status.code == 410 => return Ok(None),
            Ok(Some(Err(error))) => return Err(error.into()),
            Ok(Some(Ok(event))) => match event {
                Event::Added(object) | Event::Modified(object) => {
                    version = object.version;
                    send(WatchEvent::Applied(object.object));
                }
                Event::Deleted(object) => {
                    version = object.version;
                    send(WatchEvent::Deleted(object.object));
                }
                Event::Bookmark(mark) => version = mark.metadata.resource_version,
                Event::Error(status) if status.code == 410 => return Ok(None),
                Event::Error(status) => return Err(of_status(&status)),
            },
        }
    }
}

/// An object and its resource version.
#[derive(Clone)]
struct Versioned<T> {
    version: String,
    object: T,
}

impl<'de, T: DeserializeOwned> serde::Deserialize<'de> for Versioned<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let value = serde_json::Value::deserialize(deserializer)?;
        let version = value.pointer("/metadata/resourceVersion").and_then(|it| it.as_str());
        let version = version.unwrap_or_default().to_owned();
        let object = serde_json::from_value(value).map_err(D::Error::custom)?;
        Ok(Self { version, object })
    }
}

/// The pause after so many failures in a row; never shorter than what the API server asks for,
/// within reason.
fn pause(failures: u32, failure: &Failure) -> Duration {
    let wished = match failure {
        Failure::Unavailable { after, .. } => after.unwrap_or_default(),
        _ => Duration::ZERO,
    };
    // The standard library seeds it at random: what failed together does not come back together.
    let salt = RandomState::new().hash_one(failures);
    BACKOFF.within(failures, salt).max(wished.min(BACKOFF.most * 4))
}

/// An object as the API server shows it. Kept as text, which is a fraction of what its parts take
/// in memory; it is read when somebody wants to know. Clones share the text.
#[derive(Clone, PartialEq, derive_more::Debug)]
#[debug("{}/{} at {}", self.namespace, self.name, self.version)]
pub struct CachedObject {
    pub name: String,
    /// Where its name counts; empty if everywhere.
    pub namespace: String,
    pub uid: String,
    pub version: String,
    pub labels: BTreeMap<String, String>,
    /// Whether it was told to go.
    pub is_ending: bool,
    text: Arc<str>,
}

impl CachedObject {
    /// What the API server answered.
    pub fn new(mut object: Value) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            name: String,
            #[serde(default)]
            namespace: String,
            #[serde(default)]
            uid: String,
            #[serde(default)]
            resource_version: String,
            #[serde(default)]
            labels: Option<BTreeMap<String, String>>,
            #[serde(default)]
            deletion_timestamp: Option<String>,
        }
        trim(&mut object);
        let Object { metadata } = Object::deserialize(&object)?;
        Ok(Self {
            name: metadata.name,
            namespace: metadata.namespace,
            uid: metadata.uid,
            version: metadata.resource_version,
            labels: metadata.labels.unwrap_or_default(),
            is_ending: metadata.deletion_timestamp.is_some(),
            text: object.to_string().into(),
        })
    }

    /// The object, with kind and version even where a list left them out.
    pub fn json(&self, kind: ResourceKind) -> Value {
        let mut object: Value = serde_json::from_str(&self.text).unwrap_or_default();
        if let Some(object) = object.as_object_mut() {
            object.insert("kind".to_owned(), kind.name.into());
            object.insert("apiVersion".to_owned(), kind.api_version.into());
        }
        object
    }

    /// The object as a type; `None` if it is none of that type.
    pub fn typed<T: DeserializeOwned>(&self, kind: ResourceKind) -> Option<T> {
        serde_json::from_value(self.json(kind)).ok()
    }

    /// The number of its state, where the API server counts them.
    pub fn number(&self) -> Option<u64> {
        self.version.parse().ok()
    }
}

impl<'de> Deserialize<'de> for CachedObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// What is kept of a workload's status: how far an update has come.
const ROLLOUT: [&str; 3] = ["observedGeneration", "updateRevision", "updatedReplicas"];

/// Leaves out what nobody here reads: who wrote which field, and most of what controllers count of
/// workloads. Written back without them, the API server keeps them.
fn trim(object: &mut Value) {
    let metadata = object.pointer_mut("/metadata").and_then(Value::as_object_mut);
    metadata.map(|metadata| metadata.remove("managedFields"));
    if object.pointer("/spec/template").is_some()
        && let Some(status) = object.pointer_mut("/status").and_then(Value::as_object_mut)
    {
        status.retain(|key, _| ROLLOUT.contains(&key.as_str()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::sync::mpsc;

    use super::*;
    use crate::scripted::{Answer, Scripted, json as says};

    /// What is told of these answers, in words, until the server is silent.
    async fn told(answers: Vec<Answer>) -> (Vec<String>, Vec<String>) {
        let asks = answers.len() + 1;
        let server = Scripted::start(answers).await;
        let (to, mut from) = mpsc::unbounded_channel();
        let tell = move |told: WatchEvent<Value>| {
            let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
            let words = match told {
                WatchEvent::Synced(all) => {
                    format!("all {}", all.iter().map(name).collect::<String>())
                }
                WatchEvent::Applied(object) => format!("is {}", name(&object)),
                WatchEvent::Deleted(object) => format!("gone {}", name(&object)),
                WatchEvent::Connected => "live".to_owned(),
                WatchEvent::Failed(why) => format!("broken {why}"),
            };
            to.send(words).unwrap();
        };
        let source =
            Source { kind: ResourceKind::POD, namespace: None, labels: "", fields: String::new() };
        let again = Arc::new(Notify::new());
        let task = tokio::spawn(follow(server.client.clone(), source, tell, again));
        while server.asked().len() < asks {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        task.abort();
        let mut words = Vec::new();
        while let Ok(told) = from.try_recv() {
            words.push(told);
        }
        let asked = server.asked().into_iter().map(|line| {
            let (_, from) = line.split_once("resourceVersion=").unwrap_or(("", "list"));
            from.to_owned()
        });
        (words, asked.collect())
    }

    fn pod(name: &str, version: &str) -> Value {
        json!({"metadata": {"name": name, "resourceVersion": version}})
    }

    fn list(version: &str, names: &[&str]) -> Answer {
        let items: Vec<_> = names.iter().map(|name| pod(name, "1")).collect();
        says(200, &json!({"metadata": {"resourceVersion": version}, "items": items}))
    }

    fn events(events: &[(&str, Value)]) -> Answer {
        let line = |(kind, object): &(&str, Value)| {
            format!("{}\n", json!({"type": kind, "object": object}))
        };
        (200, "", events.iter().map(line).collect())
    }

    #[tokio::test]
    async fn a_watch_that_ends_goes_on_where_it_was() {
        let (words, asked) = told(vec![
            list("5", &["a"]),
            events(&[("ADDED", pod("b", "6")), ("DELETED", pod("a", "7"))]),
            events(&[(
                "BOOKMARK",
                json!({"kind": "Pod", "apiVersion": "v1",
                "metadata": {"resourceVersion": "9"}}),
            )]),
        ])
        .await;
        assert_eq!(words, ["all a", "live", "is b", "gone a", "live"]);
        assert_eq!(asked, ["list", "5", "7", "9"]);
    }

    #[tokio::test]
    async fn what_is_forgotten_is_listed_again_and_what_fails_is_tried_again() {
        let gone = json!({"kind": "Status", "code": 410, "message": "too old"});
        let full = json!({"kind": "Status", "code": 500, "message": "etcd is away"});
        let (words, asked) = told(vec![
            says(500, &full),
            list("5", &["a"]),
            says(410, &gone),
            list("6", &["b"]),
            events(&[("ERROR", gone)]),
            list("7", &["c"]),
            says(500, &full),
        ])
        .await;
        let broken = "broken etcd is away";
        assert_eq!(words, [broken, "all a", "all b", "live", "all c", broken]);
        assert_eq!(asked, ["list", "list", "5", "list", "6", "list", "7", "7"]);
    }

    #[test]
    fn pauses_grow_to_a_limit_and_follow_the_api_servers_wish() {
        let failure = Failure::unavailable("x");
        for (failures, most) in [(1, 250), (2, 500), (3, 1000), (7, 15_000), (40, 15_000)] {
            let pause = pause(failures, &failure).as_millis();
            assert!((most * 3 / 4..=most).contains(&pause), "{failures}: {pause}");
        }
        let wishes = |seconds| Failure::Unavailable {
            why: String::new(),
            after: Some(Duration::from_secs(seconds)),
            silent: false,
        };
        assert_eq!(pause(1, &wishes(3)), Duration::from_secs(3));
        assert_eq!(pause(1, &wishes(10_000)), Duration::from_mins(1));
    }

    #[test]
    fn what_nobody_reads_is_left_out_and_all_else_is_kept() {
        let shown = CachedObject::new(json!({
            "metadata": {"name": "web", "namespace": "a", "uid": "u", "resourceVersion": "12",
                "labels": {"akash.network": "true"}, "managedFields": [{"manager": "x"}]},
            "spec": {"template": {}, "newField": [1]},
            "status": {"replicas": 1, "observedGeneration": 3, "updateRevision": "web-7c"},
        }))
        .unwrap();
        assert_eq!(
            (shown.name.as_str(), shown.number(), shown.is_ending),
            ("web", Some(12), false)
        );
        assert_eq!(
            shown.json(ResourceKind::DEPLOYMENT),
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "web", "namespace": "a", "uid": "u", "resourceVersion": "12",
                    "labels": {"akash.network": "true"}},
                "spec": {"template": {}, "newField": [1]},
                "status": {"observedGeneration": 3, "updateRevision": "web-7c"},
            })
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for wrong in [json!(null), json!({}), json!({"metadata": {}}), json!({"metadata": 1})] {
            assert!(CachedObject::new(wrong).is_err());
        }
    }
}
