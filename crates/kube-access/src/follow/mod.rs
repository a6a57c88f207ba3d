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

mod cached;

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use akash_types::Backoff;
use futures_util::StreamExt;
use kube::core::WatchEvent as Event;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

pub use cached::CachedObject;

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
}
