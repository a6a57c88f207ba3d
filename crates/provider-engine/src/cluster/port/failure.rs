//! Why something could not be read.

use std::fmt;

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadFailure {
    /// The cluster answered: it is not there.
    #[error("{0}")]
    NotFound(Missing),
    /// The cluster did not answer; nothing follows from that.
    #[error("the cluster does not answer: {0}")]
    Unavailable(String),
    /// The cluster answered that it will not say.
    #[error("the cluster refuses: {0}")]
    Refused(String),
}

/// What is not there. Clients are told apart by which it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Nothing of the lease, or no manifest for it.
    Lease,
    /// A manifest is held, but nothing was deployed from it yet.
    Workloads,
    /// The lease has no service of that name.
    Service(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lease => f.write_str("lease not found"),
            Self::Workloads => f.write_str("no deployments for lease"),
            Self::Service(name) => write!(f, "no service {name:?} for that lease"),
        }
    }
}
