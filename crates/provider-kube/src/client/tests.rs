use std::time::Duration;

use serde_json::{Value, json};

use super::scripted::{Scripted, json as says};
use super::{Exactly, Failure, Kind, Selector};

#[tokio::test]
async fn lists_are_read_to_their_last_page() {
    let page = |names: &[&str], next: &str| {
        says(200, &json!({"metadata": {"resourceVersion": "7", "continue": next}, "items": names}))
    };
    let server = Scripted::start(vec![page(&["a", "b"], "x/y"), page(&["c"], "")]).await;
    let selector = Selector { labels: "akash.network=true", fields: "" };
    let listed = server.calls.list::<String>(Kind::SERVICE, Some("n"), selector).await.unwrap();
    assert_eq!((listed.items.len(), &*listed.version), (3, "7"));
    let path = "GET /api/v1/namespaces/n/services?limit=500&labelSelector=akash%2Enetwork%3Dtrue";
    assert_eq!(server.asked(), [format!("{path}&continue="), format!("{path}&continue=x%2Fy")]);
}

#[tokio::test]
async fn what_is_not_there_is_an_answer_and_silence_is_none() {
    let missing = json!({"kind": "Status", "code": 404, "message": "not found"});
    let server = Scripted::start(vec![
        says(404, &missing),
        says(404, &missing),
        (429, "retry-after: 3\r\n", "too many requests".to_owned()),
    ])
    .await;
    let calls = &server.calls;
    assert_eq!(calls.get(Kind::POD, Some("n"), "p").await, Ok(None::<Value>));
    assert_eq!(calls.delete(Kind::POD, Some("n"), "p", Exactly::default()).await, Ok(()));
    let busy = Failure::Unavailable {
        why: "too many requests".to_owned(),
        after: Some(Duration::from_secs(3)),
        silent: false,
    };
    assert_eq!(calls.get(Kind::POD, Some("n"), "p").await, Err(busy));
    let silence = calls.within(Duration::from_millis(50)).get(Kind::POD, Some("n"), "p").await;
    assert!(silence.unwrap_err().is_silent());
}

#[tokio::test]
async fn an_object_that_was_made_again_is_not_the_one_to_delete() {
    let conflict = || says(409, &json!({"kind": "Status", "code": 409, "message": "other uid"}));
    let server = Scripted::start(vec![conflict(), conflict()]).await;
    let exactly = Exactly { uid: Some("u".to_owned()), version: None };
    assert_eq!(server.calls.delete(Kind::POD, Some("n"), "p", exactly).await, Ok(()));
    let any = server.calls.delete(Kind::POD, Some("n"), "p", Exactly::default()).await;
    assert_eq!(any, Err(Failure::Conflict("other uid".to_owned())));
}
