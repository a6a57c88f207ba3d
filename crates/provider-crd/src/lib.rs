//! What the provider keeps in a Kubernetes cluster, and what it calls things there.
//!
//! The custom resources `Manifest`, `ProviderHost` and `ProviderLeasedIP` of
//! `akash.network/v2beta2` are the cluster's memory of leases; [`names`] and [`labels`] are how
//! everything of a lease is found. Live clusters of the Go provider hold the same objects, so
//! nothing here is ours to improve: a name that differs is a lease that is lost.
//!
//! ```text
//! akash_sdl::manifest::Group ──▶ ManifestSpec ──▶ Manifest (in the cluster)
//!                            ◀──
//! ```
//!
//! Keys that are not known are kept when an object is read and written again. Plain data: this
//! crate has no client and knows neither the daemon nor what the objects are used for.
#![allow(missing_docs)]

pub mod labels;
pub mod manifest;
pub mod names;
mod provider_host;
mod schema;

pub use manifest::{LeaseRef, Manifest, ManifestSpec};
pub use names::{API_VERSION, CustomObject, GROUP, Spec, Unknown, VERSION};
pub use provider_host::{ProviderHost, ProviderHostSpec, ProviderLeasedIp, ProviderLeasedIpSpec};
pub use schema::custom_resource_definitions;
