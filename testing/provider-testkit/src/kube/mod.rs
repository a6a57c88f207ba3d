//! Deployments that the Go provider made on a real cluster, and whether ours are equal.
//!
//! ```text
//! lease.json, manifest.json, flags ──resolve, build──▶ objects ──as_stored──┐
//!                                                                           ├─▶ differences
//! objects.yaml, crs.yaml ────────────────────────────without what varies────┘
//! ```
//!
//! Routes of hostnames are compared by themselves: they are made of the recorded custom resources.
//!
//! What an API server fills in is put into what was built, rather than taken out of what was
//! recorded: so a field that we set and Go does not is found as well as one that we forget.

mod difference;
mod go_line;
mod golden;
mod recorded;
mod routes;
mod stored;
mod yaml;

pub use difference::Difference;
pub use go_line::GoLine;
pub use golden::{built, compare, workload};
pub use recorded::{Case, CaseError};
pub use routes::compare_routes;
pub use stored::{as_stored, without_what_varies};
pub use yaml::{YamlError, documents};
