//! The cluster as the engine sees it, and what it may ask of it.
//!
//! [`view`] is what runs, as an observer last saw it; [`command`] is what shall be done, with its
//! answers; [`port`] is what a driver must be able to do. Kubernetes, Docker Swarm and the simulated
//! cluster all look like this.
//!
//! Nothing here knows how a driver does it.

pub mod command;
pub mod port;
pub mod view;
