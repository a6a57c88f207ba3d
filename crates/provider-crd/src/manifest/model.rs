//! The custom resource's types, key by key.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::object::{CustomObject, Spec, Unknown, is_zero, nullable};

/// What a lease shall run. Its name is the lease's namespace.
pub type Manifest = CustomObject<ManifestSpec>;

/// What a lease shall run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ManifestSpec {
    /// The lease.
    pub lease_id: LeaseRef,
    /// Its group of services.
    pub group: Group,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl Spec for ManifestSpec {
    const KIND: &'static str = "Manifest";
    const LIST_KIND: &'static str = "ManifestList";
    const PLURAL: &'static str = "manifests";
    const SINGULAR: &'static str = "manifest";
    const SHORT_NAME: &'static str = "mani";
}

/// A lease's id. Its bid's number is not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeaseRef {
    /// The tenant.
    pub owner: String,
    /// Number of the deployment, as decimal text.
    pub dseq: String,
    /// Number of the group.
    pub gseq: u32,
    /// Number of the order.
    pub oseq: u32,
    /// Who provides.
    pub provider: String,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Services under one lease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// The placement's name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The services, in the order in which they were sent.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub services: Vec<Service>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// An image with its replicas.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Service {
    /// Its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The image.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub image: String,
    /// Replaces the image's entry point.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub command: Vec<String>,
    /// Replaces the image's arguments.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub args: Vec<String>,
    /// `NAME=value` entries.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub env: Vec<String>,
    /// What one replica gets.
    pub resources: Resources,
    /// How many replicas.
    #[serde(skip_serializing_if = "is_zero")]
    pub count: u32,
    /// Ports.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub expose: Vec<Expose>,
    /// Mounts and permissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Params>,
    /// What was decided about where it may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_params: Option<SchedulerParams>,
    /// A login to the image's registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// What one replica gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resources {
    /// The resource unit of the group.
    pub id: u32,
    /// CPU.
    pub cpu: Processor,
    /// Cards; there with 0 units if none.
    pub gpu: Gpu,
    /// Memory.
    pub memory: Memory,
    /// Volumes.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub storage: Vec<Storage>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Processor {
    /// Thousandths of a core.
    pub units: u32,
    /// Constraints.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub attributes: Vec<Attribute>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Cards.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gpu {
    /// Whole cards.
    pub units: u32,
    /// Acceptable cards.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub attributes: Vec<Attribute>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Bytes, as decimal text.
    pub size: String,
    /// Constraints.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub attributes: Vec<Attribute>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// A volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Storage {
    /// Name within the unit.
    pub name: String,
    /// Bytes, as decimal text.
    pub size: String,
    /// `persistent` and `class`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub attributes: Vec<Attribute>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// A key with a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attribute {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// A port and who may reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Expose {
    /// The container's port.
    #[serde(skip_serializing_if = "is_zero")]
    pub port: u16,
    /// The port outside; 0 means the same.
    #[serde(skip_serializing_if = "is_zero")]
    pub external_port: u16,
    /// `TCP` or `UDP`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub proto: String,
    /// The service that may reach it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub service: String,
    /// Whether it is open to the world.
    #[serde(skip_serializing_if = "is_zero")]
    pub global: bool,
    /// Hostnames.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub hosts: Vec<String>,
    /// How an ingress treats requests; there even if it says nothing.
    pub http_options: HttpOptions,
    /// Name of the IP endpoint, which is no address.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ip: String,
    /// Number of the IP endpoint.
    pub endpoint_sequence_number: u32,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Options of an HTTP ingress; times in milliseconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HttpOptions {
    /// The largest request body.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_body_size: u32,
    /// How long to wait for an answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_timeout: u32,
    /// How long to wait for a request to be taken.
    #[serde(skip_serializing_if = "is_zero")]
    pub send_timeout: u32,
    /// How many backends to try.
    #[serde(skip_serializing_if = "is_zero")]
    pub next_tries: u32,
    /// How long to go on trying.
    #[serde(skip_serializing_if = "is_zero")]
    pub next_timeout: u32,
    /// When to try the next one.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub next_cases: Vec<String>,
    /// How the proxy buffers answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyOptions>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// How the proxy in front of a service buffers answers; times in milliseconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProxyOptions {
    /// Whether answers are passed on as they come.
    #[serde(skip_serializing_if = "is_zero")]
    pub buffering_disable: bool,
    /// The buffer for the first part of an answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub buffer_size: u32,
    /// How many buffers there are for the rest.
    #[serde(skip_serializing_if = "is_zero")]
    pub buffers_number: u32,
    /// The size of each of them.
    #[serde(skip_serializing_if = "is_zero")]
    pub buffers_size: u32,
    /// How much of them may be busy while the rest is read.
    #[serde(skip_serializing_if = "is_zero")]
    pub busy_buffers_size: u32,
    /// How long to wait for a connection.
    #[serde(skip_serializing_if = "is_zero")]
    pub connect_timeout: u32,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Mounts and permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    /// Where volumes are mounted.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub storage: Vec<Mount>,
    /// What the pods may read of their lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Where a volume is mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mount {
    /// The volume.
    pub name: String,
    /// A path.
    pub mount: String,
    /// Whether the service may not write to it.
    #[serde(rename = "readOnly")]
    pub read_only: bool,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// What the pods may read of their lease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Permissions {
    /// `logs`, `events` and others.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub read: Vec<String>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// What was decided about where a service may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SchedulerParams {
    /// The runtime class; empty or `none` for the cluster's own.
    pub runtime_class: String,
    /// What it was promised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<SchedulerResources>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// What a service was promised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SchedulerResources {
    /// The card.
    pub gpu: Option<SchedulerGpu>,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// The card that a service was promised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SchedulerGpu {
    /// Who made it.
    pub vendor: String,
    /// Model.
    pub model: String,
    /// Memory; empty if it is not pinned.
    pub memory_size: String,
    /// How it is attached; empty if it is not pinned.
    pub interface: String,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// A login to an image registry. The password stays out of debug output.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Credentials {
    /// The registry.
    pub host: String,
    /// An address that some registries ask for.
    pub email: String,
    /// The user.
    pub username: String,
    /// The secret.
    pub password: String,
    /// What else it says.
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("host", &self.host)
            .field("username", &self.username)
            .finish_non_exhaustive()
    }
}
