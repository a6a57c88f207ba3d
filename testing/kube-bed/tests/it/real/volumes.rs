//! Persistent volumes: room that the scheduler knows of.

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use kube::api::PostParams;
use kube::{Api, Client};
use kube_bed::{Bed, CapacityDriver, FakeNode, FakeNodes};
use serde_json::json;

use crate::real::common::wait_for;

const IMAGE: &str = "localhost/busybox:bed";

/// Makes a claim and a pod with it, both of one name. The pod writes `hello` into the volume.
async fn claim(client: &Client, name: &str, class: &str, size: &str) {
    let object = json!({
        "metadata": {"name": name},
        "spec": {"storageClassName": class, "accessModes": ["ReadWriteOnce"],
                 "resources": {"requests": {"storage": size}}}
    });
    let object: PersistentVolumeClaim = serde_json::from_value(object).unwrap();
    let claims = Api::default_namespaced(client.clone());
    claims.create(&PostParams::default(), &object).await.unwrap();
    let pod = json!({
        "metadata": {"name": name},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}],
            "containers": [{
                "name": "c", "image": IMAGE, "imagePullPolicy": "Never",
                "command": ["sh", "-c", "echo hello >/data/file && exec sleep 3600"],
                "readinessProbe": {"exec": {"command": ["cat", "/data/file"]}, "periodSeconds": 1},
                "volumeMounts": [{"name": "data", "mountPath": "/data"}]
            }]
        }
    });
    let pod: Pod = serde_json::from_value(pod).unwrap();
    Api::default_namespaced(client.clone()).create(&PostParams::default(), &pod).await.unwrap();
}

/// What a condition of a pod says: whether it is met, and why not.
async fn condition(pods: &Api<Pod>, name: &str, kind: &str) -> Option<(String, String)> {
    let conditions = pods.get(name).await.unwrap().status?.conditions?;
    let found = conditions.into_iter().find(|condition| condition.type_ == kind)?;
    Some((found.status, found.message.unwrap_or_default()))
}

/// Waits until a pod is ready; the node that it is on.
async fn wait_until_ready(pods: &Api<Pod>, name: &str) -> String {
    wait_for(&format!("the pod {name} to be ready"), async || {
        let (ready, _) = condition(pods, name, "Ready").await?;
        (ready == "True").then_some(())
    })
    .await;
    pods.get(name).await.unwrap().spec.unwrap().node_name.unwrap()
}

#[tokio::test]
async fn a_pod_is_scheduled_only_where_its_claim_has_room() {
    let bed = Bed::control_plane().await.unwrap();
    let pods: Api<Pod> = Api::default_namespaced(bed.client());
    let _nodes = FakeNodes::start(bed.client(), &FakeNode::many(3)).await.unwrap();
    let driver = CapacityDriver::install(bed.client(), "csi.example.com").await.unwrap();
    driver.add_class("fast").await.unwrap();
    driver.set_capacity("fast", "fake-0", "1Gi").await.unwrap();
    driver.set_capacity("fast", "fake-1", "10Gi").await.unwrap();

    claim(&bed.client(), "fits", "fast", "5Gi").await;
    assert_eq!(driver.provision("default", "fits").await.unwrap(), "fake-1");
    assert_eq!(wait_until_ready(&pods, "fits").await, "fake-1");

    claim(&bed.client(), "large", "fast", "50Gi").await;
    let why = wait_for("the scheduler to give up", async || {
        let (scheduled, why) = condition(&pods, "large", "PodScheduled").await?;
        (scheduled == "False").then_some(why)
    })
    .await;
    assert!(why.contains("did not have enough free storage"), "{why}");
    driver.set_capacity("fast", "fake-0", "100Gi").await.unwrap();
    assert_eq!(driver.provision("default", "large").await.unwrap(), "fake-0");
    assert_eq!(wait_until_ready(&pods, "large").await, "fake-0");
}
