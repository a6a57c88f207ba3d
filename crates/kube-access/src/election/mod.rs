//! One of several replicas works: the one that holds a Lease of the cluster.
//!
//! ```text
//!             free, or silent for too long
//!  Waiting ────────────── take ──────────────▶ Leading ──┐ renew
//!     ▲                                          │  ▲     │
//!     └──── somebody else has it, or no answer ──┘  └─────┘
//!           for two thirds of its time
//! ```
//!
//! Clocks of machines differ, so times in the Lease are for people: how long it was silent is
//! measured here, from when it was last seen to change.
//!
//! - `claimant`: decides, without IO or clock.
//! - [`lead`]: asks, writes, and lets the work run while it leads; [`release`] ends it on a clean stop.

mod claimant;
mod lead;

pub use lead::{LeaseParams, lead, release};
