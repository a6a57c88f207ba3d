//! Facts that parts of the provider tell each other: typed, newest first, in one process or many.
//!
//! ```text
//! fact      what is told: one type per topic
//! topic     the topics, by their names on the wire
//! message   a fact as JSON, with its version and its stamp
//! slot      which of two messages on a topic is the newer one
//! bus       what everyone holds: publish, subscribe, latest, status
//! link      the same facts in Redis, standalone or behind Sentinel
//! ```
//!
//! The bus carries state, not a log. Each topic has one value, the newest; who is slow misses
//! what lies between, never the newest. Facts are hints: they say where to look, and whoever
//! hears one reads chain or cluster before acting. So nothing breaks when one is lost.
//!
//! It knows neither Kubernetes nor the gateway, and decides nothing about leases.

mod bus;
pub mod fact;
pub mod link;
mod message;
mod slot;
mod status;
mod topic;

pub use bus::{Bus, Closed, Subscription};
pub use fact::Fact;
pub use link::{Link, Target, TargetError};
pub use message::{MalformedMessage, PAYLOAD_LIMIT, VERSION};
pub use status::{BusStatus, Connection};
pub use topic::Topic;
