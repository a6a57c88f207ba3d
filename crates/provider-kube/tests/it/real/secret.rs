//! What the provider keeps for itself in a Secret, on a real API server and with its rights only.

use std::sync::Arc;
use std::time::Duration;

use kube_access::{Failure, KubeClient};
use provider_kube::SecretEntry;
use serde_json::json;

use crate::bed::{self, api_server, get, post};

const PATH: &str = "/api/v1/namespaces/akash-services/secrets";

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_of_a_secret_is_made_replaced_and_read_and_others_stay() {
    let bed = api_server().await;
    let client = bed::provider(&bed).await.client().unwrap();
    let client = KubeClient::new(client, Duration::from_secs(10), Arc::new(|_: &str, _| {}));
    let entry = |secret: &str| {
        let [namespace, secret, key] = ["akash-services", secret, "akash1a.pem"].map(str::to_owned);
        SecretEntry::new(client.clone(), namespace, secret, key)
    };
    let made = entry("made");
    assert_eq!(made.read().await, Ok(None));
    made.write(b"first").await.unwrap();
    assert_eq!(made.read().await, Ok(Some(b"first".to_vec())));
    made.write(b"second").await.unwrap();
    assert_eq!(made.read().await, Ok(Some(b"second".to_vec())));
    let stored = get(&bed, &format!("{PATH}/made")).await.unwrap();
    assert_eq!(stored["type"], "Opaque");

    // One that somebody else made keeps what they put there.
    let theirs = json!({"metadata": {"name": "theirs"}, "stringData": {"other": "x"}});
    post(&bed, PATH, &theirs).await.unwrap();
    let theirs = entry("theirs");
    assert_eq!(theirs.read().await, Ok(None));
    theirs.write(b"ours").await.unwrap();
    let stored = get(&bed, &format!("{PATH}/theirs")).await.unwrap();
    assert_eq!(stored["data"], json!({"other": "eA==", "akash1a.pem": "b3Vycw=="}));

    // Two at once: both are told that theirs is there, and one of them is.
    let (one, two) = (entry("both"), entry("both"));
    let (one, two) = tokio::join!(one.write(b"one"), two.write(b"two"));
    assert_eq!((one, two), (Ok(()), Ok(())));
    assert!(entry("both").read().await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_that_is_away_is_no_empty_secret() {
    let mut bed = api_server().await;
    let client = bed::provider(&bed).await.client().unwrap();
    let client = KubeClient::new(client, Duration::from_secs(2), Arc::new(|_: &str, _| {}));
    bed.stop_api();
    let [namespace, secret, key] = ["akash-services", "cert", "a.pem"].map(str::to_owned);
    let entry = SecretEntry::new(client, namespace, secret, key);
    assert!(matches!(entry.read().await, Err(Failure::Unavailable { .. })));
}
