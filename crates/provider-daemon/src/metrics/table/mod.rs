//! Every metric there is.

mod contract;
mod ours;

pub(super) use contract::*;
pub(super) use ours::*;

use super::metric::Description;

/// Every metric there is: first those of the Go program, then ours.
pub fn all() -> Vec<Description> {
    contract::ALL.iter().chain(ours::ALL).copied().collect()
}
