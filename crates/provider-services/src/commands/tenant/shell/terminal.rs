//! The terminal on this side.

use std::io::stdin;

use anyhow::Context;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// A terminal that passes on what is typed as it is; dropped, it is as it was.
pub(super) struct Raw {
    before: Termios,
}

impl Raw {
    pub(super) fn enter() -> anyhow::Result<Self> {
        let before = tcgetattr(stdin()).context("input is not a terminal, cannot setup TTY")?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Now, &raw).context("cannot change the terminal")?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // If the terminal is gone, there is nothing to give back.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

pub(super) fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(stdin()).ok()?;
    Some((size.ws_col, size.ws_row))
}
