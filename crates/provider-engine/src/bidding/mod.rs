//! Whether to bid on an order, and at what price.
//!
//! ```text
//! Ask ─▶ policy, eligibility ─▶ placement ─▶ pricing ─┬─▶ check_price ─▶ Bid
//!            │ cheap first        │ room        │     └─▶ AskScript  │
//!            └────────────────────┴─────────────┴────────────────────┴──▶ Decline, with reasons
//! ```
//!
//! [`evaluate`](evaluate::evaluate) is one plain function for the bidder, for screening, for `why`
//! and for the journal: they cannot disagree.

pub mod decline;
pub mod eligibility;
pub mod evaluate;
pub mod facts;
pub mod fees;
pub mod isolation;
pub mod order;
pub mod policy;
pub mod pricing;

#[cfg(test)]
mod tests;
