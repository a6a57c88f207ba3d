//! The Kubernetes driver.
//!
//! ```text
//!   nodes, pods, classes            Workload (engine)
//!          │                              │
//!       observe                        resolve ── Manifest, as the cluster keeps it
//!          │                              │
//!          ▼                            build ─── every object of the lease
//!   ClusterView (engine)                  │
//!                                       merge ─── what to PUT, or nothing at all
//!                                         │
//!                                       apply ─── the only step with a client
//! ```
//!
//! - [`settings`]: what the operator decided for the whole cluster.
//! - [`resolve`]: between what the engine knows of a lease and its `Manifest`.
//! - [`build`]: from a `Manifest` to every object of the lease, equal to what the Go provider makes.
//! - [`merge`]: from the object that is there and the one that is wanted to the one to write.
//! - [`observe`]: from nodes, pods and storage classes to the engine's view.
//! - [`status`]: from workloads, pods and events to what a tenant is told.
//!
//! All of them are plain functions: no client, no clock, no runtime. A running cluster of the Go
//! provider is taken over without a write, because what is built here is what is there.
//!
//! Knows neither the chain nor the gateway.

pub mod build;
pub mod merge;
pub mod observe;
pub mod resolve;
pub mod settings;
pub mod status;
