//! `keys add` and `keys mnemonic`: new keys.

use std::path::PathBuf;

use akash_keys::keyring::{KeyRecord, Keyring, KeyringError};
use akash_keys::{AccountKey, HdPath, Mnemonic, Multisig, PublicKey, random};
use anyhow::{Context as _, bail};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::{Args, ValueHint};
use serde::Deserialize;
use zeroize::Zeroizing;

use super::show::{document_in, render};
use super::{Context, KeyFormat};
use crate::chain::thrice;
use crate::output::Document;

const HELP: &str = "\
The mnemonic is shown once, on standard error; whoever has it has the key.

Examples:
  provider-services keys add provider
  provider-services keys add provider --recover < words.txt
  provider-services keys add watched --pubkey \"$(cat pubkey.json)\"
  provider-services keys add council --multisig a,b,c --multisig-threshold 2";

/// Arguments of `keys add`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Add {
    /// What the keyring shall call the key
    name: String,
    /// Recover the key from a mnemonic, read from standard input
    #[arg(long)]
    recover: bool,
    /// Read the mnemonic from this file instead
    #[arg(long, value_name = "FILE", requires = "recover", value_hint = ValueHint::FilePath)]
    source: Option<PathBuf>,
    /// Do not show the mnemonic of a new key
    #[arg(long)]
    no_backup: bool,
    /// Show the key and do not keep it
    #[arg(long)]
    dry_run: bool,
    /// Path from mnemonic to key, instead of one from coin type, account and index
    #[arg(long, value_name = "PATH", conflicts_with_all = ["coin_type", "account", "index"])]
    hd_path: Option<HdPath>,
    /// Coin type in the path from mnemonic to key
    #[arg(long, value_name = "N", default_value_t = HdPath::COSMOS_COIN_TYPE)]
    coin_type: u32,
    /// Account in the path from mnemonic to key
    #[arg(long, value_name = "N", default_value_t = 0)]
    account: u32,
    /// Index in the path from mnemonic to key
    #[arg(long, value_name = "N", default_value_t = 0)]
    index: u32,
    /// Type of the key
    #[arg(long, alias = "algo", value_parser = ["secp256k1"], default_value = "secp256k1")]
    key_type: String,
    /// Keep a public key only, given as JSON
    #[arg(long, value_name = "JSON", conflicts_with_all = ["recover", "multisig"])]
    pubkey: Option<String>,
    /// Keep a public key only, given as base64
    #[arg(long, value_name = "BASE64", conflicts_with_all = ["recover", "multisig", "pubkey"])]
    pubkey_base64: Option<String>,
    /// Keep the account of several keys of the keyring, by their names
    #[arg(long, value_name = "NAMES", value_delimiter = ',', conflicts_with = "recover")]
    multisig: Vec<String>,
    /// How many of them must sign
    #[arg(long, value_name = "N", default_value_t = 1)]
    multisig_threshold: u32,
    /// Keep their order, which otherwise is that of their addresses
    #[arg(long)]
    nosort: bool,
}

/// Prints a new mnemonic.
pub(super) fn mnemonic(context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let mnemonic = new_mnemonic()?;
    Ok(context.streams.print(&format!("{}\n", mnemonic.phrase()))?)
}

pub(super) fn run(args: &Add, context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let keyring = context.keyring()?;
    if !args.dry_run {
        make_room(&args.name, &keyring, context)?;
    }
    let (record, words) = make(args, &keyring, context)?;
    if !args.dry_run {
        thrice(|| keyring.add(&record))?;
    }
    let shown = words.filter(|_| !args.no_backup && !args.recover);
    let document = document_in(&record, super::show::Role::Acc);
    print(document, shown.as_ref(), context)
}

/// Asks before a key is replaced.
fn make_room(name: &str, keyring: &Keyring, context: &Context<'_, '_>) -> anyhow::Result<()> {
    match thrice(|| keyring.get(name)) {
        Err(KeyringError::NoKey { .. }) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(_) => {
            let question = format!("override the existing name {name}");
            if !context.streams.console.confirms(&question)? {
                bail!("aborted: a key {name:?} is in the keyring already");
            }
            Ok(thrice(|| keyring.delete(name))?)
        }
    }
}

/// The key, and the words it came from.
fn make(
    args: &Add,
    keyring: &Keyring,
    context: &Context<'_, '_>,
) -> anyhow::Result<(KeyRecord, Option<Mnemonic>)> {
    if !args.multisig.is_empty() {
        return Ok((KeyRecord::multi(&args.name, several(args, keyring)?), None));
    }
    if let Some(key) = public_key(args)? {
        return Ok((KeyRecord::offline(&args.name, key), None));
    }
    let path = match &args.hd_path {
        Some(path) => path.clone(),
        None => HdPath::bip44(args.coin_type, args.account, args.index)
            .context("--coin-type, --account or --index")?,
    };
    let words = if args.recover { known_mnemonic(args, context)? } else { new_mnemonic()? };
    let key = words.derive("", &path)?;
    Ok((KeyRecord::local(&args.name, &key), Some(words)))
}

fn new_mnemonic() -> anyhow::Result<Mnemonic> {
    Ok(Mnemonic::generate(&*random::<32>()?)?)
}

fn known_mnemonic(args: &Add, context: &Context<'_, '_>) -> anyhow::Result<Mnemonic> {
    let words = match &args.source {
        Some(path) => {
            let text = std::fs::read_to_string(path);
            Zeroizing::new(text.with_context(|| format!("--source: {}", path.display()))?)
        }
        None => context.streams.console.line("> Enter your bip39 mnemonic\n", "the mnemonic")?,
    };
    Ok(Mnemonic::parse(&words)?)
}

fn several(args: &Add, keyring: &Keyring) -> anyhow::Result<Multisig> {
    let mut keys = Vec::new();
    for (index, name) in args.multisig.iter().enumerate() {
        if args.multisig.iter().take(index).any(|other| other == name) {
            bail!("--multisig names {name:?} twice");
        }
        keys.push(thrice(|| keyring.find(name))?.public_key().clone());
    }
    let count = u32::try_from(keys.len()).unwrap_or(u32::MAX);
    if !(1..=count).contains(&args.multisig_threshold) {
        bail!("--multisig-threshold is {}, expected 1 to {count}", args.multisig_threshold);
    }
    if !args.nosort {
        keys.sort_by_key(AccountKey::address);
    }
    Ok(Multisig { threshold: args.multisig_threshold, keys })
}

/// The JSON in which public keys are shown.
#[derive(Deserialize)]
struct KeyJson {
    #[serde(rename = "@type")]
    kind: String,
    key: String,
}

fn public_key(args: &Add) -> anyhow::Result<Option<AccountKey>> {
    let (flag, text) = match (&args.pubkey, &args.pubkey_base64) {
        (Some(json), _) => {
            let json: KeyJson = serde_json::from_str(json).context("--pubkey is no key in JSON")?;
            if json.kind != "/cosmos.crypto.secp256k1.PubKey" {
                bail!("--pubkey is of type {}; secp256k1 is supported", json.kind);
            }
            ("--pubkey", json.key)
        }
        (None, Some(text)) => ("--pubkey-base64", text.clone()),
        (None, None) => return Ok(None),
    };
    let bytes = STANDARD.decode(text.trim()).with_context(|| format!("{flag} is no base64"))?;
    Ok(Some(PublicKey::from_bytes(&bytes).context(flag)?.into()))
}

fn print(
    document: Document,
    words: Option<&Mnemonic>,
    context: &mut Context<'_, '_>,
) -> anyhow::Result<()> {
    let format = context.format();
    let document = match (document, words, format) {
        (Document::Map(mut entries), Some(words), KeyFormat::Json) => {
            entries.push(("mnemonic".to_owned(), Document::text(words.phrase())));
            Document::Map(entries)
        }
        (document, ..) => document,
    };
    context.streams.print(&render(vec![document], false, format))?;
    if let (Some(words), KeyFormat::Text) = (words, format) {
        context.streams.tell(&format!(
            "\n**Important** Write these words down and keep them safe: without them the key is lost \
             when\nthis machine is, and whoever reads them has the key.\n\n{}\n",
            words.phrase()
        ));
    }
    Ok(())
}
