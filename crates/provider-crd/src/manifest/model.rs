//! The custom resource's types, key by key.

use serde::{Deserialize, Serialize};

use crate::names::{CustomObject, Spec, Unknown, is_zero, nullable};

/// What a lease shall run. Its name is the lease's namespace.
pub type Manifest = CustomObject<ManifestSpec>;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ManifestSpec {
    pub lease_id: LeaseRef,
    pub group: Group,
    #[serde(flatten)]
    pub unknown: Unknown,
}

impl ManifestSpec {
    /// Whether it has fields that definitions of Go v0.16.2 do not have: a cluster with such
    /// definitions drops them when they are written.
    pub fn has_newer_fields(&self) -> bool {
        let mut exposes = self.group.services.iter().flat_map(|service| &service.expose);
        exposes.any(|expose| expose.http_options.proxy.is_some())
    }
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
    pub owner: String,
    /// Number of the deployment, as decimal text.
    pub dseq: String,
    pub gseq: u32,
    pub oseq: u32,
    pub provider: String,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The services, in the order in which they were sent.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub services: Vec<Service>,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Service {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub image: String,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub command: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub args: Vec<String>,
    /// `NAME=value` entries.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub env: Vec<String>,
    pub resources: Resources,
    #[serde(skip_serializing_if = "is_zero")]
    pub count: u32,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub expose: Vec<Expose>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<Params>,
    /// What was decided about where it may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_params: Option<SchedulerParams>,
    /// A login to the image's registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credentials: Option<Credentials>,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resources {
    /// The resource unit of the group.
    pub id: u32,
    pub cpu: Processor,
    /// Cards; there with 0 units if none.
    pub gpu: Gpu,
    pub memory: Memory,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub storage: Vec<Storage>,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Processor {
    /// Thousandths of a core.
    pub units: u32,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub attributes: Vec<Attribute>,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Gpu {
    pub units: u32,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub attributes: Vec<Attribute>,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Bytes, as decimal text.
    pub size: String,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub attributes: Vec<Attribute>,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Storage {
    pub name: String,
    /// Bytes, as decimal text.
    pub size: String,
    /// `persistent` and `class`.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub attributes: Vec<Attribute>,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attribute {
    pub key: String,
    pub value: String,
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// A port and who may reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Expose {
    #[serde(skip_serializing_if = "is_zero")]
    pub port: u16,
    /// The port outside; 0 means the same.
    #[serde(skip_serializing_if = "is_zero")]
    pub external_port: u16,
    /// `TCP` or `UDP`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub proto: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub service: String,
    /// Whether it is open to the world.
    #[serde(skip_serializing_if = "is_zero")]
    pub global: bool,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub hosts: Vec<String>,
    /// How an ingress treats requests; there even if it says nothing.
    pub http_options: HttpOptions,
    /// Name of the IP endpoint, which is no address.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ip: String,
    pub endpoint_sequence_number: u32,
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// Options of an HTTP ingress; times in milliseconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct HttpOptions {
    #[serde(skip_serializing_if = "is_zero")]
    pub max_body_size: u32,
    /// How long to wait for an answer.
    #[serde(skip_serializing_if = "is_zero")]
    pub read_timeout: u32,
    /// How long to wait for a request to be taken.
    #[serde(skip_serializing_if = "is_zero")]
    pub send_timeout: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub next_tries: u32,
    /// How long to go on trying.
    #[serde(skip_serializing_if = "is_zero")]
    pub next_timeout: u32,
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub next_cases: Vec<String>,
    /// How the proxy buffers answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxyOptions>,
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
    #[serde(skip_serializing_if = "is_zero")]
    pub buffers_size: u32,
    /// How much of them may be busy while the rest is read.
    #[serde(skip_serializing_if = "is_zero")]
    pub busy_buffers_size: u32,
    /// How long to wait for a connection.
    #[serde(skip_serializing_if = "is_zero")]
    pub connect_timeout: u32,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "nullable")]
    pub storage: Vec<Mount>,
    /// What the pods may read of their lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Permissions>,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mount {
    pub name: String,
    pub mount: String,
    /// Whether the service may not write to it.
    #[serde(rename = "readOnly")]
    pub read_only: bool,
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
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// What was decided about where a service may run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SchedulerParams {
    /// The runtime class; empty or `none` for the cluster's own.
    pub runtime_class: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<SchedulerResources>,
    #[serde(flatten)]
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SchedulerResources {
    pub gpu: Option<SchedulerGpu>,
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// The card that a service was promised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SchedulerGpu {
    pub vendor: String,
    pub model: String,
    /// Memory; empty if it is not pinned.
    pub memory_size: String,
    /// How it is attached; empty if it is not pinned.
    pub interface: String,
    #[serde(flatten)]
    pub unknown: Unknown,
}

/// A login to an image registry. The password stays out of debug output.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, derive_more::Debug)]
#[debug("Credentials {{ host: {:?}, username: {:?}, .. }}", self.host, self.username)]
#[serde(default)]
pub struct Credentials {
    pub host: String,
    /// An address that some registries ask for.
    pub email: String,
    pub username: String,
    pub password: String,
    #[serde(flatten)]
    pub unknown: Unknown,
}
