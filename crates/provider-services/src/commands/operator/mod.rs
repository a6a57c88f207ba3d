//! `operator`: an operator of the cluster in a process of its own.
//!
//! The provider runs them inside itself unless it is told not to; alone they need fewer rights.

mod hostname;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::console::Streams;
use crate::surroundings::Surroundings;

const HELP: &str = "\
Examples:
  provider-services operator hostname
  provider-services operator hostname --ingress-class traefik";

/// `operator` and which one.
#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Operator {
    #[command(subcommand)]
    command: OperatorCommand,
}

#[derive(Debug, Subcommand)]
enum OperatorCommand {
    /// Make a route for every hostname of a lease
    ///
    /// Needed only where the provider runs with --hostname-operator=false.
    #[command(after_help = hostname::HELP)]
    Hostname(Box<hostname::HostnameArgs>),
}

pub(crate) fn run(
    operator: &Operator,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    match &operator.command {
        OperatorCommand::Hostname(args) => hostname::run(args, surroundings, streams),
    }
}
