//! What each command does: one file per group of commands.

mod completion;
mod crd;
pub(crate) mod ctl;
pub(crate) mod deploy;
pub(crate) mod devnet;
mod ids;
pub(crate) mod keys;
mod man;
pub(crate) mod migrate;
pub(crate) mod operator;
pub(crate) mod query;
pub(crate) mod quickstart;
pub(crate) mod run;
pub(crate) mod sdl;
pub(crate) mod sim_cluster;
pub(crate) mod tenant;
pub(crate) mod tx;
pub(crate) mod version;

use std::process::ExitCode;

use crate::cli::Command;
use crate::console::Streams;
use crate::surroundings::Surroundings;

/// Runs a command. An error is told by the caller; a command that has told everything itself
/// answers with the exit code.
pub(crate) fn run(
    command: Command,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    match command {
        Command::Keys(keys) => keys::run(&keys, surroundings, streams),
        Command::Tx(tx) => tx::run(&tx, surroundings, streams),
        Command::Run(args) => run::run(&args, surroundings, streams),
        Command::Ctl(ctl) => ctl::run(&ctl, surroundings, streams),
        Command::Operator(operator) => operator::run(&operator, surroundings, streams),
        Command::Query(query) => query::run(&query, surroundings, streams),
        Command::Devnet(args) => devnet::run(&args, surroundings, streams),
        Command::SimCluster(args) => sim_cluster::run(&args, surroundings, streams),
        Command::Deploy(args) => deploy::run(&args, surroundings, streams),
        Command::Quickstart(args) => quickstart::run(&args, surroundings, streams),
        Command::Tenant(command) => tenant::run(&command, surroundings, streams),
        Command::Sdl(command) => sdl::run(&command, streams),
        Command::SdlToManifest(args) => sdl::to_manifest(&args, streams),
        Command::Crd => crd::run(streams),
        Command::Migrate(migrate) => migrate::run(&migrate, surroundings, streams),
        Command::Completion(args) => completion::run(&args, streams),
        Command::Man(args) => man::run(&args, streams),
        Command::Version(args) => version::run(&args, streams),
    }
}
