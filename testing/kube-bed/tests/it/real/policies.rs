//! Two nodes that enforce network policies, shown with real connections.

#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

use std::net::Ipv4Addr;

use k8s_openapi::api::core::v1::{Namespace, Pod};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use kube::api::{AttachParams, DeleteParams, PostParams};
use kube::{Api, Client};
use kube_bed::{Image, Node};
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::real::common::wait_for;

const IMAGE: &str = "localhost/busybox:bed";
const INTERNET: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 10);

/// Starts a pod that serves on port 8080; its address.
async fn serve(client: &Client, namespace: &str, name: &str, node: &str) -> String {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let pod = json!({
        "metadata": {"name": name},
        "spec": {
            "nodeName": node, "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "c", "image": IMAGE, "imagePullPolicy": "Never",
                "command": ["sh", "-c", "cd /tmp && echo hello >index.html && exec httpd -f -p 8080"]
            }]
        }
    });
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    let ip = wait_for("a pod to run", async || {
        let status = pods.get(name).await.unwrap().status?;
        (status.phase.as_deref() == Some("Running")).then_some(status.pod_ip?)
    })
    .await;
    wait_for("its server to listen", async || {
        connects(client, namespace, name, "127.0.0.1", 8080).await.then_some(())
    })
    .await;
    ip
}

/// Whether a pod can connect.
async fn connects(client: &Client, namespace: &str, name: &str, ip: &str, port: u16) -> bool {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let script = format!("nc -w 2 {ip} {port} </dev/null >/dev/null 2>&1 && echo yes || echo no");
    let attached = pods.exec(name, ["sh", "-c", &script], &AttachParams::default()).await;
    let mut said = String::new();
    attached.unwrap().stdout().unwrap().read_to_string(&mut said).await.unwrap();
    assert!(["yes", "no"].contains(&said.trim()), "the pod said {said:?}");
    said.trim() == "yes"
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_are_enforced_within_and_between_nodes_and_nothing_is_left() {
    if let Some(why) = Node::missing() {
        eprintln!("{why}");
        return;
    }
    let mut node = Node::with_policies(2).await.unwrap();
    node.serve_outside(&[INTERNET]).await.unwrap();
    node.import(&Image::busybox(IMAGE, &["sh"]).unwrap()).unwrap();
    let client = node.client();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for name in ["a", "b"] {
        let namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    }
    let nodes: Vec<String> = node.nodes().into_iter().map(|(name, _)| name).collect();
    let (own, other, internet) = (&nodes[0], &nodes[1], INTERNET.to_string());
    wait_for("service accounts", async || {
        let accounts = async |name: &str| {
            let accounts: Api<k8s_openapi::api::core::v1::ServiceAccount> =
                Api::namespaced(client.clone(), name);
            accounts.get("default").await.is_ok()
        };
        (accounts("a").await && accounts("b").await).then_some(())
    })
    .await;
    let (_from, same_lease, same_node, other_node) = tokio::join!(
        serve(&client, "a", "from", own),
        serve(&client, "a", "peer", other),
        serve(&client, "b", "near", own),
        serve(&client, "b", "far", other),
    );
    let reaches = async |ip: &str, port: u16| connects(&client, "a", "from", ip, port).await;
    // On a busy machine a connection may take longer than one attempt waits.
    let opens = async |ip: &str, port: u16| {
        let what = format!("a connection to {ip}:{port}");
        wait_for(&what, async || reaches(ip, port).await.then_some(())).await;
    };
    for (target, port) in
        [(&same_lease, 8080), (&same_node, 8080), (&other_node, 8080), (&internet, 80)]
    {
        opens(target, port).await;
    }

    // Out to the own namespace only.
    let policies: Api<NetworkPolicy> = Api::namespaced(client.clone(), "a");
    let own_only = json!({
        "metadata": {"name": "own"},
        "spec": {"podSelector": {}, "policyTypes": ["Egress"],
                 "egress": [{"to": [{"podSelector": {}}]}]}
    });
    policies
        .create(&PostParams::default(), &serde_json::from_value(own_only).unwrap())
        .await
        .unwrap();
    wait_for("the policy to hold", async || (!reaches(&same_node, 8080).await).then_some(())).await;
    assert!(!reaches(&other_node, 8080).await);
    assert!(!reaches(&internet, 80).await);
    assert!(!reaches(&node.ip().to_string(), 10250).await, "the kubelet of its own node");
    // Its own namespace, on another node.
    opens(&same_lease, 8080).await;

    policies.delete("own", &DeleteParams::default()).await.unwrap();
    opens(&other_node, 8080).await;

    let folder = node.folder().to_owned();
    drop(node);
    assert!(!folder.exists());
    let left = std::process::Command::new("ip").arg("netns").output().unwrap();
    let claims = std::fs::read_dir("/run/kube-bed").unwrap().map(|claim| claim.unwrap().path());
    let mut ours = claims.filter(|claim| std::fs::read_link(claim).is_ok_and(|to| to == folder));
    assert_eq!(ours.next(), None, "{}", String::from_utf8_lossy(&left.stdout));
}
