//! What is to be done about manifests.

use std::sync::Arc;

use akash_sdl::Version;
use akash_types::{DeploymentId, LeaseId};

use super::{ManifestAnswer, ManifestRefusal, MigrationAnswer, RequestId};
use crate::cluster::command::Workload;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestEffect {
    /// Ask the chain about a deployment, its groups and own leases.
    ReadDeployment(DeploymentId),
    /// Let the cluster keep a manifest. `cards` is empty: whoever promised them fills it in. A
    /// later one for the same lease replaces it.
    Hold(Arc<Workload>),
    /// Deploy again what the lease shall run, with the names that it may have by now
    /// ([`super::Submissions::withheld`]).
    Redeploy(LeaseId),
    /// Answer a submission.
    Reply {
        /// Which request.
        request: RequestId,
        /// With what.
        answer: ManifestAnswer,
    },
    /// Answer a migration.
    ReplyMigration {
        /// Which request.
        request: RequestId,
        /// With what.
        answer: MigrationAnswer,
    },
    /// Write down what was decided.
    Note(ManifestNote),
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestNote {
    /// The cluster keeps the manifest for all leases.
    Accepted {
        /// For which deployment.
        deployment: DeploymentId,
        /// Which manifest.
        version: Version,
        /// For which leases.
        leases: Vec<LeaseId>,
    },
    /// A manifest was refused.
    Refused {
        /// For which deployment.
        deployment: DeploymentId,
        /// Which manifest.
        version: Version,
        /// Why.
        refusal: ManifestRefusal,
    },
    /// A lease does not get hostnames that its manifest lists, because another has them.
    Withheld {
        /// Which lease.
        lease: LeaseId,
        /// Which names.
        hostnames: Vec<String>,
    },
    /// A hostname was moved to another lease of its owner.
    Moved {
        /// Which name.
        hostname: String,
        /// Whose it was; `None` if nobody had it.
        from: Option<LeaseId>,
        /// Whose it is.
        to: LeaseId,
    },
}
