//! Nodes that are only said to be there, for tests that need more machines than they have.
//!
//! One task plays the kubelet of all of them: a pod that the scheduler put there becomes ready at
//! once, one that is deleted is gone at once. Nothing runs; logs and shells do not exist.
//!
//! ```text
//! Pending, on a fake node ──run──▶ Running, ready ──test or controller deletes──▶ gone
//! ```

mod pod;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, Resource as _, ResourceExt as _};
use serde_json::json;
use tokio::task::JoinHandle;

use pod::{Step, next};

/// Pods that are dealt with at a time.
const AT_ONCE: usize = 32;

/// How often a write is tried. What fails longer is seen again when the watch begins anew.
const TRIES: u32 = 10;

/// A machine that is only said to be there.
#[derive(Clone, Debug)]
pub struct FakeNode {
    /// Its name.
    pub name: String,
    /// Labels beside those that every node has.
    pub labels: BTreeMap<String, String>,
    /// What it has, such as `cpu` or `nvidia.com/gpu`.
    pub resources: BTreeMap<String, String>,
}

impl FakeNode {
    /// Nodes `fake-0`, `fake-1` and so on with 64 processors, 256 GiB and 1 TiB each.
    pub fn many(count: usize) -> Vec<Self> {
        let resources =
            [("cpu", "64"), ("memory", "256Gi"), ("ephemeral-storage", "1Ti"), ("pods", "1000")];
        let resources = resources.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let node = |number| Self {
            name: format!("fake-{number}"),
            labels: BTreeMap::new(),
            resources: resources.clone().into(),
        };
        (0..count).map(node).collect()
    }

    fn object(&self) -> Result<Node> {
        let mut labels = self.labels.clone();
        for (label, value) in [
            ("kubernetes.io/hostname", self.name.as_str()),
            ("kubernetes.io/os", "linux"),
            ("kubernetes.io/arch", "amd64"),
        ] {
            labels.entry(label.to_owned()).or_insert_with(|| value.to_owned());
        }
        let node = json!({
            "metadata": {"name": self.name, "labels": labels},
            "status": {
                "capacity": self.resources, "allocatable": self.resources,
                "conditions": [{"type": "Ready", "status": "True", "reason": "Fake"}],
                "addresses": [{"type": "Hostname", "address": self.name}]
            }
        });
        Ok(serde_json::from_value(node)?)
    }
}

/// Fake nodes at work. Dropped, they do nothing any more, but stay in the cluster.
#[derive(Debug)]
pub struct FakeNodes {
    kubelet: JoinHandle<()>,
}

impl FakeNodes {
    /// Adds nodes to a cluster and runs what is scheduled on them.
    pub async fn start(client: Client, nodes: &[FakeNode]) -> Result<Self> {
        let api = Api::<Node>::all(client.clone());
        for node in nodes {
            let made = api.create(&PostParams::default(), &node.object()?).await;
            made.with_context(|| format!("making the node {}", node.name))?;
        }
        let names: Arc<BTreeSet<_>> = Arc::new(nodes.iter().map(|n| n.name.clone()).collect());
        Ok(Self { kubelet: tokio::spawn(run(client, names)) })
    }
}

impl Drop for FakeNodes {
    fn drop(&mut self) {
        self.kubelet.abort();
    }
}

async fn run(client: Client, nodes: Arc<BTreeSet<String>>) {
    let scheduled = watcher::Config::default().fields("spec.nodeName!=");
    let pods = watcher(Api::<Pod>::all(client.clone()), scheduled);
    pods.default_backoff()
        .applied_objects()
        .filter_map(async |pod| pod.ok())
        .for_each_concurrent(AT_ONCE, |pod| {
            let (client, nodes) = (client.clone(), nodes.clone());
            async move {
                let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
                if node.is_some_and(|node| nodes.contains(node)) {
                    take(&client, &pod).await;
                }
            }
        })
        .await;
}

/// Brings a pod one step on.
async fn take(client: &Client, pod: &Pod) {
    let Some(step) = next(pod, k8s_openapi::jiff::Timestamp::now()) else { return };
    let pods = Api::<Pod>::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    let name = pod.name_any();
    for _ in 0..TRIES {
        let done = match &step {
            Step::Run(status) => {
                let status = Patch::Strategic(json!({
                    "metadata": {"uid": pod.meta().uid}, "status": status
                }));
                pods.patch_status(&name, &PatchParams::default(), &status).await.map(drop)
            }
            Step::Remove => {
                let this = Preconditions { uid: pod.uid(), resource_version: None };
                let now = DeleteParams::default().grace_period(0).preconditions(this);
                pods.delete(&name, &now).await.map(drop)
            }
        };
        match done {
            // Gone, or another pod of that name: whoever did it has shown us or will.
            Err(kube::Error::Api(status)) if [404, 409].contains(&status.code) => return,
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
            Ok(()) => return,
        }
    }
}
