//! A CSI driver that consists of objects alone: it says how much room nodes have, which the
//! scheduler honours. Its volumes can be bound, not mounted.

use anyhow::{Context, Result};
use futures_util::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::{CSIDriver, CSIStorageCapacity, StorageClass};
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use serde_json::json;

/// Where a claim says which node its pod is to run on.
const SELECTED: &str = "volume.kubernetes.io/selected-node";

/// Where capacities are kept.
const NAMESPACE: &str = "kube-system";

/// A CSI driver that publishes storage capacity.
#[derive(Clone)]
pub struct CapacityDriver {
    client: Client,
    name: String,
}

impl CapacityDriver {
    /// Makes the driver's object.
    pub async fn install(client: Client, name: &str) -> Result<Self> {
        let driver: CSIDriver = serde_json::from_value(json!({
            "metadata": {"name": name}, "spec": {"attachRequired": false, "storageCapacity": true}
        }))?;
        Api::all(client.clone()).create(&PostParams::default(), &driver).await?;
        Ok(Self { client, name: name.to_owned() })
    }

    /// Makes a class whose claims wait for their first pod.
    pub async fn add_class(&self, class: &str) -> Result<()> {
        let class: StorageClass = serde_json::from_value(json!({
            "metadata": {"name": class}, "provisioner": self.name,
            "volumeBindingMode": "WaitForFirstConsumer"
        }))?;
        Api::all(self.client.clone()).create(&PostParams::default(), &class).await?;
        Ok(())
    }

    /// Says how much room a class has on a node, such as `10Gi`.
    pub async fn set_capacity(&self, class: &str, node: &str, room: &str) -> Result<()> {
        let capacities: Api<CSIStorageCapacity> = Api::namespaced(self.client.clone(), NAMESPACE);
        let name = format!("{class}-{node}");
        let capacity = json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
            "metadata": {"name": name}, "storageClassName": class, "capacity": room,
            "nodeTopology": {"matchLabels": {"kubernetes.io/hostname": node}}
        });
        let owner = PatchParams::apply("kube-bed").force();
        capacities.patch(&name, &owner, &Patch::Apply(capacity)).await?;
        Ok(())
    }

    /// Waits until the scheduler has chosen a node for a claim, and gives it a volume there; the
    /// node.
    pub async fn provision(&self, namespace: &str, claim: &str) -> Result<String> {
        let claims: Api<PersistentVolumeClaim> = Api::namespaced(self.client.clone(), namespace);
        let this = watcher::Config::default().fields(&format!("metadata.name={claim}"));
        let chosen = watcher(claims, this).applied_objects().try_filter_map(async |claim| {
            let node = claim.annotations().get(SELECTED).cloned();
            Ok(node.map(|node| (claim, node)))
        });
        let (object, node) = std::pin::pin!(chosen).next().await.context("no more claims")??;
        let uid = object.uid();
        let spec = object.spec.context("a claim without a specification")?;
        let volume: PersistentVolume = serde_json::from_value(json!({
            "metadata": {"name": format!("pvc-{}", uid.as_deref().unwrap_or_default())},
            "spec": {
                "accessModes": spec.access_modes, "storageClassName": spec.storage_class_name,
                "capacity": spec.resources.and_then(|resources| resources.requests),
                "claimRef": {"namespace": namespace, "name": claim, "uid": uid},
                "csi": {"driver": self.name, "volumeHandle": claim},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{
                    "key": "kubernetes.io/hostname", "operator": "In", "values": [node]
                }]}]}}
            }
        }))?;
        Api::all(self.client.clone()).create(&PostParams::default(), &volume).await?;
        Ok(node)
    }
}
