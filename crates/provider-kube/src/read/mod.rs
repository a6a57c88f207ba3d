//! What tenants ask about their leases.
//!
//! Status and manifest come from what the watches show, and cost the API server nothing; logs,
//! commands and events are streams through it. Everything says *unavailable* while what is seen may
//! be history.

pub(crate) mod events;
pub(crate) mod exec;
pub(crate) mod logs;
mod look;
pub(crate) mod status;
