//! Kubernetes for tests: the real programs, started by the test that needs them, gone after it.
//!
//! Four sizes, each with what the one before has:
//!
//! | | runs | needs | answers after |
//! |---|---|---|---|
//! | [`Bed::api_server`] | etcd, kube-apiserver | | 4 s |
//! | [`Bed::control_plane`] | controllers, scheduler | | 5 s |
//! | [`Node::start`], [`Node::start_many`] | containerd, kubelet, kube-proxy | root | 7 s |
//! | [`Node::with_policies`] | Calico's Felix; several nodes | root | 15 s |
//!
//! Where many nodes matter and what runs on them does not, [`FakeNodes`] are enough.
//!
//! What providers sell beside processors and memory comes as it does in production: GPUs from a
//! [`DevicePlugin`], room from a [`CapacityDriver`], pools from a [`Ceph`] cluster, which needs no
//! bed.
//!
//! Beds do not know of each other: own folder, own ports, own keys. What a bed started ends when
//! it is dropped, and also when the test is killed (`guard.rs` says how).
//!
//! Nothing here knows the provider; nothing here is shipped.

#![cfg(target_os = "linux")]

mod api;
mod bed;
mod ceph;
mod control;
mod csi;
mod daemon;
mod device_plugin;
mod fake;
mod guard;
mod http;
mod image;
mod keys;
mod node;
mod port;
mod programs;
mod traefik;

pub use bed::Bed;
pub use ceph::Ceph;
pub use csi::CapacityDriver;
pub use device_plugin::DevicePlugin;
pub use fake::{FakeNode, FakeNodes};
pub use image::Image;
pub use node::Node;
pub use programs::kubectl;
