//! What a tenant hears.
//!
//! The texts are the bodies that existing providers send and existing clients look for; the status
//! is theirs too, but for two: what does not exist is 404 and a hostname in use is 409, where they
//! say 500.

use akash_sdl::Version;
use akash_sdl::manifest::{CrossError, ManifestError, ManifestErrorKind, Protocol};
use akash_types::{DeploymentId, LeaseId};

use crate::chain::Unavailable;
use crate::cluster::command::CommandFailure;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestAnswer {
    /// The cluster keeps it for these leases.
    Accepted { leases: Vec<LeaseId> },
    /// It was not accepted.
    Refused(ManifestRefusal),
}

/// Why a manifest was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestRefusal {
    #[error(transparent)]
    Structure(#[from] ManifestError),
    #[error(transparent)]
    Chain(#[from] Unavailable),
    #[error("Deployment not found: {0}")]
    UnknownDeployment(DeploymentId),
    #[error("manifest version validation failed")]
    Version { sent: Version, on_chain: [u8; 32] },
    #[error(transparent)]
    Groups(#[from] CrossError),
    #[error("group not found: could not locate group {gseq} of lease {lease}")]
    GroupNotFound { lease: LeaseId, gseq: u32 },
    /// It asks for protection or hardware that this provider does not offer. To run it without
    /// would break what was promised.
    #[error(
        "manifest rejected: service \"{service}\" asks for {what}, which this provider does not offer"
    )]
    Unsupported { service: String, what: &'static str },
    #[error(
        "manifest rejected: service \"{service}\" exposed on {port}:{proto} must have a hostname"
    )]
    HostnameMissing {
        service: String,
        /// Its port as seen from outside.
        port: u32,
        proto: Protocol,
    },
    #[error("hostname not allowed: \"{0}\" is blocked by this provider")]
    HostnameBlocked(String),
    #[error("hostname not allowed: domain \"{0}\" is blocked by this provider")]
    DomainBlocked(String),
    #[error("hostname not allowed: \"{0}\" is reserved by this provider")]
    HostnameReserved(String),
    #[error("hostname not allowed: {0:?} is not a hostname")]
    HostnameInvalid(String),
    #[error("hostname not allowed: host \"{0}\" in use")]
    HostnameInUse(String),
    #[error("hostname not allowed: host \"{0}\" has the form of generated names, choose another")]
    HostnameGenerated(String),
    #[error("hostname not allowed: host \"{0}\" is an IP address, a name is needed")]
    HostnameIsAddress(String),
    #[error("hostname not allowed: host \"{0}\" has a part of more than 63 characters")]
    HostnamePartTooLong(String),
    #[error(
        "invalid manifest: environment, command and arguments of service \"{service}\" take {bytes} \
         bytes, the most is {most}"
    )]
    TooLarge {
        service: String,
        /// What they take in an object of the cluster.
        bytes: usize,
        most: usize,
    },
    #[error("no lease for deployment")]
    NoLease,
    #[error("the cluster does not answer: {0}")]
    ClusterUnavailable(String),
    #[error("the cluster refuses the manifest: {0}")]
    ClusterRefused(String),
    #[error("context deadline exceeded")]
    TimedOut,
}

impl ManifestRefusal {
    /// The HTTP status that goes with it.
    pub const fn status(&self) -> u16 {
        match self {
            Self::Structure(error) | Self::Groups(CrossError::Manifest(error)) => {
                match error.kind {
                    ManifestErrorKind::Invalid => 422,
                    ManifestErrorKind::Resources => 500,
                }
            }
            Self::Version { .. }
            | Self::Groups(CrossError::Mismatch { .. })
            | Self::Unsupported { .. }
            | Self::HostnameMissing { .. }
            | Self::HostnameReserved(_)
            | Self::HostnameInvalid(_)
            | Self::HostnameIsAddress(_)
            | Self::HostnamePartTooLong(_) => 422,
            Self::TooLarge { .. } => 413,
            Self::UnknownDeployment(_) | Self::NoLease => 404,
            Self::HostnameInUse(_) | Self::HostnameGenerated(_) => 409,
            Self::Chain(_) | Self::ClusterUnavailable(_) => 503,
            Self::Groups(CrossError::GroupCount { .. } | CrossError::UnknownGroup { .. })
            | Self::GroupNotFound { .. }
            | Self::HostnameBlocked(_)
            | Self::DomainBlocked(_)
            | Self::ClusterRefused(_)
            | Self::TimedOut => 500,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MigrationAnswer {
    /// The destination has these.
    Transferred(Vec<String>),
    /// Nothing was moved, or not as far as is known.
    Refused(MigrationRefusal),
}

/// Why names were not moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MigrationRefusal {
    #[error("")]
    NothingNamed,
    #[error("destination deployment does not exist")]
    NoDestination,
    #[error("the hostname {} is not used by this deployment", shown(.0))]
    HostnameNotUsed(String),
    #[error("the endpoint {} does not exist in the destination deployment", shown(.0))]
    EndpointNotUsed(String),
    #[error(
        "this provider cannot move leased addresses between deployments: its cluster hands out none"
    )]
    EndpointsCannotMove,
    #[error("hostname not allowed: host \"{0}\" in use")]
    HostnameInUse(String),
    #[error(transparent)]
    Cluster(#[from] CommandFailure),
    #[error("failed transferring {}: {why}", shown(.name))]
    Failed {
        /// Of those to be moved, the first.
        name: String,
        /// In the cluster's words.
        why: String,
    },
}

impl MigrationRefusal {
    /// The HTTP status that goes with it.
    pub const fn status(&self) -> u16 {
        match self {
            Self::Cluster(CommandFailure::Unavailable(_)) => 503,
            Self::Cluster(CommandFailure::Refused(_)) | Self::Failed { .. } => 500,
            Self::EndpointsCannotMove => 501,
            Self::NothingNamed
            | Self::NoDestination
            | Self::HostnameNotUsed(_)
            | Self::EndpointNotUsed(_)
            | Self::HostnameInUse(_) => 400,
        }
    }
}

/// What a tenant sent, in quotes, and cut where no name is that long.
fn shown(name: &str) -> String {
    const LONGEST: usize = 255;
    let cut: String = name.chars().take(LONGEST).collect();
    let dots = if cut.len() < name.len() { "…" } else { "" };
    format!("\"{}{dots}\"", cut.escape_debug())
}
