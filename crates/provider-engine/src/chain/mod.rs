//! The chain as the engine sees it: what it may ask, what it may be told, and where the head is.
//!
//! Nothing here knows how a node is reached.

mod blocks;
mod engine;
mod head;
mod query;

pub use head::{ChainClock, Head, Pace};
pub use query::{
    AccountRead, ChainAnswer, ChainQuery, ChainReply, DeploymentRead, PaidLease, QueryId, Read,
    Standing, Unavailable,
};
