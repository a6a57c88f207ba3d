//! The chain's side of the daemon: blocks come in, questions are answered, intents end.
//!
//! ```text
//! Follower ── block ──► lane, then engine          (follow)
//! FollowStatus ───────► which node is asked         (choose)
//! engine ── Query ────► node ──► Chain              (reader, read)
//! lane ── outcome ────► engine                      (follow)
//! ```
//!
//! Nothing is decided here but whom to ask.

mod choose;
mod follow;
pub mod read;
mod reader;

pub use choose::{choose, troubles};
pub(crate) use follow::{follow, keep_choosing};
pub use reader::Reader;
