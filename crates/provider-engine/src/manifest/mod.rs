//! Manifests that tenants send, from the request to the cluster that keeps them.
//!
//! A submission is judged by what the chain says, held in the cluster for every own lease of its
//! deployment, and only then accepted:
//!
//! ```text
//!            structure wrong
//!  Submit ───────────────────▶ refused
//!    │ chain data not fresh
//!    ▼                  not found, no lease, other hash, …
//!  reading ◀──────────┐ judged on data from before the request
//!    │ Read           │
//!    ├────────────────┘
//!    ├──────────────────────▶ refused      judged on data read since the request came
//!    ▼ valid
//!  holding ──────────────────▶ refused      the cluster refuses or does not answer,
//!    │ every lease is held                  or a newer manifest came
//!    ▼
//!  accepted                                 a submission that takes too long is refused in any state
//! ```
//!
//! A yes may rest on data up to [`ManifestSettings::cached_result_max_age`] old; a no that rests on
//! the chain never rests on data from before the request. So a missed update or lease locks nobody
//! out. Requests for the same manifest share reads and holds. Nothing of a refused manifest is kept.
//!
//! [`Hostnames`] says which lease has which name, and `migration` moves names between leases of one
//! owner.
//!
//! Nothing here knows how the chain is asked, how the cluster keeps a manifest, or HTTP beyond the
//! status that goes with a refusal. Who may send for whom was decided before.

mod answer;
mod check;
mod engine;
mod hostnames;
mod input;
mod manifests;
mod migration;
mod settings;
mod subject;
mod submissions;

use std::sync::Arc;

use akash_types::{DeploymentId, LeaseId};

use crate::cluster::command::Workload;
use crate::effect::Reply;
use crate::journal::{self, Decision};

pub use answer::{ManifestAnswer, ManifestRefusal, MigrationAnswer, MigrationRefusal};
pub(crate) use check::may_have_host;
pub use hostnames::Hostnames;
pub use input::{ManifestInput, RequestId};
pub(crate) use manifests::Manifests;
pub use settings::ManifestSettings;
pub use submissions::Submissions;

/// What manifests want done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestAction {
    /// Ask the chain about a deployment, its groups and own leases.
    Read(DeploymentId),
    /// Let the cluster keep a manifest. `cards` is empty: whoever promised them fills it in. A
    /// later one for the same lease replaces it.
    Hold(Arc<Workload>),
    /// Deploy again what the lease shall run, with the names that it may have by now
    /// ([`Submissions::withheld`]).
    Redeploy(LeaseId),
    Reply(RequestId, Reply),
    Note(journal::Subject, Decision),
}

#[cfg(test)]
mod tests;
