//! The chain, the cluster and the engine compared, and what the difference allows.
//!
//! Three views: leases, bids and orders on chain; manifests and workloads in the cluster; the
//! engine's own. They are compared when it starts, every period, and when somebody says that it
//! would be worth it. What differs is a [`Drift`], and leads to looking; only [`Evidence`] leads
//! to destruction, and the [`Breaker`] stops that too when too much looks bad at once. A [`Rival`] is
//! another provider with the same key.

mod breaker;
mod drift;
mod engine;
mod evidence;
mod rival;

pub use breaker::{Breaker, BreakerSettings, Verdict};
pub use drift::Drift;
pub use evidence::Evidence;
pub use rival::Rival;
