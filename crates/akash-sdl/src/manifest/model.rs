//! The manifest's types.

use akash_types::{Cpu, Endpoint, Gpu, Memory, Storage};

/// Groups of services, one per placement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The groups, sorted by name when built from an SDL.
    pub groups: Vec<Group>,
}

/// What runs under one lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The placement's name, equal to the deployment group's.
    pub name: String,
    /// The services, which have to be sorted by name.
    pub services: Vec<Service>,
}

/// A container image with its replicas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// A DNS label.
    pub name: String,
    /// The image to run.
    pub image: String,
    /// Replaces the image's entry point.
    pub command: Option<Vec<String>>,
    /// Replaces the image's arguments.
    pub args: Option<Vec<String>>,
    /// `NAME=value` entries.
    pub env: Option<Vec<String>>,
    /// What one replica gets.
    pub resources: ServiceResources,
    /// The number of replicas.
    pub count: u32,
    /// Ports, which have to be sorted.
    pub expose: Option<Vec<ServiceExpose>>,
    /// Mounts and permissions.
    pub params: Option<ServiceParams>,
    /// How to pull the image from a private registry.
    pub credentials: Option<ImageCredentials>,
    /// Peers with which its GPUs form one fabric; empty for none.
    pub interconnect_group: String,
}

/// The resources of one replica, as sent: what a valid manifest must have may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceResources {
    /// The resource unit of the deployment's group.
    pub id: u32,
    /// CPU.
    pub cpu: Option<Cpu>,
    /// Memory.
    pub memory: Option<Memory>,
    /// Volumes.
    pub storage: Option<Vec<Storage>>,
    /// GPUs.
    pub gpu: Option<Gpu>,
    /// Endpoints that the service's exposes use.
    pub endpoints: Option<Vec<Endpoint>>,
}

/// A transport protocol, or a name that is none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, derive_more::Display)]
#[display("{}", self.as_str())]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// What was sent instead; no valid manifest has it.
    Unknown(String),
}

impl Protocol {
    /// The protocol's name in a manifest.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Unknown(name) => name,
        }
    }
}

impl Default for Protocol {
    /// What an absent value decodes to: the empty name, which is not valid.
    fn default() -> Self {
        Self::Unknown(String::new())
    }
}

impl From<&str> for Protocol {
    fn from(name: &str) -> Self {
        match name {
            "TCP" => Self::Tcp,
            "UDP" => Self::Udp,
            other => Self::Unknown(other.to_owned()),
        }
    }
}

/// One port and who may reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceExpose {
    /// The container's port.
    pub port: u32,
    /// The port outside; 0 means the same.
    pub external_port: u32,
    /// The protocol.
    pub proto: Protocol,
    /// The service that may reach it; empty for none in particular.
    pub service: String,
    /// Whether it is open to the world.
    pub global: bool,
    /// Hostnames.
    pub hosts: Option<Vec<String>>,
    /// How an ingress treats requests.
    pub http_options: HttpOptions,
    /// Name of the IP endpoint; empty for none.
    pub ip: String,
    /// Number of the IP endpoint; 0 for none.
    pub endpoint_sequence_number: u32,
}

impl ServiceExpose {
    /// The port as seen from outside.
    pub fn effective_port(&self) -> u32 {
        if self.external_port == 0 { self.port } else { self.external_port }
    }

    /// Whether it is served by name through the shared ingress.
    pub fn is_ingress(&self) -> bool {
        self.proto == Protocol::Tcp && self.global && self.effective_port() == 80
    }
}

/// Options of an HTTP ingress; times in milliseconds, sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpOptions {
    /// The largest request body.
    pub max_body_size: u32,
    /// How long to wait for the service to answer.
    pub read_timeout: u32,
    /// How long to wait for the service to take the request.
    pub send_timeout: u32,
    /// How many backends to try.
    pub next_tries: u32,
    /// How long to go on trying; 0 for ever.
    pub next_timeout: u32,
    /// When to try the next one.
    pub next_cases: Vec<String>,
    /// The proxy's buffer; 0 leaves it to the provider. Newer tools set `proxy` instead.
    pub proxy_buffer_size: u32,
    /// How the proxy buffers answers.
    pub proxy: Option<ProxyOptions>,
}

/// How the proxy in front of a service buffers answers. A member that was not sent is none: tools
/// differ in whether they write zeros, and the hash covers what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyOptions {
    /// Whether answers are passed on as they come.
    pub buffering_disable: Option<bool>,
    /// Bytes of the buffer for the first part of an answer.
    pub buffer_size: Option<u32>,
    /// How many buffers there are for the rest.
    pub buffers_number: Option<u32>,
    /// Bytes of each of them.
    pub buffers_size: Option<u32>,
    /// Bytes that may be busy while the rest is read.
    pub busy_buffers_size: Option<u32>,
    /// How long to wait for a connection to the service, in milliseconds.
    pub connect_timeout: Option<u32>,
}

impl ProxyOptions {
    /// Whether every member has a value that no tool leaves out.
    pub fn is_fully_set(&self) -> bool {
        let numbers = [
            self.buffer_size,
            self.buffers_number,
            self.buffers_size,
            self.busy_buffers_size,
            self.connect_timeout,
        ];
        self.buffering_disable == Some(true)
            && numbers.iter().all(|number| number.is_some_and(|number| number != 0))
    }
}

/// Parameters of a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceParams {
    /// Where volumes are mounted.
    pub storage: Option<Vec<StorageParams>>,
    /// Known to the wire format; no SDL fills it.
    pub credentials: Option<ImageCredentials>,
    /// What the pods may read of their own lease.
    pub permissions: Option<ServicePermissions>,
    /// Confidential computing.
    pub tee: Option<TeeParams>,
}

/// Where one volume is mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageParams {
    /// The volume.
    pub name: String,
    /// An absolute path.
    pub mount: String,
    /// Whether the service may not write to it.
    pub read_only: bool,
    /// Reference to the key that encrypts it, sealed for a confidential guest; empty for none.
    pub key_ref: String,
}

/// What the pods may read of their own lease.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServicePermissions {
    /// `logs`, `events`, `deployment`.
    pub read: Vec<String>,
}

/// Confidential computing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeeParams {
    /// `cpu` or `cpu-gpu`.
    pub kind: String,
    /// Whether the tenant wants proof of it.
    pub attestation: bool,
    /// Which key broker the guest asks. Its form in JSON is not known, so no JSON has it; see
    /// [`Manifest::hash_doubts`].
    pub kbs: Option<KbsParams>,
}

/// The key broker service of a confidential guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KbsParams {
    /// The one that the provider runs.
    Provider,
    /// The tenant's own.
    Tenant {
        /// Its origin.
        url: String,
        /// Its certificate, PEM.
        certificate: String,
        /// Where the policy for images is.
        image_security_policy_uri: String,
        /// What the guest's agent allows.
        agent_policy: String,
    },
}

/// A login to an image registry. The password stays out of debug output.
#[derive(Clone, Default, PartialEq, Eq, derive_more::Debug)]
#[debug("ImageCredentials {{ host: {:?}, username: {:?}, .. }}", self.host, self.username)]
pub struct ImageCredentials {
    /// The registry.
    pub host: String,
    /// An address some registries ask for.
    pub email: String,
    /// The user.
    pub username: String,
    /// The secret.
    pub password: String,
    /// Resource of a key broker that holds the login instead; empty for none.
    pub uri: String,
}
