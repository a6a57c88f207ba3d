//! Asking the person in front of the terminal, or whatever is piped in instead.
//!
//! As in the Go program: prompts appear on a terminal only, and where there is none each answer is
//! one line of standard input, in the order in which it is asked for.

use std::io;
use std::io::{Read, Write};

use akash_keys::Passphrase;
use zeroize::Zeroizing;

use crate::output::Palette;

/// Where answers come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Console {
    terminal: bool,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("standard input ended where {what} was expected; give it as one line")]
    Ended { what: String },
    #[error("cannot read {what} from standard input")]
    Read { what: String, source: io::Error },
}

impl Console {
    /// `terminal` says whether somebody types into standard input.
    pub(crate) const fn new(terminal: bool) -> Self {
        Self { terminal }
    }

    pub(crate) const fn is_terminal(self) -> bool {
        self.terminal
    }

    /// A secret; it is not shown as it is typed.
    pub(crate) fn secret(self, prompt: &str, what: &str) -> Result<Passphrase, NoAnswer> {
        if !self.terminal {
            return Ok(self.read(what)?.into());
        }
        tell(prompt);
        let typed = rpassword::read_password();
        let read = |source| NoAnswer::Read { what: what.to_owned(), source };
        Ok(Zeroizing::new(typed.map_err(read)?).into())
    }

    /// One line, shown as it is typed.
    pub(crate) fn line(self, prompt: &str, what: &str) -> Result<Zeroizing<String>, NoAnswer> {
        if self.terminal {
            tell(prompt);
        }
        self.read(what)
    }

    /// Whether the answer is yes; anything else is no, the end of input included.
    pub(crate) fn confirms(self, question: &str) -> Result<bool, NoAnswer> {
        match self.line(&format!("{question} [y/N]: "), "an answer") {
            Ok(answer) => {
                let answer = answer.trim();
                Ok(answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes"))
            }
            Err(NoAnswer::Ended { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn read(self, what: &str) -> Result<Zeroizing<String>, NoAnswer> {
        let mut line = Zeroizing::new(String::new());
        let count = io::stdin()
            .read_line(&mut line)
            .map_err(|source| NoAnswer::Read { what: what.to_owned(), source })?;
        if count == 0 {
            return Err(NoAnswer::Ended { what: what.to_owned() });
        }
        while line.ends_with(['\n', '\r']) {
            line.pop();
        }
        Ok(line)
    }
}

/// If nobody sees it, nobody is there to be asked.
fn tell(prompt: &str) {
    let mut stderr = io::stderr();
    let _ = stderr.write_all(prompt.as_bytes());
    let _ = stderr.flush();
}

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
