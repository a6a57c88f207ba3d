//! Controllers, the scheduler, and nodes that are only said to be there.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams};
use kube_bed::{Bed, FakeNode, FakeNodes};

use crate::real::common::{wait_for, web};

async fn pods(api: &Api<Pod>) -> Vec<Pod> {
    api.list(&ListParams::default()).await.unwrap().items
}

fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref()
}

#[tokio::test]
async fn a_deployment_becomes_pods_which_run_once_there_are_nodes_and_go_with_it() {
    let bed = Bed::control_plane().await.unwrap();
    let deployments: Api<Deployment> = Api::default_namespaced(bed.client());
    let api: Api<Pod> = Api::default_namespaced(bed.client());
    deployments.create(&PostParams::default(), &web(40)).await.unwrap();
    let waiting =
        wait_for("40 pods", async || Some(pods(&api).await).filter(|pods| pods.len() == 40));
    assert!(waiting.await.iter().all(|pod| node_of(pod).is_none()));

    let nodes = FakeNodes::start(bed.client(), &FakeNode::many(10)).await.unwrap();
    wait_for("all to be available", async || {
        let status = deployments.get("web").await.unwrap().status?;
        (status.available_replicas == Some(40)).then_some(())
    })
    .await;
    let all = pods(&api).await;
    assert!(all.iter().all(|pod| node_of(pod).is_some_and(|node| node.starts_with("fake-"))));

    deployments.delete("web", &DeleteParams::background()).await.unwrap();
    wait_for("no pod to be left", async || pods(&api).await.is_empty().then_some(())).await;
    drop(nodes);
}
