//! Results as text: for programs as JSON and YAML, for people as tables, with colours where they
//! are welcome.
//!
//! Everything here makes a text from values and writes nothing.

mod bids;
pub(crate) mod ctl;
mod groups;
mod inventory;
mod nodes;
mod problem;
mod table;
pub(crate) mod tables;

use std::ffi::OsString;

use clap::builder::styling::{AnsiColor, Style};

pub(crate) use akash_json::Document;
pub(crate) use bids::{BidRow, render_bids};
pub(crate) use groups::render_groups;
pub(crate) use nodes::{Sent, counted, printable, render_nodes};
pub(crate) use problem::{Severity, render_problem};

/// How wide a text may be: what the narrowest usual terminal shows.
const WIDTH: usize = 80;

/// A style for each role; every style is empty where colours are not welcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Palette {
    /// What is wrong.
    pub(crate) error: Style,
    /// What might be.
    pub(crate) warning: Style,
    /// What is right.
    pub(crate) good: Style,
    /// What to read first.
    pub(crate) strong: Style,
    /// Lines, numbers and headings around the text.
    pub(crate) frame: Style,
}

impl Palette {
    pub(crate) const PLAIN: Self = Self {
        error: Style::new(),
        warning: Style::new(),
        good: Style::new(),
        strong: Style::new(),
        frame: Style::new(),
    };

    const COLOURED: Self = Self {
        error: AnsiColor::Red.on_default().bold(),
        warning: AnsiColor::Yellow.on_default().bold(),
        good: AnsiColor::Green.on_default().bold(),
        strong: Style::new().bold(),
        frame: AnsiColor::Cyan.on_default(),
    };

    /// Colours only on a terminal that can show them, and not where `NO_COLOR` asks for none.
    pub(crate) fn choose(is_terminal: bool, variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let unwanted = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = variable("TERM").is_some_and(|value| value == "dumb");
        if is_terminal && !unwanted && !dumb { Self::COLOURED } else { Self::PLAIN }
    }

    pub(crate) fn is_coloured(&self) -> bool {
        *self != Self::PLAIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_need_a_terminal_and_nobody_against_them() {
        let none = |_: &str| None;
        assert!(Palette::choose(true, &none).is_coloured());
        assert!(!Palette::choose(false, &none).is_coloured());
        let with = |wanted: &'static str, value: &'static str| {
            move |name: &str| (name == wanted).then(|| OsString::from(value))
        };
        assert!(!Palette::choose(true, &with("NO_COLOR", "1")).is_coloured());
        assert!(Palette::choose(true, &with("NO_COLOR", "")).is_coloured());
        assert!(!Palette::choose(true, &with("TERM", "dumb")).is_coloured());
    }
}
