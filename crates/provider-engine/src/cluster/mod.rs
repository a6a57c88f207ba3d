//! The cluster as the engine sees it, and what it may ask of it.
//!
//! [`view`] is what runs, as an observer last saw it; [`command`] is what shall be done, with its
//! answers; [`port`] is what a driver must be able to do; [`recognition`] tells whether it is the
//! cluster that leases were deployed to, and [`sight`] for how long it was seen. Kubernetes, Docker Swarm and the simulated
//! cluster all look like this.
//!
//! Nothing here knows how a driver does it.

pub mod command;
mod engine;
pub mod port;
pub mod recognition;
pub mod sight;
pub(crate) mod trust;
pub mod view;
