//! Facts that parts of the provider tell each other: typed, newest first, in one process or many.
//!
//! ```text
//! fact      what is told: one type per topic
//! topic     the topics, by their names on the wire
//! message   a fact as JSON, with its version and its stamp
//! slot      which of two messages on a topic is the newer one
//! event     what happened, in order: a bounded log beside the topics
//! bus       what everyone holds: publish, subscribe, latest, record, events, status
//! link      the same in Redis, standalone or behind Sentinel
//! ```
//!
//! Topics carry state. Each has one value, the newest; a slow subscriber misses what lies between,
//! never the newest. Facts are hints: they say where to look, and a subscriber reads chain or
//! cluster before it acts. So nothing breaks when one is lost. Events are a log: a subscriber
//! gets each, oldest first, and is told how many it missed.
//!
//! It knows neither Kubernetes nor the gateway, and decides nothing about leases.

#![allow(missing_docs)]

mod bus;
mod event;
pub mod fact;
pub mod link;
mod message;
mod status;

pub use bus::{Bus, Closed, Subscription};
pub use event::{
    EVENTS_KEPT, Event, EventKind, EventSubscription, Followed, STREAM, STREAM_LENGTH,
};
pub use fact::Fact;
pub use link::{Link, Target, TargetError};
pub use message::{MalformedMessage, PAYLOAD_LIMIT, Topic, VERSION};
pub use status::{BusStatus, Connection};
