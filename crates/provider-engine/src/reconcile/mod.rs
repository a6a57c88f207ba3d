//! The chain, the cluster and the engine compared, and what the difference allows.

mod evidence;

pub use evidence::Evidence;
