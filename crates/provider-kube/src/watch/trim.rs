//! Pods, nodes and volumes without what nobody here reads.
//!
//! A cluster has thousands of pods; what is kept of each is what it asks for, where it is and how.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{
    Container, Node, NodeSpec, NodeStatus, NodeSystemInfo, PersistentVolume, PersistentVolumeSpec,
    Pod, PodSpec, PodStatus, Volume,
};
use k8s_openapi::api::storage::v1::StorageClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use provider_crd::labels;
use serde::{Deserialize, Deserializer};

use crate::observe::rollout;

/// An object of which only what is needed is kept.
#[derive(Clone, Debug)]
pub(crate) struct Trimmed<T>(pub Arc<T>);

impl<'de, T: Trim + Deserialize<'de>> Deserialize<'de> for Trimmed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(|object| Self(Arc::new(object.trimmed())))
    }
}

pub(crate) trait Trim {
    fn trimmed(self) -> Self;
}

fn named(metadata: ObjectMeta) -> ObjectMeta {
    ObjectMeta {
        name: metadata.name,
        namespace: metadata.namespace,
        uid: metadata.uid,
        resource_version: metadata.resource_version,
        deletion_timestamp: metadata.deletion_timestamp,
        ..ObjectMeta::default()
    }
}

impl Trim for Pod {
    fn trimmed(self) -> Self {
        let Self { metadata, spec, status } = self;
        // Labels tell the lease, the service and the template; others have all kinds.
        let mut found = metadata.labels.clone().unwrap_or_default();
        found.retain(|key, _| labels::is_ours(key) || key == rollout::POD_REVISION);
        let owners = metadata.owner_references.clone();
        let owners =
            owners.map(|owners| owners.into_iter().filter(|it| it.controller == Some(true)));
        Self {
            metadata: ObjectMeta {
                labels: (!found.is_empty()).then_some(found),
                owner_references: owners.map(Iterator::collect),
                ..named(metadata)
            },
            spec: spec.map(|spec| PodSpec {
                node_name: spec.node_name,
                containers: containers(spec.containers),
                init_containers: spec.init_containers.map(containers),
                overhead: spec.overhead,
                resources: spec.resources,
                volumes: memory_volumes(spec.volumes),
                ..PodSpec::default()
            }),
            status: status.map(|status| PodStatus {
                phase: status.phase,
                reason: status.reason,
                message: status.message,
                conditions: status.conditions,
                container_statuses: status.container_statuses,
                init_container_statuses: status.init_container_statuses,
                start_time: status.start_time,
                ..PodStatus::default()
            }),
        }
    }
}

/// Volumes that are memory; few pods have any.
fn memory_volumes(volumes: Option<Vec<Volume>>) -> Option<Vec<Volume>> {
    let memory = |volume: &Volume| {
        volume.empty_dir.as_ref().is_some_and(|dir| dir.medium.as_deref() == Some("Memory"))
    };
    let found: Vec<_> = volumes?.into_iter().filter(memory).collect();
    (!found.is_empty()).then_some(found)
}

fn containers(containers: Vec<Container>) -> Vec<Container> {
    let trim = |container: Container| Container {
        name: container.name,
        resources: container.resources,
        restart_policy: container.restart_policy,
        ..Container::default()
    };
    containers.into_iter().map(trim).collect()
}

impl Trim for Node {
    fn trimmed(self) -> Self {
        let Self { metadata, spec, status } = self;
        let mut found = metadata.labels.clone().unwrap_or_default();
        found.retain(|key, _| labels::is_ours(key) || key == labels::NODE_ARCH);
        Self {
            metadata: ObjectMeta { labels: Some(found), ..named(metadata) },
            spec: spec.map(|spec| NodeSpec {
                taints: spec.taints,
                unschedulable: spec.unschedulable,
                ..NodeSpec::default()
            }),
            status: status.map(|status| NodeStatus {
                allocatable: status.allocatable,
                capacity: status.capacity,
                conditions: status.conditions,
                node_info: status.node_info.map(|info| NodeSystemInfo {
                    architecture: info.architecture,
                    ..NodeSystemInfo::default()
                }),
                ..NodeStatus::default()
            }),
        }
    }
}

impl Trim for PersistentVolume {
    fn trimmed(self) -> Self {
        Self {
            metadata: named(self.metadata),
            spec: self.spec.map(|spec| PersistentVolumeSpec {
                capacity: spec.capacity,
                claim_ref: spec.claim_ref,
                node_affinity: spec.node_affinity,
                storage_class_name: spec.storage_class_name,
                ..PersistentVolumeSpec::default()
            }),
            status: None,
        }
    }
}

impl Trim for StorageClass {
    fn trimmed(self) -> Self {
        let labels = self.metadata.labels.clone();
        Self {
            metadata: ObjectMeta { labels, ..named(self.metadata) },
            provisioner: self.provisioner,
            parameters: self.parameters,
            ..Self::default()
        }
    }
}
