//! The state machine seen from outside: transactions and queries in, results and events out.

// Helpers of tests are tests, but clippy does not see that.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

#[path = "state/authz.rs"]
mod authz;
#[path = "state/bids.rs"]
mod bids;
#[path = "state/cert.rs"]
mod cert;
#[path = "state/checks.rs"]
mod checks;
#[path = "state/escrow.rs"]
mod escrow;
#[path = "state/fees.rs"]
mod fees;
#[path = "state/pages.rs"]
mod pages;
#[path = "state/properties.rs"]
mod properties;
#[path = "state/recorded.rs"]
mod recorded;
#[path = "state/support.rs"]
mod support;
#[path = "state/transitions.rs"]
mod transitions;
