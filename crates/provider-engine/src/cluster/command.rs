//! What shall be done in the cluster, and how it went.

use std::collections::BTreeMap;
use std::sync::Arc;

use akash_sdl::Version;
use akash_sdl::manifest::Group;
use akash_types::LeaseId;

use super::view::{CardChoice, IgnoredOptions};
use crate::reconcile::Evidence;

/// Names one command, so that an answer that comes late is known as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u64);

/// Something to do for a lease. At most one per lease is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// To be repeated in the answer.
    pub id: CommandId,
    /// What to do.
    pub operation: Operation,
}

/// What to do. Every operation may be done twice with the effect of once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Keep the manifest, durably, before the tenant hears that it was accepted.
    Hold(Arc<Workload>),
    /// Keep the manifest and make what runs be what it says.
    Deploy(Arc<Workload>),
    /// Let nothing of the lease remain.
    Teardown {
        /// Which lease.
        lease: LeaseId,
        /// What proves that it is over.
        evidence: Evidence,
    },
    /// Remember maintenance, or its end.
    Maintain(bool),
}

impl Operation {
    /// The lease it is about, if it is about one.
    pub fn lease(&self) -> Option<LeaseId> {
        match self {
            Self::Hold(workload) | Self::Deploy(workload) => Some(workload.lease),
            Self::Teardown { lease, .. } => Some(*lease),
            Self::Maintain(_) => None,
        }
    }
}

/// What a lease shall run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// For whom.
    pub lease: LeaseId,
    /// Hash of the whole manifest; `None` for one found in the cluster without it.
    pub version: Option<Version>,
    /// The lease's group of it.
    pub group: Arc<Group>,
    /// Cards that each service was promised, by service name.
    pub cards: BTreeMap<String, CardChoice>,
    /// Hostnames that it asks for and may not have yet: another lease of the owner has them.
    pub withheld: Vec<String>,
    /// Endpoints of leased addresses that its owner moves to this lease: a deployment takes each
    /// address from the lease that has it.
    pub endpoints_to_take: Vec<String>,
    /// What the manifest asks for that is not carried out.
    pub ignored: IgnoredOptions,
}

/// How a command went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandAnswer {
    /// Which command.
    pub id: CommandId,
    /// How it went.
    pub result: Result<(), CommandFailure>,
}

/// Why a command was not carried out, or not as far as is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandFailure {
    /// The cluster did not answer; it may have been done all the same.
    #[error("the cluster does not answer: {0}")]
    Unavailable(String),
    /// The cluster refuses it, and would refuse it again.
    #[error("the cluster refuses: {0}")]
    Refused(String),
}
