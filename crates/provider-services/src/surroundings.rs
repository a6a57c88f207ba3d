//! Where the program runs, and the flags that hold for every command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use akash_net::{Outbound, OutboundError, TlsFiles};
use anyhow::bail;
use clap::{Args, ValueHint};
use provider_daemon::config::{STRAYS, table};
use provider_daemon::log::{LogFormat, LogSettings};

use crate::env;

const HEADING: &str = "Global options";

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Globals {
    /// Directory of keyrings and certificates [default: $HOME/.akash]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = HEADING)]
    pub(crate) home: Option<PathBuf>,
    /// Address of the node's RPC port; run takes several, with commas between
    #[arg(
        long,
        global = true,
        value_name = "URL",
        default_value = "http://localhost:26657",
        help_heading = HEADING
    )]
    pub(crate) node: String,
    /// Authorities that vouch for the node, in PEM, instead of the system's
    #[arg(id = "node-ca", long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = HEADING)]
    pub(crate) node_ca: Option<PathBuf>,
    /// Certificate that is shown to the node, in PEM
    #[arg(id = "node-cert", long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = HEADING)]
    pub(crate) node_cert: Option<PathBuf>,
    /// Its key, in PEM
    #[arg(id = "node-key", long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, hide_short_help = true, help_heading = HEADING)]
    pub(crate) node_key: Option<PathBuf>,
    /// What run logs: debug, info, warn, error, or MODULE:LEVEL with commas between
    #[arg(long = "log_level", global = true, hide_short_help = true, help_heading = HEADING)]
    log_level: Option<String>,
    /// How run logs: plain or json
    #[arg(long = "log_format", global = true, hide_short_help = true, help_heading = HEADING)]
    log_format: Option<String>,
    /// Whether run logs in colours
    #[arg(long = "log_color", global = true, hide_short_help = true, help_heading = HEADING)]
    log_color: bool,
    /// Accepted, without effect: times are RFC 3339 in UTC
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
    flag_home: Option<PathBuf>,
    node: String,
    outbound: Result<Outbound, OutboundError>,
    node_ca: Option<PathBuf>,
    node_cert: Option<PathBuf>,
    node_key: Option<PathBuf>,
    session_bus: Option<String>,
    user_home: Option<PathBuf>,
    variables: BTreeMap<&'static str, String>,
    strays: Vec<String>,
    log_level: Option<String>,
    log_format: Option<String>,
    log_color: bool,
}

/// There is no place to look for keys.
#[derive(Debug, thiserror::Error)]
#[error("HOME is not set; say with --home where keys and certificates are")]
pub(crate) struct NoHome;

impl Surroundings {
    pub(crate) fn new(
        globals: Globals,
        home_by_flag: bool,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let user_home = set("HOME").map(PathBuf::from);
        let default = || user_home.as_ref().map(|home| home.join(".akash"));
        let holds = |name: &str| set(name).is_some();
        let named = |name: &'static str| Some((name, env::variable(name, &holds)?));
        let strays = STRAYS.iter().map(|(name, _)| *name).filter(|name| holds(name));
        Self {
            flag_home: globals.home.clone().filter(|_| home_by_flag),
            home: globals.home.or_else(default),
            variables: table::settings().filter_map(|setting| named(setting.name)).collect(),
            strays: strays.map(str::to_owned).collect(),
            node: globals.node,
            outbound: Outbound::new(|name| set(name).and_then(|value| value.into_string().ok())),
            node_ca: globals.node_ca,
            node_cert: globals.node_cert,
            node_key: globals.node_key,
            log_level: globals.log_level,
            log_format: globals.log_format,
            log_color: globals.log_color,
            session_bus: set("DBUS_SESSION_BUS_ADDRESS").and_then(|bus| bus.into_string().ok()),
            user_home,
        }
    }

    /// The directory of keyrings and certificates.
    pub(crate) fn home(&self) -> Result<&Path, NoHome> {
        self.home.as_deref().ok_or(NoHome)
    }

    /// The same, only if it stands on the command line: a variable is set for what one has
    /// already, and some commands make something new.
    pub(crate) fn flag_home(&self) -> Option<&Path> {
        self.flag_home.as_deref()
    }

    /// The node to talk to, as it was written.
    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    /// How connections go out by the environment, or why it does not say.
    pub(crate) const fn environment_outbound(&self) -> &Result<Outbound, OutboundError> {
        &self.outbound
    }

    /// How connections go out.
    pub(crate) fn outbound(&self) -> anyhow::Result<&Outbound> {
        Ok(self.outbound.as_ref().map_err(OutboundError::clone)?)
    }

    /// How connections to the node go out.
    pub(crate) fn to_node(&self) -> anyhow::Result<Outbound> {
        let given =
            |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
        let identity = match (given(&self.node_cert), given(&self.node_key)) {
            (Some(cert), Some(key)) => Some((cert, key)),
            (None, None) => None,
            (Some(_), None) => bail!("--node-cert is given without --node-key: give both"),
            (None, Some(_)) => bail!("--node-key is given without --node-cert: give both"),
        };
        let files = TlsFiles { ca: given(&self.node_ca), identity };
        Ok(self.outbound()?.with_files(files))
    }

    /// What is logged and how, for commands that go on and have no settings of their own for it.
    pub(crate) fn log(&self) -> anyhow::Result<LogSettings> {
        let format = self.log_format.as_deref();
        Ok(LogSettings {
            levels: self.log_level.as_deref().unwrap_or("info").parse()?,
            format: format.map_or(Ok(LogFormat::Plain), str::parse)?,
            colour: self.log_color,
        })
    }

    pub(crate) fn user_home(&self) -> Option<&Path> {
        self.user_home.as_deref()
    }

    /// The variable that holds a setting of the provider, if one does.
    pub(crate) fn variable(&self, setting: &str) -> Option<&str> {
        self.variables.get(setting).map(String::as_str)
    }

    /// Variables that are set, look like settings of the provider and are none.
    pub(crate) fn strays(&self) -> &[String] {
        &self.strays
    }

    /// The bus of the desktop session, in whose secret service keys may be.
    pub(crate) fn session_bus(&self) -> Option<&str> {
        self.session_bus.as_deref()
    }
}
