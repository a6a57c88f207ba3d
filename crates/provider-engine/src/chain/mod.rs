//! The chain as the engine sees it: what it may ask, what it may be told, and where the head is.
//!
//! Nothing here knows how a node is reached.

mod head;
mod query;

pub use head::{Head, Pace};
pub use query::{
    AccountRead, ChainAnswer, ChainQuery, ChainReply, DeploymentRead, QueryId, Read, Standing,
    Unavailable,
};
