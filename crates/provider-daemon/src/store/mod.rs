//! What outlives the process: the height cursor, the journal, and the history of leases.
//!
//! ```text
//!  engine task ── Batch ──► commit: one transaction, one fsync ──► file
//!  ctl, status ── why, recent, earnings ◄────────────────────────── file
//! ```
//!
//! Nothing here is needed to converge. A file that cannot be used is moved aside and a new one is
//! begun; one that fails at run time is an error, and whoever calls decides what that means. After
//! such a failure the next call opens the file anew: once there is room again, writing goes on.
//!
//! Every call blocks for as long as the disk takes. The store has no clock of its own: what is old
//! is judged by block time.
//!
//! Must not know: what follows from a decision, how it is shown, where the file should be.

mod batch;
mod detail;
mod error;
mod format;
mod health;
mod history;
mod kind;
mod open;
mod prune;
mod read;
mod record;
#[cfg(test)]
mod tests;

pub use batch::{Batch, ClusterEvent, LeaseChange, LeaseEvent, Moment};
pub use error::{OpenError, StoreError};
pub use health::StoreHealth;
pub use history::LeaseHistory;
pub use kind::kind;
pub use open::{Found, Opened, Store};
pub use prune::Retention;
pub use record::Record;
