//! Logs: what is logged, in which form, and changing the former while running.
//!
//! Everything goes to standard error, a line each. Must not know who logs what.

mod json;
mod levels;
mod setup;

use std::str::FromStr;

pub use levels::{Level, Levels, LevelsError};
pub use setup::{AlreadyLogging, LogHandle, start, start_in};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSettings {
    pub levels: Levels,
    pub format: LogFormat,
    pub colour: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Plain,
    /// An object for programs.
    Json,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a form of logs")]
pub struct LogFormatError(String);

impl FromStr for LogFormat {
    type Err = LogFormatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "plain" | "text" => Ok(Self::Plain),
            "json" => Ok(Self::Json),
            _ => Err(LogFormatError(text.chars().take(64).collect())),
        }
    }
}
