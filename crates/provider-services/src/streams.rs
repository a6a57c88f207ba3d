//! Standard input, output and error, as the commands use them.

use std::io::{self, Read, Write};

use crate::console::Console;
use crate::output::Palette;

/// Where a command reads and writes.
pub(crate) struct Streams<'a> {
    pub(crate) stdin: &'a mut dyn Read,
    /// Standard output, for results.
    pub(crate) stdout: &'a mut dyn Write,
    /// Standard error, for everything else.
    pub(crate) stderr: &'a mut dyn Write,
    /// Questions to whoever is there.
    pub(crate) console: Console,
    /// Colours for standard output.
    pub(crate) stdout_palette: Palette,
    /// Colours for standard error.
    pub(crate) stderr_palette: Palette,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub(crate) struct WriteError(#[from] io::Error);

impl WriteError {
    /// Whether the reader went away, as `head` does when it has seen enough.
    pub(crate) fn is_reader_gone(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

impl Streams<'_> {
    pub(crate) fn print(&mut self, text: &str) -> Result<(), WriteError> {
        self.stdout.write_all(text.as_bytes())?;
        Ok(self.stdout.flush()?)
    }

    /// Tells the person in front of the terminal something. If that fails, nobody is left to be
    /// told.
    pub(crate) fn tell(&mut self, text: &str) {
        let _ = self.stderr.write_all(text.as_bytes());
        let _ = self.stderr.flush();
    }
}
