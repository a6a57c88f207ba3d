//! Frames of streams.
//!
//! Logs and events are texts, one JSON object and a line break each. A shell speaks in binary
//! frames whose first byte says what the rest is:
//!
//! ```text
//!  client                                             provider
//!    104 what the command reads ─────────────────►
//!    104 alone: nothing more to read ────────────►
//!    105 columns, lines ─────────────────────────►
//!                     ◄───────────────────────── 100 what it wrote
//!                     ◄───────────────────────── 101 what it wrote as errors
//!                     ◄───────────────────────── 102 how it ended, last
//!                     ◄───────────────────────── 103 nobody knows how it ended, last
//! ```

mod close;
mod event;
mod log;
mod shell;

pub use close::CloseCode;
pub use event::{EventFrame, EventObject};
pub use log::LogFrame;
pub use shell::{ClientFrame, FrameError, ServerFrame, ShellResult};
