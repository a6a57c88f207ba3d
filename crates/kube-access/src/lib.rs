//! Access to a Kubernetes cluster, as the driver and the operators share it.
//!
//! - [`Access`]: where the API server is and which identity is used there.
//! - [`KubeClient`]: single requests, counted, with a time limit; [`Failure`] says what came of one.
//! - [`follow`](follow::follow): list-watch of one kind of object; [`CachedObject`] is what it keeps.
//! - [`merge`]: from the object that exists and the one that is wanted to the one to write.
//! - [`election`]: one of several replicas works.
//!
//! A client has a time limit for each request. Streams (watches, logs, commands) use one without:
//! they detect silence themselves. Knows no leases and nothing of the engine.
#![allow(missing_docs)]

mod access;
mod client;
pub mod election;
mod failure;
pub mod follow;
mod kind;
pub mod merge;
#[cfg(any(test, feature = "scripted"))]
#[path = "../tests/support/scripted.rs"]
pub mod scripted;
#[cfg(test)]
mod tests;

pub use access::{Access, AccessError};
pub use client::{Counter, KubeClient, Listed, Selector};
pub use failure::{Failure, of_status};
pub use follow::CachedObject;
pub use kind::ResourceKind;
pub use kube::api::Preconditions;
