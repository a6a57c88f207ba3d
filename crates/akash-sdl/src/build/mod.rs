//! From the document to what goes on chain and to the provider.
//!
//! Services and placements are taken in the order of their names, so the same SDL always gives
//! the same groups, the same manifest and the same hash, however it was written down.

mod check;
mod confidential;
mod expose;
mod groups;
mod order;
mod report;

pub(crate) use check::check_references;
pub(crate) use groups::build;
pub(crate) use report::report_violations;
