//! `keys …`: the keys of accounts, in the keyrings that `akash` has too.

mod add;
mod manage;
mod parse;
mod show;
mod transfer;

use std::process::ExitCode;

use akash_keys::keyring::Keyring;
use clap::{Args, Subcommand, ValueEnum};

use crate::chain::{self, KeyringArgs};
use crate::console::Streams;
use crate::surroundings::Surroundings;

const HELP: &str = "\
Examples:
  provider-services keys add provider
  provider-services keys show provider -a
  provider-services keys list --keyring-backend test";

const MNEMONIC_HELP: &str = "\
Examples:
  provider-services keys mnemonic";

const LIST_TYPES_HELP: &str = "\
Examples:
  provider-services keys list-key-types";

const MIGRATE_HELP: &str = "\
Examples:
  provider-services keys migrate --keyring-backend file";

/// `keys` with what holds for all of its commands.
#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Keys {
    #[command(flatten)]
    keyring: KeyringArgs,
    /// Format of what is printed [default: text]
    #[arg(short, long, global = true, value_name = "FORMAT")]
    output: Option<KeyFormat>,
    #[command(subcommand)]
    command: KeysCommand,
}

/// How keys are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyFormat {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
enum KeysCommand {
    /// Print a new mnemonic: words from which keys can be made
    #[command(after_help = MNEMONIC_HELP)]
    Mnemonic,
    /// Make a key, or recover it from its mnemonic, and keep it under a name
    Add(add::Add),
    /// List all keys
    List(show::List),
    /// Show keys by name or address
    Show(show::Show),
    /// Delete keys for ever
    Delete(manage::Delete),
    /// Give a key another name
    Rename(manage::Rename),
    /// Print the private key of a key, protected by a passphrase
    Export(transfer::Export),
    /// Take in a private key from a file that export has made
    Import(transfer::Import),
    /// Take in a private key in hexadecimal
    ImportHex(transfer::ImportHex),
    /// Show an address in its other forms
    Parse(parse::Parse),
    /// List the types of keys that can be made
    #[command(after_help = LIST_TYPES_HELP)]
    ListKeyTypes,
    /// Rewrite keys that were kept by very old versions
    #[command(after_help = MIGRATE_HELP)]
    Migrate,
}

/// What the commands of this group work with.
struct Context<'a, 'b> {
    keys: &'a Keys,
    surroundings: &'a Surroundings,
    streams: &'a mut Streams<'b>,
}

impl Context<'_, '_> {
    fn keyring(&self) -> anyhow::Result<Keyring> {
        chain::open(&self.keys.keyring, self.surroundings, self.streams.console)
    }

    fn format(&self) -> KeyFormat {
        self.keys.output.unwrap_or_default()
    }
}

pub(crate) fn run(
    keys: &Keys,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let mut context = Context { keys, surroundings, streams };
    match &keys.command {
        KeysCommand::Mnemonic => add::mnemonic(&mut context),
        KeysCommand::Add(args) => add::run(args, &mut context),
        KeysCommand::List(args) => show::list(args, &mut context),
        KeysCommand::Show(args) => show::show(args, &mut context),
        KeysCommand::Delete(args) => manage::delete(args, &mut context),
        KeysCommand::Rename(args) => manage::rename(args, &mut context),
        KeysCommand::Export(args) => transfer::export(args, &mut context),
        KeysCommand::Import(args) => transfer::import(args, &mut context),
        KeysCommand::ImportHex(args) => transfer::import_hex(args, &mut context),
        KeysCommand::Parse(args) => parse::run(args, &mut context),
        KeysCommand::ListKeyTypes => context.streams.print("secp256k1\n").map_err(Into::into),
        KeysCommand::Migrate => manage::migrate(&mut context),
    }?;
    Ok(ExitCode::SUCCESS)
}
