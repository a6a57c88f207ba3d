//! GPUs of device plugins on real kubelets.

#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

use k8s_openapi::api::core::v1::{Node as NodeObject, Pod};
use kube::api::{AttachParams, PostParams};
use kube::{Api, Client};
use kube_bed::{Image, Node};
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::real::common::wait_for;

const IMAGE: &str = "localhost/busybox:bed";

/// Waits until a node has so many GPUs of a resource: all, and those that are healthy.
async fn wait_for_gpus(client: &Client, node: &str, resource: &str, wanted: (&str, &str)) {
    let nodes: Api<NodeObject> = Api::all(client.clone());
    wait_for(&format!("{wanted:?} of {resource} on {node}"), async || {
        let status = nodes.get(node).await.unwrap().status?;
        let all = status.capacity?.get(resource)?.0.clone();
        let healthy = status.allocatable?.get(resource)?.0.clone();
        ((all.as_str(), healthy.as_str()) == wanted).then_some(())
    })
    .await;
}

/// Starts a pod with one GPU; the node that it runs on.
async fn run_with_gpu(pods: &Api<Pod>, name: &str, resource: &str) -> String {
    let pod = json!({
        "metadata": {"name": name},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "c", "image": IMAGE, "imagePullPolicy": "Never",
                "command": ["sleep", "3600"], "resources": {"limits": {resource: "1"}}
            }]
        }
    });
    pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    wait_for("a pod with a GPU to run", async || {
        let pod = pods.get(name).await.unwrap();
        let is_running = pod.status?.phase.as_deref() == Some("Running");
        is_running.then_some(pod.spec?.node_name?)
    })
    .await
}

async fn run_in(pods: &Api<Pod>, name: &str, script: &str) -> Option<String> {
    let shell = pods.exec(name, ["sh", "-c", script], &AttachParams::default()).await;
    let mut said = String::new();
    shell.ok()?.stdout()?.read_to_string(&mut said).await.ok()?;
    Some(said.trim().to_owned())
}

/// Waits until a kubelet that was started again knows the pod with these GPUs.
async fn wait_until_known(pods: &Api<Pod>, held: &str) {
    wait_for("the pod to be known", async || {
        let said = run_in(pods, "cuda", "echo $NVIDIA_VISIBLE_DEVICES").await?;
        (said == held).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gpus_of_two_vendors_are_scheduled_turn_unhealthy_and_survive_restarts() {
    if let Some(why) = Node::missing() {
        eprintln!("{why}");
        return;
    }
    let (nvidia, amd) = ("nvidia.com/gpu", "amd.com/gpu");
    let mut bed = Node::start_many(2).await.unwrap();
    bed.import(&Image::busybox(IMAGE, &["sh"]).unwrap()).unwrap();
    let client = bed.client();
    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    let nodes: Vec<String> = bed.nodes().into_iter().map(|(name, _)| name).collect();
    let (one, other) = (nodes[0].as_str(), nodes[1].as_str());
    let plugin = bed.start_device_plugin(one, nvidia, 2).await.unwrap();
    let _amd = bed.start_device_plugin(other, amd, 2).await.unwrap();
    wait_for_gpus(&client, one, nvidia, ("2", "2")).await;
    wait_for_gpus(&client, other, amd, ("2", "2")).await;

    // Each pod runs where its vendor is, and sees its own device only.
    let (on_nvidia, on_amd) =
        tokio::join!(run_with_gpu(&pods, "cuda", nvidia), run_with_gpu(&pods, "rocm", amd));
    assert_eq!((on_nvidia.as_str(), on_amd.as_str()), (one, other));
    let held = run_in(&pods, "cuda", "echo $NVIDIA_VISIBLE_DEVICES").await.unwrap();
    let ids = plugin.ids();
    let number = ids.iter().position(|id| *id == held).unwrap();
    let free = &ids[1 - number];
    let list = "for it in /dev/nvidia*; do [ -c $it ] && echo $it; done";
    assert_eq!(run_in(&pods, "cuda", list).await.unwrap(), format!("/dev/nvidia{number}"));
    let amd_held = run_in(&pods, "rocm", "echo $AMD_VISIBLE_DEVICES").await.unwrap();
    assert!(amd_held.starts_with("amd-gpu-"), "{amd_held}");

    for (id, healthy, left) in
        [(free, false, "1"), (&held, false, "0"), (free, true, "1"), (&held, true, "2")]
    {
        plugin.set_healthy(id, healthy).unwrap();
        wait_for_gpus(&client, one, nvidia, ("2", left)).await;
    }

    // The plugin dies, the kubelet forgets its GPUs, and both come back.
    drop(plugin);
    wait_for_gpus(&client, one, nvidia, ("2", "0")).await;
    bed.restart_kubelet(one).await.unwrap();
    wait_for_gpus(&client, one, nvidia, ("0", "0")).await;
    wait_until_known(&pods, &held).await;
    let plugin = bed.start_device_plugin(one, nvidia, 2).await.unwrap();
    wait_for_gpus(&client, one, nvidia, ("2", "2")).await;

    // A plugin that lives on registers with the new kubelet.
    assert_eq!(plugin.registrations(), 1);
    bed.restart_kubelet(one).await.unwrap();
    wait_for("the plugin to register again", async || (plugin.registrations() == 2).then_some(()))
        .await;
    plugin.set_healthy(free, false).unwrap();
    wait_for_gpus(&client, one, nvidia, ("2", "1")).await;

    wait_for_gpus(&client, other, amd, ("2", "2")).await;
    wait_until_known(&pods, &held).await;
    let status = pods.get("cuda").await.unwrap().status.unwrap();
    assert_eq!(status.container_statuses.unwrap()[0].restart_count, 0);
}
