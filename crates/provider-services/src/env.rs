//! Flags from the environment: `--output` is also `AP_OUTPUT`, or else `AKASH_OUTPUT`.
//!
//! The rule holds for every flag of every command, those to come included: it is applied to the
//! whole tree of commands before anything is parsed. That the command line wins, and that a
//! variable satisfies a required flag, is then clap's work. Positional arguments have no
//! variables.

use clap::builder::BoolishValueParser;
use clap::{Arg, ArgAction, Command};

/// In the order in which they are looked at.
const PREFIXES: [&str; 2] = ["AP_", "AKASH_"];

/// The command with every flag bound to its variable, for those variables that hold something.
pub(crate) fn bind(command: Command, holds_something: &dyn Fn(&str) -> bool) -> Command {
    command
        .mut_args(|arg| bind_arg(arg, holds_something))
        .mut_subcommands(|subcommand| bind(subcommand, holds_something))
}

/// The variable from which a flag takes its value, if there is one that holds something.
pub(crate) fn variable(flag: &str, holds_something: &dyn Fn(&str) -> bool) -> Option<String> {
    let name = flag.to_ascii_uppercase().replace(['-', '.'], "_");
    PREFIXES.iter().map(|prefix| format!("{prefix}{name}")).find(|name| holds_something(name))
}

fn bind_arg(arg: Arg, holds_something: &dyn Fn(&str) -> bool) -> Arg {
    let Some(variable) = arg.get_long().and_then(|flag| variable(flag, holds_something)) else {
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
        let command = bind(command(), &|name| set.contains(&name));
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
