//! What a service's volumes become.

use akash_types::{Storage, attribute};
use k8s_openapi::api::core::v1::{
    EmptyDirVolumeSource, PersistentVolumeClaim, PersistentVolumeClaimSpec, Volume, VolumeMount,
    VolumeResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use provider_crd::names;

use super::{BuildError, container::bounded, quantity};
use crate::resolve::Service;

/// The class that stands for whatever the cluster takes by default.
const DEFAULT_CLASS: &str = "default";

pub(super) fn memory(service: &Service) -> Result<Vec<Volume>, BuildError> {
    let memory = service.volumes().filter(|volume| is_memory(volume));
    let volumes = memory.map(|volume| {
        let size = bounded(service, "storage", volume.quantity)?;
        let directory = EmptyDirVolumeSource {
            medium: Some("Memory".to_owned()),
            size_limit: Some(quantity::whole(size)),
            ..EmptyDirVolumeSource::default()
        };
        Ok(Volume {
            name: names::volume(service.name(), &volume.name),
            empty_dir: Some(directory),
            ..Volume::default()
        })
    });
    volumes.collect()
}

/// Claims of volumes that outlive their pod.
pub(super) fn claims(service: &Service) -> Result<Vec<PersistentVolumeClaim>, BuildError> {
    let persistent = service.volumes().filter(|volume| volume.is_persistent());
    let claims = persistent.map(|volume| {
        let size = quantity::whole(bounded(service, "storage", volume.quantity)?);
        let class = volume.class().filter(|class| *class != DEFAULT_CLASS);
        let spec = PersistentVolumeClaimSpec {
            access_modes: Some(vec!["ReadWriteOnce".to_owned()]),
            volume_mode: Some("Filesystem".to_owned()),
            storage_class_name: class.map(str::to_owned),
            resources: Some(VolumeResourceRequirements {
                requests: Some([("storage".to_owned(), size)].into()),
                ..VolumeResourceRequirements::default()
            }),
            ..PersistentVolumeClaimSpec::default()
        };
        let name = Some(names::volume(service.name(), &volume.name));
        Ok(PersistentVolumeClaim {
            metadata: ObjectMeta { name, ..ObjectMeta::default() },
            spec: Some(spec),
            ..PersistentVolumeClaim::default()
        })
    });
    claims.collect()
}

pub(super) fn mounts(service: &Service) -> Vec<VolumeMount> {
    let mounts = service.mounts().map(|mount| VolumeMount {
        name: names::volume(service.name(), &mount.name),
        mount_path: mount.mount.clone(),
        read_only: mount.read_only.then_some(true),
        ..VolumeMount::default()
    });
    mounts.collect()
}

/// Only a volume that says it is not persistent becomes memory, unlike in the limit of memory.
fn is_memory(volume: &Storage) -> bool {
    let persistent = attribute::find(&volume.attributes, "persistent");
    volume.is_ram() && matches!(persistent, Some("0" | "f" | "F" | "false" | "FALSE" | "False"))
}
