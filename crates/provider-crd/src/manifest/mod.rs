//! `Manifest`: what a lease shall run, as the cluster keeps it.
//!
//! Keys, their case and what is left out when it is empty are the Go provider's, because the API
//! server compares. The custom resource holds less than the manifest that a tenant sends: no
//! endpoints of resources, no buffer size of proxies, no confidential computing.

mod model;
mod read;
mod write;

pub use model::{
    Attribute, Credentials, Expose, Gpu, Group, HttpOptions, LeaseRef, Manifest, ManifestSpec,
    Memory, Mount, Params, Permissions, Processor, ProxyOptions, Resources, SchedulerGpu,
    SchedulerParams, SchedulerResources, Service, Storage,
};
pub use read::ReadError;
pub use write::WriteError;
