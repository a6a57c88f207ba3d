//! Host by host: what is wanted, what is there, and the one write that comes next.
//!
//! ```text
//!            told                    next                  done
//!  watches ───────▶ HostIndex: dirty ───────────▶ busy ────────────────▶ dirty (what came of it)
//!                            ▲                        │
//!                            └──── pause is over ◀────┘ failed
//! ```
//!
//! Every decision is about one host and made from all that is known of it, so nothing depends on the
//! order of events, and a restart goes on where it was. A host has at most one write under way.
//! One that fails waits longer each time, and alone.
//!
//! What is not done is a value with its reason ([`Waits`], [`Refusal`]). Routes are taken away only
//! when it is known that nobody claims them: not for a `ProviderHost` that cannot be read, and not
//! where nothing shows that the custom resources of this provider are seen at all.

mod decide;
mod events;
mod filters;
mod gateway;
mod index;
mod notes;
mod state;

#[cfg(test)]
mod tests;

use std::time::Duration;

use akash_types::LeaseId;
use k8s_openapi::jiff::Timestamp;
use kube_access::{Preconditions, ResourceKind};
use serde_json::Value;

use super::claim::{Claim, ClaimError};
use super::exposed::Closed;
use super::name::NameError;
pub use filters::Condition;
pub use index::{HostIndex, Job, Served};
pub use notes::{Notice, Reason};
pub use state::{RetryState, State};

/// A moment: on the clock, and since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Since the start; never goes back.
    pub since_start: Duration,
    pub time: Timestamp,
}

/// One call that changes an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    Create {
        kind: ResourceKind,
        namespace: String,
        object: Value,
    },
    /// An object as it was read becomes this one.
    Replace {
        kind: ResourceKind,
        namespace: String,
        name: String,
        object: Value,
    },
    /// This very object is to go.
    Delete {
        kind: ResourceKind,
        namespace: String,
        name: String,
        exactly: Preconditions,
    },
}

/// What is to be done about a host.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Nothing: its route is as it should be.
    Served(Claim),
    /// Nothing: nobody wants it, and nothing is there.
    Absent,
    Write(Write),
    /// Nothing, until something else is told. What is there stays.
    Waits(Waits),
    /// Nothing: it is not served, or not to who wants it. What is there stays.
    Refused(Refusal),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Waits {
    #[error("the Manifest of its lease is not there: resource not found")]
    Manifest,
    #[error("{0}: resource not found")]
    Closed(Closed),
    #[error("the gateway has not accepted its SnippetsFilter yet")]
    Filter,
    #[error("the {kind} in {namespace} is still being deleted")]
    Ending { kind: &'static str, namespace: String },
    #[error(
        "its route is left alone: no Manifest or ProviderHost of provider {provider} was ever seen, \
         so k8s-manifest-ns may name another namespace than theirs"
    )]
    Evidence { provider: String },
}

/// Why a host is not served to who wants it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Claim(#[from] ClaimError),
    #[error("{host:?} belongs to lease {by}, which still asks for it")]
    Held { host: String, by: LeaseId },
    #[error("the route that is there cannot be used: {0}")]
    Route(String),
}
