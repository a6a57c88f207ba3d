//! Where the program runs, and the flags that hold for every command.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

const HEADING: &str = "Global options";

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Globals {
    /// Directory of keyrings and certificates [default: $HOME/.akash]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = HEADING)]
    pub(crate) home: Option<PathBuf>,
    /// Address of the node's RPC port
    #[arg(
        long,
        global = true,
        value_name = "URL",
        default_value = "http://localhost:26657",
        help_heading = HEADING
    )]
    pub(crate) node: String,
    /// Accepted, without effect on these commands: they log nothing
    #[arg(long = "log_level", global = true, hide_short_help = true, help_heading = HEADING)]
    log_level: Option<String>,
    /// Accepted, as --log_level
    #[arg(long = "log_format", global = true, hide_short_help = true, help_heading = HEADING)]
    log_format: Option<String>,
    /// Accepted, as --log_level
    #[arg(long = "log_color", global = true, hide_short_help = true, help_heading = HEADING)]
    log_color: bool,
    /// Accepted, as --log_level
    #[arg(long = "log_timestamp", global = true, hide_short_help = true, help_heading = HEADING)]
    log_timestamp: Option<String>,
    /// Accepted, without effect: errors always say what they come from
    #[arg(long, global = true, hide_short_help = true, help_heading = HEADING)]
    trace: bool,
}

/// What a command may know of the place it runs in.
#[derive(Debug)]
pub(crate) struct Surroundings {
    home: Option<PathBuf>,
    node: String,
    session_bus: Option<String>,
}

/// There is no place to look for keys.
#[derive(Debug, thiserror::Error)]
#[error("HOME is not set; say with --home where keys and certificates are")]
pub(crate) struct NoHome;

impl Surroundings {
    pub(crate) fn new(globals: Globals, variable: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let default = || set("HOME").map(|home| PathBuf::from(home).join(".akash"));
        Self {
            home: globals.home.or_else(default),
            node: globals.node,
            session_bus: set("DBUS_SESSION_BUS_ADDRESS").and_then(|bus| bus.into_string().ok()),
        }
    }

    /// The directory of keyrings and certificates.
    ///
    /// # Errors
    ///
    /// When nobody said and there is no default.
    pub(crate) fn home(&self) -> Result<&Path, NoHome> {
        self.home.as_deref().ok_or(NoHome)
    }

    /// The node to talk to, as it was written.
    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    /// The bus of the desktop session, in whose secret service keys may be.
    pub(crate) fn session_bus(&self) -> Option<&str> {
        self.session_bus.as_deref()
    }
}
