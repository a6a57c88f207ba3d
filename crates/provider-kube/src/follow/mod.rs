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
//! A watch is ended by the API server every minute, and begun again from where it was: a connection
//! that is dead without saying so is noticed that soon. No list is read again unless the API server
//! does not remember where it was.
//!
//! [`Shown`] is what is followed where all of an object may matter. Knows no leases: the driver and
//! the operators follow their kinds with it.

mod shown;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use http::Request;
use kube::core::WatchEvent;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

pub use shown::Shown;

use crate::client::{Calls, Failure, Kind, Selector, of_status};

/// How long one watch lasts, in seconds.
const LASTS: u64 = 55;
/// How long to wait for the end of one that says nothing.
const SILENCE: Duration = Duration::from_secs(LASTS + 10);
/// Pauses after failures: the first, and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(15));

/// What is followed.
#[derive(Clone, Debug)]
pub struct Source {
    /// Objects of this kind,
    pub kind: Kind,
    /// in this namespace, or in all of them,
    pub namespace: Option<String>,
    /// with these labels,
    pub labels: &'static str,
    /// and these fields.
    pub fields: String,
}

impl Source {
    /// All objects of a kind.
    #[must_use]
    pub const fn everything(kind: Kind) -> Self {
        Self { kind, namespace: None, labels: "", fields: String::new() }
    }
}

/// What is told.
#[derive(Clone, Debug)]
pub enum Told<T> {
    /// This is all there is.
    All(Vec<T>),
    /// An object came or changed.
    Is(T),
    /// An object is gone.
    Gone(T),
    /// What was told is how things are, and what changes will be told.
    Live,
    /// Nothing is told at the moment.
    Broken(String),
}

/// Follows a kind for good. `again` ends a pause early.
pub async fn follow<T: DeserializeOwned + Clone + 'static>(
    calls: Calls,
    source: Source,
    mut tell: impl FnMut(Told<T>),
    again: Arc<Notify>,
) {
    let mut failures = 0_u32;
    let mut version: Option<String> = None;
    loop {
        let result = match &version {
            None => list(&calls, &source, &mut tell).await,
            Some(from) => watch(&calls, &source, from, &mut failures, &mut tell).await,
        };
        match result {
            Ok(next) => version = next,
            Err(failure) => {
                tell(Told::Broken(failure.to_string()));
                failures = failures.saturating_add(1);
                tokio::select! {
                    () = tokio::time::sleep(pause(failures, &failure)) => {}
                    () = again.notified() => {}
                }
            }
        }
    }
}

/// Tells everything; the moment from which to watch.
async fn list<T: DeserializeOwned>(
    calls: &Calls,
    source: &Source,
    tell: &mut impl FnMut(Told<T>),
) -> Result<Option<String>, Failure> {
    let selector = Selector { labels: source.labels, fields: &source.fields };
    let listed = calls.list(source.kind, source.namespace.as_deref(), selector).await?;
    tell(Told::All(listed.items));
    Ok(Some(listed.version))
}

/// Tells what changes until the API server ends it; the moment from which to go on, or none if that
/// is forgotten.
async fn watch<T: DeserializeOwned + Clone + 'static>(
    calls: &Calls,
    source: &Source,
    from: &str,
    failures: &mut u32,
    tell: &mut impl FnMut(Told<T>),
) -> Result<Option<String>, Failure> {
    let selector = Selector { labels: source.labels, fields: &source.fields };
    let uri = format!(
        "{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={LASTS}&resourceVersion={from}{}",
        source.kind.path(source.namespace.as_deref()),
        selector.query()
    );
    let request = Request::get(uri).body(Vec::new());
    let request = request.map_err(|error| Failure::Refused(error.to_string()))?;
    let began = tokio::time::timeout(SILENCE, calls.client().request_events::<Place<T>>(request));
    let events = match began.await {
        Ok(Err(kube::Error::Api(status))) if status.code == 410 => return Ok(None),
        Ok(events) => events?,
        Err(_) => return Err(Failure::silence(SILENCE)),
    };
    tell(Told::Live);
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
                WatchEvent::Added(place) | WatchEvent::Modified(place) => {
                    version = place.version;
                    tell(Told::Is(place.object));
                }
                WatchEvent::Deleted(place) => {
                    version = place.version;
                    tell(Told::Gone(place.object));
                }
                WatchEvent::Bookmark(mark) => version = mark.metadata.resource_version,
                WatchEvent::Error(status) if status.code == 410 => return Ok(None),
                WatchEvent::Error(status) => return Err(of_status(&status)),
            },
        }
    }
}

/// An object, and the moment at which it was so.
#[derive(Clone)]
struct Place<T> {
    version: String,
    object: T,
}

impl<'de, T: DeserializeOwned> serde::Deserialize<'de> for Place<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let value = serde_json::Value::deserialize(deserializer)?;
        let version = value.pointer("/metadata/resourceVersion").and_then(|it| it.as_str());
        let version = version.unwrap_or_default().to_owned();
        let object = serde_json::from_value(value).map_err(D::Error::custom)?;
        Ok(Self { version, object })
    }
}

/// How long to leave the API server alone after so many failures.
fn pause(failures: u32, failure: &Failure) -> Duration {
    let (first, longest) = PAUSES;
    let grown = first.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1).min(16)));
    let wished = match failure {
        Failure::Unavailable { after, .. } => after.unwrap_or_default(),
        _ => Duration::ZERO,
    };
    grown.min(longest).max(wished.min(longest * 4))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::sync::mpsc;

    use super::*;
    use crate::client::scripted::{Answer, Scripted, json as says};

    /// What is told of these answers, in words, until the server is silent.
    async fn told(answers: Vec<Answer>) -> (Vec<String>, Vec<String>) {
        let asks = answers.len() + 1;
        let server = Scripted::start(answers).await;
        let (to, mut from) = mpsc::unbounded_channel();
        let tell = move |told: Told<Value>| {
            let name = |object: &Value| object["metadata"]["name"].as_str().unwrap().to_owned();
            let words = match told {
                Told::All(all) => format!("all {}", all.iter().map(name).collect::<String>()),
                Told::Is(object) => format!("is {}", name(&object)),
                Told::Gone(object) => format!("gone {}", name(&object)),
                Told::Live => "live".to_owned(),
                Told::Broken(why) => format!("broken {why}"),
            };
            to.send(words).unwrap();
        };
        let source = Source { kind: Kind::POD, namespace: None, labels: "", fields: String::new() };
        let again = Arc::new(Notify::new());
        let task = tokio::spawn(follow(server.calls.clone(), source, tell, again));
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
        let pauses: Vec<_> = [1, 2, 3, 7, 40].map(|n| pause(n, &failure).as_millis()).into();
        assert_eq!(pauses, [250, 500, 1000, 15_000, 15_000]);
        let wishes = |seconds| Failure::Unavailable {
            why: String::new(),
            after: Some(Duration::from_secs(seconds)),
            silent: false,
        };
        assert_eq!(pause(1, &wishes(3)), Duration::from_secs(3));
        assert_eq!(pause(1, &wishes(10_000)), Duration::from_mins(1));
    }
}
