//! A kubelet without containers: what a pod becomes follows from the name of its image.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// The node.
pub(crate) const NODE: &str = "machine";

/// A kubelet at work; it ends with this.
pub(crate) struct Kubelet(JoinHandle<()>);

impl Drop for Kubelet {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Adds a node and runs what is scheduled on it.
pub(crate) async fn start(client: Client) -> Kubelet {
    let resources =
        json!({"cpu": "8", "memory": "16Gi", "ephemeral-storage": "64Gi", "pods": "110"});
    let node = json!({
        "metadata": {"name": NODE, "labels": {"akash.network": "true", "kubernetes.io/os": "linux"}},
        "status": {
            "capacity": resources, "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True", "reason": "Test"}],
        },
    });
    let node: Node = serde_json::from_value(node).unwrap();
    Api::<Node>::all(client.clone()).create(&PostParams::default(), &node).await.unwrap();
    Kubelet(tokio::spawn(async move {
        // Nothing watches here: what the driver's watches see must not be what made it.
        loop {
            let pods = Api::<Pod>::all(client.clone()).list(&ListParams::default()).await;
            for pod in pods.into_iter().flatten() {
                // A pod that changed meanwhile is dealt with in the next round.
                let _ = take(&client, &pod).await;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }))
}

async fn take(client: &Client, pod: &Pod) -> Result<(), kube::Error> {
    let namespace = pod.namespace().unwrap_or_default();
    let api: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    if pod.metadata.deletion_timestamp.is_some() {
        let now = DeleteParams::default().grace_period(0);
        api.delete(&pod.name_any(), &now).await?;
        return Ok(());
    }
    if pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()) != Some(NODE) {
        return Ok(());
    }
    let Some(status) = status(pod) else { return Ok(()) };
    let patch = Patch::Strategic(json!({"status": status}));
    api.patch_status(&pod.name_any(), &PatchParams::default(), &patch).await?;
    event(client, pod).await
}

/// The next status of a pod, if it is not there yet.
fn status(pod: &Pod) -> Option<Value> {
    let container = pod.spec.as_ref()?.containers.first()?;
    let image = container.image.clone().unwrap_or_default();
    let now = Timestamp::now().to_string();
    let statuses = pod.status.as_ref().and_then(|status| status.container_statuses.as_ref());
    let known = statuses.and_then(|statuses| statuses.first());
    let restarts = known.map_or(-1, |known| known.restart_count);
    let (state, last, ready, count) = match image.as_str() {
        "test/missing" => (
            json!({"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}),
            json!({}),
            false,
            0,
        ),
        "test/crash" if restarts < 2 => (
            json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}),
            json!({"terminated": {"exitCode": 1, "reason": "Error",
                "startedAt": now, "finishedAt": now}}),
            false,
            restarts + 1,
        ),
        "test/crash" => return None,
        _ => (json!({"running": {"startedAt": now}}), json!({}), true, 0),
    };
    let is_there = |known: &k8s_openapi::api::core::v1::ContainerStatus| {
        known.restart_count == count && known.ready == ready && known.state.is_some()
    };
    if known.is_some_and(is_there) {
        return None;
    }
    let said = if ready { "True" } else { "False" };
    let conditions = ["Initialized", "ContainersReady", "Ready"]
        .map(|kind| json!({"type": kind, "status": said, "lastTransitionTime": now}));
    Some(json!({
        "phase": if ready { "Running" } else { "Pending" },
        "conditions": conditions,
        "containerStatuses": [{
            "name": container.name, "image": image, "imageID": "", "ready": ready,
            "restartCount": count, "state": state, "lastState": last,
        }],
    }))
}

async fn event(client: &Client, pod: &Pod) -> Result<(), kube::Error> {
    let namespace = pod.namespace().unwrap_or_default();
    let event = json!({
        "metadata": {"generateName": "event-", "namespace": namespace},
        "eventTime": format!("{:.6}", Timestamp::now()),
        "action": "Seen", "reason": "Seen", "note": "the kubelet saw it", "type": "Normal",
        "reportingController": "kubelet", "reportingInstance": NODE,
        "regarding": {"kind": "Pod", "namespace": namespace, "name": pod.name_any()},
    });
    let event: k8s_openapi::api::events::v1::Event = serde_json::from_value(event).unwrap();
    let api: Api<k8s_openapi::api::events::v1::Event> = Api::namespaced(client.clone(), &namespace);
    api.create(&PostParams::default(), &event).await.map(drop)
}
