//! Where a value came from.

use std::fmt;
use std::path::PathBuf;

/// Where a value came from, strongest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Flag,
    /// This variable of the environment.
    Environment(String),
    /// This key of this file.
    File {
        path: PathBuf,
        /// The key, as it is written there.
        key: String,
    },
    Default,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Environment(variable) => f.write_str(variable),
            Self::File { path, key } => write!(f, "{key} in {}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}
