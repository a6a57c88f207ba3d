//! Texts for people: problems in their source, groups as tables, colours where they are welcome.
//!
//! Everything here makes a text from values and writes nothing.

mod amount;
mod groups;
mod palette;
mod problem;
mod table;
mod text;

pub(crate) use groups::render_groups;
pub(crate) use palette::Palette;
pub(crate) use problem::{Severity, render_problem};
pub(crate) use text::{counted, printable};

/// How wide a text may be: what the narrowest usual terminal shows.
const WIDTH: usize = 80;
