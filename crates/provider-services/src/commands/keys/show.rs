//! `keys list` and `keys show`.

use akash_json as proto_json;
use akash_keys::keyring::{KeyRecord, Keyring, KeyringError};
use akash_keys::{AccountKey, Multisig};
use anyhow::{Context as _, bail};
use bech32::{Bech32, Hrp};
use clap::{Args, ValueEnum};

use super::{Context, KeyFormat};
use crate::chain::thrice;
use crate::output::Document;

const LIST_HELP: &str = "\
Examples:
  provider-services keys list
  provider-services keys list -n
  provider-services keys list -o json";

const SHOW_HELP: &str = "\
Several keys are shown as the account for which --multisig-threshold of them must sign.

Examples:
  provider-services keys show provider
  provider-services keys show provider -a
  provider-services keys show provider --bech val -a";

/// Arguments of `keys list`.
#[derive(Debug, Args)]
#[command(after_help = LIST_HELP)]
pub(super) struct List {
    /// Names only
    #[arg(short = 'n', long)]
    list_names: bool,
}

/// Arguments of `keys show`.
#[derive(Debug, Args)]
#[command(after_help = SHOW_HELP)]
pub(super) struct Show {
    /// Names or addresses of keys
    #[arg(required = true, value_name = "NAME")]
    keys: Vec<String>,
    /// Print the address only
    #[arg(short, long, conflicts_with = "pubkey")]
    address: bool,
    /// Print the public key only
    #[arg(short, long)]
    pubkey: bool,
    /// In which role addresses are written
    #[arg(long, value_name = "ROLE", default_value = "acc")]
    bech: Role,
    /// How many keys must sign, when several are named
    #[arg(long, value_name = "N", default_value_t = 1)]
    multisig_threshold: u32,
}

pub(super) fn list(args: &List, context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let keyring = context.keyring()?;
    if args.list_names {
        let names: String = keyring.names()?.iter().map(|name| format!("{name}\n")).collect();
        return Ok(context.streams.print(&names)?);
    }
    // Asked for here, so that a wrong passphrase can be typed again.
    if let Some(name) = keyring.names()?.first()
        && let Err(error @ (KeyringError::WrongPassphrase | KeyringError::NoPassphrase(_))) =
            thrice(|| keyring.get(name))
    {
        return Err(error.into());
    }
    let keys = keyring.list()?;
    for (name, error) in &keys.unreadable {
        context.streams.tell(&format!("key {name:?} cannot be read: {error}\n"));
    }
    let format = context.format();
    if keys.records.is_empty() && format == KeyFormat::Text {
        context.streams.tell("No records were found in keyring\n");
        return Ok(());
    }
    let documents = keys.records.iter().map(|record| document_in(record, Role::Acc)).collect();
    Ok(context.streams.print(&render(documents, true, format))?)
}

pub(super) fn show(args: &Show, context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let keyring = context.keyring()?;
    if context.keys.output.is_some() && (args.address || args.pubkey) {
        bail!("--output cannot be used with --address or --pubkey: those print one line");
    }
    let record = match args.keys.as_slice() {
        [one] => find(one, &keyring)?,
        several => together(several, args.multisig_threshold, &keyring)?,
    };
    let text = if args.address {
        address(&record, args.bech) + "\n"
    } else if args.pubkey {
        public_key(&record) + "\n"
    } else {
        render(vec![document_in(&record, args.bech)], false, context.format())
    };
    Ok(context.streams.print(&text)?)
}

fn find(key: &str, keyring: &Keyring) -> anyhow::Result<KeyRecord> {
    thrice(|| keyring.find(key)).with_context(|| format!("{key} is not a valid name or address"))
}

fn together(keys: &[String], threshold: u32, keyring: &Keyring) -> anyhow::Result<KeyRecord> {
    let found: anyhow::Result<Vec<KeyRecord>> = keys.iter().map(|key| find(key, keyring)).collect();
    let keys: Vec<AccountKey> = found?.iter().map(|record| record.public_key().clone()).collect();
    let count = u32::try_from(keys.len()).unwrap_or(u32::MAX);
    if !(1..=count).contains(&threshold) {
        bail!("--multisig-threshold is {threshold}, expected 1 to {count}");
    }
    Ok(KeyRecord::multi("multi", Multisig { threshold, keys }))
}

/// In whose role an address is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Role {
    /// An account
    #[default]
    Acc,
    /// The operator of a validator
    Val,
    /// The node of a validator
    Cons,
}

impl Role {
    pub(super) const ALL: [Self; 3] = [Self::Acc, Self::Val, Self::Cons];

    const fn prefix(self) -> &'static str {
        match self {
            Self::Acc => "akash",
            Self::Val => "akashvaloper",
            Self::Cons => "akashvalcons",
        }
    }

    /// Bytes of an address as text; `None` for more bytes than an address can have.
    pub(super) fn address(self, bytes: &[u8]) -> Option<String> {
        let prefix = Hrp::parse(self.prefix()).ok()?;
        bech32::encode::<Bech32>(prefix, bytes).ok()
    }
}

/// The address of a key in a role; empty for keys whose address is not known.
pub(super) fn address(record: &KeyRecord, role: Role) -> String {
    let address = record.address();
    address.and_then(|address| role.address(address.as_bytes())).unwrap_or_default()
}

pub(super) fn public_key(record: &KeyRecord) -> String {
    proto_json::any(&record.public_key().to_any()).to_json()
}

/// A key as a document, as the Go program prints it.
pub(super) fn document_in(record: &KeyRecord, role: Role) -> Document {
    Document::map([
        ("name", Document::text(record.name())),
        ("type", Document::text(record.kind().to_string())),
        ("address", Document::text(address(record, role))),
        ("pubkey", Document::text(public_key(record))),
    ])
}

/// Keys as they are printed: JSON of the keys, or YAML of a list of them.
pub(super) fn render(documents: Vec<Document>, as_list: bool, format: KeyFormat) -> String {
    match format {
        KeyFormat::Text => Document::List(documents).to_yaml(),
        KeyFormat::Json if as_list => Document::List(documents).to_json() + "\n",
        KeyFormat::Json => documents.iter().map(|document| document.to_json() + "\n").collect(),
    }
}
