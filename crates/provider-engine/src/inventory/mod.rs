//! What the machines have left, and whether a group fits in it.
//!
//! ```text
//! GroupSpec ──CommitLevels──▶ GroupNeed ─┐
//!                                        ├─ place ──▶ Booking (owned by an order, bid or lease)
//! ClusterView + all Bookings ──▶ Free ───┘               │
//!        ▲                                               │
//!        └───────────────────────────────────────────────┘
//! ```
//!
//! [`Free`] is computed from what is observed and what is booked, each replica once; nothing is
//! kept by adding and subtracting, so nothing can leak. A [`Booking`] is a plain value that lives
//! exactly as long as its owner: dropping it is giving the capacity back. [`replan`] makes the
//! booking of a lease follow what became of it.
//!
//! Amounts are in request units (what a pod asks the scheduler for after overcommit) and signed.
//! Nothing here knows orders, prices or who asks.

mod booking;
mod cache;
mod cards;
mod commit;
mod engine;
mod fill;
mod free;
mod need;
mod place;
mod replan;
mod shortage;
mod usage;

#[cfg(test)]
mod tests;

pub use booking::{Booking, UnitBooking};
pub(crate) use cache::FreeCache;
pub use commit::{CommitLevel, CommitLevels};
pub use free::{Free, FreeNode};
pub use need::{GroupNeed, Need, UnitNeed, Unplaceable, leased_ips};
pub use place::place;
pub use replan::{Replanned, replan};
pub use shortage::{NoRoom, Scarce, Shortage};
