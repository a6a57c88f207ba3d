//! Where the program runs, and the flags that hold for every command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use akash_net::{Outbound, OutboundError, TlsFiles};
use anyhow::bail;
use clap::builder::BoolishValueParser;
use clap::{Arg, ArgAction, Args, Command, ValueHint};
use provider_daemon::config::{STRAYS, table};
use provider_daemon::log::{LogFormat, LogSettings};

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
        let named = |name: &'static str| Some((name, variable_of(name, &holds)?));
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

/// In the order in which they are looked at.
const PREFIXES: [&str; 2] = ["AP_", "AKASH_"];

/// The command with every flag bound to its variable, for those variables that hold something.
pub(crate) fn bind_variables(command: Command, holds_something: &dyn Fn(&str) -> bool) -> Command {
    command
        .mut_args(|arg| bind_arg(arg, holds_something))
        .mut_subcommands(|subcommand| bind_variables(subcommand, holds_something))
}

/// The variable from which a flag takes its value, if there is one that holds something.
pub(crate) fn variable_of(flag: &str, holds_something: &dyn Fn(&str) -> bool) -> Option<String> {
    let name = flag.to_ascii_uppercase().replace(['-', '.'], "_");
    PREFIXES.iter().map(|prefix| format!("{prefix}{name}")).find(|name| holds_something(name))
}

fn bind_arg(arg: Arg, holds_something: &dyn Fn(&str) -> bool) -> Arg {
    let Some(variable) = arg.get_long().and_then(|flag| variable_of(flag, holds_something)) else {
        return arg;
    };
    // Help reads the same everywhere, and shows no secrets.
    let bound = |arg: Arg| arg.env(variable).hide_env(true);
    match arg.get_action() {
        ArgAction::Set | ArgAction::Append | ArgAction::Count => bound(arg),
        // true, false, 1, 0 and the like, where the command line needs no value.
        ArgAction::SetTrue | ArgAction::SetFalse => {
            bound(arg).value_parser(BoolishValueParser::new())
        }
        // --help, --version and what else is not a setting.
        _ => arg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> Command {
        Command::new("program").arg(Arg::new("log").long("log_level").global(true)).subcommand(
            Command::new("run")
                .arg(Arg::new("output"))
                .arg(Arg::new("price").long("bid-price.cpu-scale"))
                .arg(Arg::new("dry").long("dry-run").action(ArgAction::SetTrue))
                .arg(Arg::new("info").long("info").action(ArgAction::Help)),
        )
    }

    /// Which variable each argument of `run` is bound to when these are set.
    fn bound(set: &[&str]) -> Vec<(String, String)> {
        let command = bind_variables(command(), &|name| set.contains(&name));
        let run = command.find_subcommand("run").unwrap();
        command
            .get_arguments()
            .chain(run.get_arguments())
            .filter_map(|arg| {
                let variable = arg.get_env()?.to_string_lossy().into_owned();
                Some((arg.get_id().to_string(), variable))
            })
            .collect()
    }

    fn pair(id: &str, variable: &str) -> (String, String) {
        (id.to_owned(), variable.to_owned())
    }

    #[test]
    fn names_are_upper_case_with_underscores() {
        assert_eq!(
            bound(&["AP_BID_PRICE_CPU_SCALE", "AKASH_DRY_RUN", "AP_LOG_LEVEL"]),
            [
                pair("log", "AP_LOG_LEVEL"),
                pair("price", "AP_BID_PRICE_CPU_SCALE"),
                pair("dry", "AKASH_DRY_RUN"),
            ]
        );
    }

    #[test]
    fn ap_wins_over_akash() {
        assert_eq!(bound(&["AKASH_DRY_RUN", "AP_DRY_RUN"]), [pair("dry", "AP_DRY_RUN")]);
    }

    #[test]
    fn what_is_not_set_or_not_a_setting_is_left_alone() {
        assert_eq!(bound(&[]), []);
        assert_eq!(bound(&["AP_INFO", "AP_HELP", "DRY_RUN"]), []);
    }

    #[test]
    fn positional_arguments_have_no_variable() {
        assert_eq!(bound(&["AP_OUTPUT", "AKASH_OUTPUT"]), []);
    }
}
