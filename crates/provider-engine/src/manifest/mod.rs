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
//! [`Hostnames`] says which lease has which name, [`ManifestInput::MigrateHostnames`] moves names
//! between leases of one owner.
//!
//! Nothing here knows how the chain is asked, how the cluster keeps a manifest, or HTTP beyond the
//! status that goes with a refusal. Who may send for whom was decided before.

mod answer;
mod check;
mod effect;
mod engine;
mod hostnames;
mod input;
mod migration;
mod settings;
mod subject;
mod submissions;
mod turn;

pub(crate) use check::may_have_host;

pub use answer::{ManifestAnswer, ManifestRefusal, MigrationAnswer, MigrationRefusal};
pub use effect::{ManifestEffect, ManifestNote};
pub use hostnames::Hostnames;
pub use input::{ManifestInput, MigrationDestination, RequestId};
pub use settings::ManifestSettings;
pub use submissions::Submissions;

#[cfg(test)]
mod tests;
