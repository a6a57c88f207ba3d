//! What is to be done about manifests.

use std::sync::Arc;

use akash_sdl::Version;
use akash_types::{DeploymentId, LeaseId};

use super::{ManifestAnswer, ManifestRefusal, MigrationAnswer, RequestId};
use crate::cluster::command::Workload;

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
    Reply {
        request: RequestId,
        answer: ManifestAnswer,
    },
    ReplyMigration {
        request: RequestId,
        answer: MigrationAnswer,
    },
    /// Write down what was decided.
    Note(ManifestNote),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestNote {
    /// The cluster keeps the manifest for all leases.
    Accepted { deployment: DeploymentId, version: Version, leases: Vec<LeaseId> },
    /// A manifest was refused.
    Refused { deployment: DeploymentId, version: Version, refusal: ManifestRefusal },
    /// A lease does not get hostnames that its manifest lists, because another has them.
    Withheld { lease: LeaseId, hostnames: Vec<String> },
    /// A hostname was moved to another lease of its owner.
    Moved {
        hostname: String,
        /// Whose it was; `None` if nobody had it.
        from: Option<LeaseId>,
        to: LeaseId,
    },
}
