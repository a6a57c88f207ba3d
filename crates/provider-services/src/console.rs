//! Asking the person in front of the terminal, or whatever is piped in instead.
//!
//! As in the Go program: prompts appear on a terminal only, and where there is none each answer is
//! one line of standard input, in the order in which it is asked for.

use std::io::{self, Write};

use akash_keys::Passphrase;
use zeroize::Zeroizing;

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
