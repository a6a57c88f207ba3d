//! `keys export`, `keys import` and `keys import-hex`.

use std::path::PathBuf;

use akash_keys::keyring::KeyRecord;
use akash_keys::{SecretKey, armor};
use anyhow::{Context as _, bail};
use clap::{Args, ValueHint};
use zeroize::Zeroizing;

use super::Context;
use crate::chain::thrice;

/// Shorter passphrases the Go program does not take.
const SHORTEST: usize = 8;

const EXPORT_HELP: &str = "\
Examples:
  provider-services keys export provider > key.txt
  provider-services keys export provider --unarmored-hex --unsafe";

const IMPORT_HELP: &str = "\
Examples:
  provider-services keys import provider key.txt
  provider-services keys import provider key.txt --passphrase-file passphrase.txt";

const IMPORT_HEX_HELP: &str = "\
Examples:
  provider-services keys import-hex provider < key.hex";

/// Arguments of `keys export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_HELP)]
pub(super) struct Export {
    /// Name of the key
    name: String,
    /// Print hexadecimal without any protection; needs --unsafe
    #[arg(long, requires = "unsafe_too")]
    unarmored_hex: bool,
    /// Say that you know what --unarmored-hex means
    #[arg(long = "unsafe", id = "unsafe_too", requires = "unarmored_hex")]
    unsafe_too: bool,
    /// Do not ask before printing it without protection
    #[arg(short, long)]
    yes: bool,
}

/// Arguments of `keys import`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HELP)]
pub(super) struct Import {
    /// What the keyring shall call the key
    name: String,
    /// The file; its passphrase is asked for, or read from standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// A file that has the passphrase, where nobody is there to be asked
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    passphrase_file: Option<PathBuf>,
}

/// Arguments of `keys import-hex`.
#[derive(Debug, Args)]
#[command(after_help = IMPORT_HEX_HELP)]
pub(super) struct ImportHex {
    /// What the keyring shall call the key
    name: String,
    /// The key; without it, it is asked for or read from standard input, where others do not see it
    #[arg(value_name = "HEX", hide_env_values = true)]
    hex: Option<String>,
    /// Type of the key
    #[arg(long, alias = "algo", value_parser = ["secp256k1"], default_value = "secp256k1")]
    key_type: String,
}

pub(super) fn export(args: &Export, context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let keyring = context.keyring()?;
    let key = thrice(|| keyring.get(&args.name))?.secret_key()?;
    let console = context.streams.console;
    if args.unarmored_hex {
        let question =
            "WARNING: whoever reads the key that is printed now owns the account. Continue?";
        if !args.yes && !console.confirms(question)? {
            bail!("aborted: nothing is exported");
        }
        let text = Zeroizing::new(format!("{}\n", *key.to_hex()));
        return Ok(context.streams.print(&text)?);
    }
    let passphrase = console.secret(
        "Enter passphrase to encrypt the exported key: ",
        "the passphrase for the exported key",
    )?;
    if passphrase.as_bytes().len() < SHORTEST {
        bail!("the passphrase is too short: it must have at least {SHORTEST} characters");
    }
    let text = armor::export(&key, &passphrase)?;
    Ok(context.streams.print(&format!("{text}\n"))?)
}

pub(super) fn import(args: &Import, context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(&args.file)
        .with_context(|| format!("cannot read {}", args.file.display()))?;
    let console = context.streams.console;
    let passphrase = match &args.passphrase_file {
        None => {
            console.secret("Enter passphrase to decrypt your key: ", "the passphrase of the key")?
        }
        Some(file) => {
            let read = std::fs::read_to_string(file);
            let read = read.with_context(|| format!("cannot read {}", file.display()))?;
            Zeroizing::new(Zeroizing::new(read).trim_end_matches(['\n', '\r']).to_owned()).into()
        }
    };
    let key = armor::import(&text, &passphrase)
        .with_context(|| format!("cannot import {}", args.file.display()))?;
    // Who imports without anybody there may have done it before.
    let keyring = context.keyring()?;
    let found = args.passphrase_file.as_ref().and_then(|_| keyring.get(&args.name).ok());
    if found.and_then(|found| found.address()) == Some(key.public_key().address()) {
        return Ok(());
    }
    keep(&args.name, &key, context)
}

pub(super) fn import_hex(args: &ImportHex, context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let key = match &args.hex {
        Some(hex) => SecretKey::from_hex(hex)?,
        None => {
            let typed = context.streams.console.secret("Enter private key in hex: ", "the key")?;
            SecretKey::from_hex(&String::from_utf8_lossy(typed.as_bytes()))?
        }
    };
    keep(&args.name, &key, context)
}

fn keep(name: &str, key: &SecretKey, context: &Context<'_, '_>) -> anyhow::Result<()> {
    let keyring = context.keyring()?;
    Ok(thrice(|| keyring.add(&KeyRecord::local(name, key)))?)
}
