//! `keys parse`: an address in its other forms.

use anyhow::bail;
use clap::Args;

use super::show::Role;
use super::{Context, KeyFormat};
use crate::output::Document;

const HELP: &str = "\
Examples:
  provider-services keys parse akash1rhal6a4vawtnwex8nda7u6tueeesllpeagpdq8
  provider-services keys parse 1dfbfd76aceb973764c79b7bee697cce730ffc39 -o json";

/// Arguments of `keys parse`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct Parse {
    /// An address in bech32 or in hexadecimal
    address: String,
}

pub(super) fn run(args: &Parse, context: &mut Context<'_, '_>) -> anyhow::Result<()> {
    let text = args.address.trim();
    let document = match (bech32::decode(text), hex::decode(text)) {
        (Ok((prefix, bytes)), _) => Document::map([
            ("human", Document::text(prefix.to_string())),
            ("bytes", Document::text(hex::encode_upper(bytes))),
        ]),
        (Err(_), Ok(bytes)) if !bytes.is_empty() => {
            let forms = Role::ALL.iter().filter_map(|role| role.address(&bytes));
            Document::map([("formats", Document::List(forms.map(Document::text).collect()))])
        }
        _ => bail!("{text:?} is neither bech32 nor hexadecimal"),
    };
    Ok(context.streams.print(&match context.format() {
        KeyFormat::Text => document.to_yaml(),
        KeyFormat::Json => document.to_json() + "\n",
    })?)
}
