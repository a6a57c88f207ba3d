use std::time::Duration;

use akash_net::{Outbound, Route};
use serde_json::{Value, json};

use crate::scripted::{Scripted, json as says};
use crate::{Access, Failure, Preconditions, ResourceKind, Selector};

#[tokio::test]
async fn lists_are_read_to_their_last_page() {
    let page = |names: &[&str], next: &str| {
        says(200, &json!({"metadata": {"resourceVersion": "7", "continue": next}, "items": names}))
    };
    let server = Scripted::start(vec![page(&["a", "b"], "x/y"), page(&["c"], "")]).await;
    let selector = Selector { labels: "akash.network=true", fields: "" };
    let listed =
        server.client.list::<String>(ResourceKind::SERVICE, Some("n"), selector).await.unwrap();
    assert_eq!((listed.items.len(), &*listed.version), (3, "7"));
    let path = "GET /api/v1/namespaces/n/services?&labelSelector=akash.network%3Dtrue&limit=500"
        .to_owned();
    assert_eq!(server.asked(), [path.clone(), format!("{path}&continue=x%2Fy")]);
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
    let client = &server.client;
    assert_eq!(client.get(ResourceKind::POD, Some("n"), "p").await, Ok(None::<Value>));
    assert_eq!(
        client.delete(ResourceKind::POD, Some("n"), "p", Preconditions::default()).await,
        Ok(())
    );
    let busy = Failure::Unavailable {
        why: "too many requests".to_owned(),
        after: Some(Duration::from_secs(3)),
        silent: false,
    };
    assert_eq!(client.get(ResourceKind::POD, Some("n"), "p").await, Err(busy));
    let silence =
        client.within(Duration::from_millis(50)).get(ResourceKind::POD, Some("n"), "p").await;
    assert!(silence.unwrap_err().is_silent());
}

#[tokio::test]
async fn an_object_that_was_made_again_is_not_the_one_to_delete() {
    let conflict = || says(409, &json!({"kind": "Status", "code": 409, "message": "other uid"}));
    let server = Scripted::start(vec![conflict(), conflict()]).await;
    let exactly = Preconditions { uid: Some("u".to_owned()), resource_version: None };
    assert_eq!(server.client.delete(ResourceKind::POD, Some("n"), "p", exactly).await, Ok(()));
    let any =
        server.client.delete(ResourceKind::POD, Some("n"), "p", Preconditions::default()).await;
    assert_eq!(any, Err(Failure::Conflict("other uid".to_owned())));
}

fn kubeconfig(folder: &std::path::Path, more: &str) -> std::path::PathBuf {
    let path = folder.join("config");
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
         contexts: [{{name: here, context: {{cluster: it, user: me}}}}]\n\
         users: [{{name: me, user: {{}}}}]\n\
         clusters: [{{name: it, cluster: {{server: \"https://10.1.2.3:6443\"{more}}}}}]\n"
    );
    std::fs::write(&path, text).unwrap();
    path
}

#[tokio::test]
async fn the_proxy_of_the_environment_leads_to_the_api_server_unless_no_proxy_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let route = async |more: &str, except: &'static str| {
        let outbound = Outbound::new(|name| match name {
            "HTTPS_PROXY" => Some("http://proxy.test:3128".to_owned()),
            "NO_PROXY" => Some(except.to_owned()),
            _ => None,
        });
        let path = kubeconfig(folder.path(), more);
        let access = Access::find(&path, &outbound.unwrap()).await.unwrap();
        access.client().unwrap();
        match access.route() {
            Route::Direct => "direct".to_owned(),
            Route::Via(proxy) => proxy.to_string(),
        }
    };
    assert_eq!(route("", "").await, "http://proxy.test:3128");
    // The proxy's own name says nothing of the API server.
    assert_eq!(route("", "proxy.test").await, "http://proxy.test:3128");
    assert_eq!(route("", "10.1.0.0/16").await, "direct");
    assert_eq!(route("", "10.1.2.3:6443").await, "direct");
    assert_eq!(route("", "*").await, "direct");
    let own = ", proxy-url: \"http://user:secret@own.test:1\"";
    assert_eq!(route(own, "*").await, "http://own.test:1");
    let path = kubeconfig(folder.path(), ", proxy-url: \"socks5://user:secret@own.test\"");
    let error = Access::find(&path, &Outbound::default()).await.unwrap_err().to_string();
    assert!(error.contains("proxy-url") && !error.contains("secret"), "{error}");
}
