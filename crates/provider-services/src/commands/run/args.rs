//! Flags of `run`, made from the table of settings.
//!
//! Values are taken as they are written: what is wrong with them is found out later, all at once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueHint};
use provider_daemon::config::{Effect, Form, Place, Setting, Value, table};

use crate::surroundings::Surroundings;

/// Settings that are flags of every command.
const GLOBAL: [&str; 10] = [
    "home",
    "node",
    "node-ca",
    "node-cert",
    "node-key",
    "log_level",
    "log_format",
    "log_color",
    "log_timestamp",
    "trace",
];
const CHECK: &str = "check";

/// What `run` was given by flags and environment.
#[derive(Clone, Debug)]
pub(crate) struct RunArgs {
    given: BTreeMap<&'static str, (String, ValueSource)>,
    /// Whether to look at everything and do nothing.
    pub(super) check: bool,
}

impl RunArgs {
    /// What was given, each with the place that it came from.
    pub(super) fn values(&self, surroundings: &Surroundings) -> BTreeMap<String, Value> {
        let value = |(name, (text, source)): (&&'static str, &(String, ValueSource))| {
            let place = match (source, surroundings.variable(name)) {
                (ValueSource::EnvVariable, Some(variable)) => {
                    Place::Environment(variable.to_owned())
                }
                _ => Place::Flag,
            };
            ((*name).to_owned(), Value { text: text.clone(), place })
        };
        self.given.iter().map(value).collect()
    }

    /// The text of a setting, if it was given.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.given.get(name).map(|(text, _)| text.as_str()).filter(|text| !text.is_empty())
    }
}

impl Args for RunArgs {
    fn augment_args(command: Command) -> Command {
        let check = Arg::new(CHECK)
            .long(CHECK)
            .action(ArgAction::SetTrue)
            .help("Say what is wrong with the settings, or what would run, and end");
        let mut command = command.arg(check);
        for (heading, settings) in table::SECTIONS {
            let flags = settings.iter().filter(|setting| !GLOBAL.contains(&setting.name));
            command = command.args(flags.map(|setting| flag(setting).help_heading(*heading)));
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn flag(setting: &'static Setting) -> Arg {
    let mut help = setting.help.to_owned();
    if let Effect::Unused(because) = setting.effect {
        help.push_str(&format!("; accepted, without effect: {because}"));
    } else if !setting.default.is_empty() && setting.form != Form::Switch {
        help.push_str(&format!(" [default: {}]", setting.default));
    }
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .value_name(setting.value)
        .help(help)
        .hide_short_help(setting.effect != Effect::Used)
        .allow_negative_numbers(true);
    let arg = match setting.value {
        "FILE" => arg.value_hint(ValueHint::FilePath),
        "DIR" => arg.value_hint(ValueHint::DirPath),
        _ => arg,
    };
    let arg = match setting.name {
        "account-number" => arg.short('a'),
        "sequence" => arg.short('s'),
        "broadcast-mode" => arg.short('b'),
        "output" => arg.short('o'),
        "yes" => arg.short('y'),
        _ => arg,
    };
    match setting.form {
        Form::Value => arg,
        Form::List => arg.action(ArgAction::Append),
        // As Go takes them: alone, or with a value after an equals sign.
        Form::Switch => arg
            .num_args(0..=1)
            .require_equals(true)
            .allow_negative_numbers(false)
            .default_missing_value("true"),
    }
}

impl FromArgMatches for RunArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = BTreeMap::new();
        for setting in table::settings() {
            let source = matches.value_source(setting.name);
            let Some(source) = source.filter(|source| *source != ValueSource::DefaultValue) else {
                continue;
            };
            given.insert(setting.name, (text(matches, setting.name), source));
        }
        Ok(Self { given, check: matches.get_flag(CHECK) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The values of a flag as one text.
fn text(matches: &ArgMatches, name: &str) -> String {
    match name {
        "home" | "node-ca" | "node-cert" | "node-key" => matches
            .get_one::<PathBuf>(name)
            .map(|path| path.to_string_lossy().into_owned())
            .unwrap_or_default(),
        "log_color" | "trace" => matches.get_flag(name).to_string(),
        _ => {
            let values = matches.get_many::<String>(name).into_iter().flatten();
            values.map(String::as_str).collect::<Vec<_>>().join(",")
        }
    }
}
