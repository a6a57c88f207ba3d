//! The one container of a pod.

use akash_types::{Storage, attribute};
use k8s_openapi::api::core::v1::{
    Container, ContainerPort, EmptyDirVolumeSource, EnvVar, PersistentVolumeClaim,
    PersistentVolumeClaimSpec, ResourceRequirements, SecurityContext, Volume, VolumeMount,
    VolumeResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use provider_crd::names;

use super::{BuildError, quantity};
use crate::resolve::{Lease, Service};
use crate::settings::Settings;

pub(super) fn of(
    lease: &Lease,
    service: &Service,
    settings: &Settings,
) -> Result<Container, BuildError> {
    let wanted = &service.wanted;
    let list = |list: &Option<Vec<String>>| list.clone().filter(|list| !list.is_empty());
    let ports = service.exposes().map(|expose| port(service, expose.port));
    let ports: Vec<_> = ports.collect::<Result<_, _>>()?;
    let mounts = mounts(service);
    Ok(Container {
        name: service.name().to_owned(),
        image: Some(wanted.image.clone()),
        image_pull_policy: Some("IfNotPresent".to_owned()),
        command: list(&wanted.command),
        args: list(&wanted.args),
        env: Some(environment(lease, service, settings)),
        ports: (!ports.is_empty()).then_some(ports),
        volume_mounts: (!mounts.is_empty()).then_some(mounts),
        resources: Some(resources(service, settings)?),
        security_context: Some(SecurityContext {
            run_as_non_root: Some(false),
            privileged: Some(false),
            allow_privilege_escalation: Some(false),
            capabilities: settings.isolation.capabilities(),
            ..SecurityContext::default()
        }),
        ..Container::default()
    })
}

/// An amount that Kubernetes can hold.
pub(super) fn bounded(
    service: &Service,
    what: &'static str,
    value: u64,
) -> Result<u64, BuildError> {
    let too_large = || BuildError::TooLarge { service: service.name().to_owned(), what, value };
    i64::try_from(value).map(|_| value).map_err(|_| too_large())
}

/// One entry per expose, also twice the same and without a protocol: that is how live pods have it.
fn port(service: &Service, port: u32) -> Result<ContainerPort, BuildError> {
    let container_port = super::service::number(service, port)?;
    Ok(ContainerPort { container_port, ..ContainerPort::default() })
}

/// What the scheduler sets aside, and what the container may use at most.
fn resources(service: &Service, settings: &Settings) -> Result<ResourceRequirements, BuildError> {
    let missing = |what| BuildError::Missing { service: service.name().to_owned(), what };
    let wanted = &service.wanted.resources;
    let cpu = wanted.cpu.as_ref().ok_or_else(|| missing("CPU"))?;
    let gpu = wanted.gpu.as_ref().ok_or_else(|| missing("GPU"))?;
    let memory = wanted.memory.as_ref().ok_or_else(|| missing("memory"))?;
    let levels = settings.overcommit.levels();
    let mut amounts = Amounts::default();

    let units = bounded(service, "CPU", cpu.units)?;
    amounts.put("cpu", quantity::milli(levels.cpu.request(units)), quantity::milli(units));

    if gpu.units > 0 {
        let cards = quantity::whole(bounded(service, "GPU", gpu.units)?);
        amounts.put(card_resource(service)?, cards.clone(), cards);
    }

    // If several volumes live with the pod, the last one counts: so it is in live templates.
    let plain =
        |volume: &&akash_types::Storage| !volume.is_persistent() && volume.class().is_none();
    if let Some(volume) = service.volumes().filter(plain).last() {
        let size = bounded(service, "storage", volume.quantity)?;
        let request = quantity::whole(levels.storage.request(size));
        amounts.put("ephemeral-storage", request, quantity::whole(size));
    }

    let size = bounded(service, "memory", memory.quantity)?;
    let ram = service.volumes().filter(|volume| volume.is_ram());
    let limit = ram.fold(size, |sum, volume| sum.saturating_add(volume.quantity));
    let limit = quantity::whole(bounded(service, "memory", limit)?);
    amounts.put("memory", quantity::whole(levels.memory.request(size)), limit);

    Ok(ResourceRequirements {
        requests: Some(amounts.requests.into_iter().collect()),
        limits: Some(amounts.limits.into_iter().collect()),
        ..ResourceRequirements::default()
    })
}

#[derive(Default)]
struct Amounts {
    requests: Vec<(String, Quantity)>,
    limits: Vec<(String, Quantity)>,
}

impl Amounts {
    fn put(&mut self, resource: &str, request: Quantity, limit: Quantity) {
        self.requests.push((resource.to_owned(), request));
        self.limits.push((resource.to_owned(), limit));
    }
}

/// What the device plugin calls the promised card.
fn card_resource(service: &Service) -> Result<&'static str, BuildError> {
    let resources = service.scheduler.as_ref().and_then(|params| params.resources.as_ref());
    let card = resources.and_then(|resources| resources.gpu.as_ref());
    match card.map(|card| card.vendor.as_str()) {
        Some("nvidia") => Ok("nvidia.com/gpu"),
        Some("amd") => Ok("amd.com/gpu"),
        Some(vendor) => Err(BuildError::Vendor {
            service: service.name().to_owned(),
            vendor: vendor.to_owned(),
        }),
        None => Err(BuildError::NoCard { service: service.name().to_owned() }),
    }
}

/// What the tenant set, in order, then what the provider tells, where the tenant did not set it.
fn environment(lease: &Lease, service: &Service, settings: &Settings) -> Vec<EnvVar> {
    let set = service.wanted.env.iter().flatten().map(|entry| {
        let (name, value) = entry.split_once('=').unwrap_or((entry, ""));
        // No value and an empty one are the same, and stored without.
        EnvVar { value: (!value.is_empty()).then(|| value.to_owned()), ..named(name) }
    });
    let mut env: Vec<EnvVar> = set.collect();
    let told = [
        ("AKASH_GROUP_SEQUENCE", lease.id.gseq().to_string()),
        ("AKASH_DEPLOYMENT_SEQUENCE", lease.id.dseq().to_string()),
        ("AKASH_ORDER_SEQUENCE", lease.id.oseq().to_string()),
        ("AKASH_OWNER", lease.id.owner().to_string()),
        ("AKASH_PROVIDER", lease.id.provider().to_string()),
        ("AKASH_CLUSTER_PUBLIC_HOSTNAME", settings.public_hostname.clone()),
    ];
    for (name, value) in told {
        if !env.iter().any(|known| known.name == name) {
            env.push(EnvVar { value: (!value.is_empty()).then_some(value), ..named(name) });
        }
    }
    env
}

fn named(name: &str) -> EnvVar {
    EnvVar { name: name.to_owned(), ..EnvVar::default() }
}

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
