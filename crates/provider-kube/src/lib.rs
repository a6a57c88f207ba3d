//! The Kubernetes driver.
//!
//! ```text
//!   nodes, pods, classes            Workload (engine)
//!          │ watch                        │
//!       observe                        resolve ── Manifest, as the cluster keeps it
//!          │                              │
//!          ▼                            build ─── every object of the lease
//!   ClusterView (engine)                  │
//!                                  kube_access::merge ─── what to PUT, or nothing at all
//!                                         │
//!                                       apply ─── writes it
//! ```
//!
//! What decides, as plain functions without client, clock or runtime:
//!
//! - [`settings`]: what the operator decided for the whole cluster.
//! - [`isolation`]: how pods of a lease are confined, and what keeps it so.
//! - [`resolve`]: between what the engine knows of a lease and its `Manifest`.
//! - [`build`]: from a `Manifest` to every object of the lease, equal to what the Go provider makes.
//! - [`observe`]: from nodes, pods and storage classes to the engine's view.
//! - [`status`]: from workloads, pods and events to what a tenant is told.
//! - [`probe::plan`]: which connections show whether tenants are kept apart, and what answers mean.
//!
//! What does it:
//!
//! - `watch`: all that is in the cluster, kept up to date, and told as it changes.
//! - `apply`: operations of the engine, carried out.
//! - `read`: what tenants ask about their leases; logs, events and commands.
//! - [`probe`]: makes those connections, from pods like those of tenants.
//! - [`SecretEntry`]: what the provider keeps for itself in a Secret.
//! - [`KubeDriver`]: all of it, behind the engine's port.
//!
//! A running cluster of the Go provider is taken over without a write, because what is built here is
//! what is there. Knows neither the chain nor the gateway.
#![allow(missing_docs)]

mod apply;
pub mod build;
pub mod definitions;
mod driver;
pub mod isolation;
pub mod observe;
pub mod probe;
mod read;
pub mod resolve;
mod secret;
pub mod settings;
pub mod status;
mod template;
mod watch;

pub use driver::{ConnectError, KubeDriver, KubeEvents, KubeInput, KubeLines, KubeOutput};
pub use secret::SecretEntry;
pub use watch::KubeChanges;
