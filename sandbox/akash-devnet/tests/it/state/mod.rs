//! The state machine seen from outside: transactions and queries in, results and events out.

mod authz;
mod bids;
mod cert;
mod checks;
mod escrow;
mod fees;
mod pages;
mod properties;
mod recorded;
mod support;
mod transitions;
