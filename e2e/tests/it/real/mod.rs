//! Tests on components that take long to build: `cargo xtask test --real` runs them.

mod acme;
mod capacity;
mod gateway_api;
mod grpcurl;
mod install;
pub(crate) mod installed;
mod isolation;
mod isolation_unknown;
mod kubernetes;
mod kubernetes_outage;
mod kubernetes_proxy;
mod kubernetes_routes;
mod wrong_cluster;
