//! `keys delete`, `keys rename` and `keys migrate`.

use akash_keys::keyring::RecordKind;
use anyhow::bail;
use clap::Args;

use super::Context;
use crate::chain::thrice;
use crate::output::counted;

const DELETE_HELP: &str = "\
Examples:
  provider-services keys delete old-provider
  provider-services keys delete old-provider -y";

const RENAME_HELP: &str = "\
Examples:
  provider-services keys rename provider main -y";

/// Arguments of `keys delete`.
#[derive(Debug, Args)]
#[command(after_help = DELETE_HELP)]
pub(super) struct Delete {
    /// Names of keys
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Do not ask first
    #[arg(short, long)]
    yes: bool,
    /// Do not ask first, as -y
    #[arg(short, long)]
    force: bool,
}

/// Arguments of `keys rename`.
#[derive(Debug, Args)]
#[command(after_help = RENAME_HELP)]
pub(super) struct Rename {
    /// Its name now
    old: String,
    /// Its name to be
    new: String,
    /// Do not ask first
    #[arg(short, long)]
    yes: bool,
}

pub(super) fn delete(args: &Delete, context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let keyring = context.keyring()?;
    for name in &args.names {
        let record = thrice(|| keyring.get(name))?;
        let local = record.kind() == &RecordKind::Local;
        let what = if local { "Key" } else { "Key reference" };
        if !args.yes && !args.force {
            let question = format!("{what} {name} will be deleted. Continue?");
            if !context.streams.console.confirms(&question)? {
                bail!("aborted: key {name:?} is not deleted");
            }
        }
        thrice(|| keyring.delete(name))?;
        context.streams.tell(&format!("{what} {name} deleted\n"));
    }
    Ok(())
}

pub(super) fn rename(args: &Rename, context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let keyring = context.keyring()?;
    thrice(|| keyring.get(&args.old))?;
    if !args.yes {
        let question = format!("Key {} will be renamed to {}. Continue?", args.old, args.new);
        if !context.streams.console.confirms(&question)? {
            bail!("aborted: key {:?} is not renamed", args.old);
        }
    }
    thrice(|| keyring.rename(&args.old, &args.new))?;
    let told = format!("Key was successfully renamed from {} to {}\n", args.old, args.new);
    context.streams.tell(&told);
    Ok(())
}

pub(super) fn migrate(context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let keyring = context.keyring()?;
    let migrated = thrice(|| keyring.migrate())?;
    for name in &migrated {
        context.streams.tell(&format!("migrated {name}\n"));
    }
    context.streams.tell(&format!("{} migrated\n", counted(migrated.len(), "key")));
    Ok(())
}
