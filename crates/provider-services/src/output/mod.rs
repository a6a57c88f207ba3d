//! Results as text: for programs as JSON and YAML, for people as tables, with colours where they
//! are welcome.
//!
//! Everything here makes a text from values and writes nothing.

mod bids;
pub(crate) mod ctl;
mod groups;
mod nodes;
mod palette;
mod problem;
mod table;
pub(crate) mod tables;

pub(crate) use akash_json::Document;
pub(crate) use bids::{BidRow, render_bids};
pub(crate) use groups::render_groups;
pub(crate) use nodes::{Sent, counted, printable, render_nodes};
pub(crate) use palette::Palette;
pub(crate) use problem::{Severity, render_problem};

/// How wide a text may be: what the narrowest usual terminal shows.
const WIDTH: usize = 80;
