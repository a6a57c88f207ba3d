//! `tx audit`: attributes of providers that an auditor vouches for.

use akash_chain::tx::Message;
use akash_chain::tx::message::audit::{delete_attributes, sign_attributes};
use akash_types::{Address, Attribute};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use super::session::Session;

const HELP: &str = "\
Examples:
  provider-services tx audit attr create akash1… region us-west --from auditor
  provider-services tx audit attr delete akash1… region --from auditor";

#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Audit {
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Attributes of a provider
    #[command(
        subcommand,
        after_help = HELP,
        subcommand_required = true,
        arg_required_else_help = true
    )]
    Attr(AttrCommand),
}

#[derive(Debug, Subcommand)]
enum AttrCommand {
    /// Vouch for attributes; without any, for all that the provider names
    #[command(after_help = HELP)]
    Create {
        /// Account of the provider
        provider: Address,
        /// Keys and values in turn
        #[arg(value_name = "KEY VALUE")]
        attributes: Vec<String>,
    },
    /// Vouch no longer; without keys, for nothing at all
    #[command(after_help = HELP)]
    Delete {
        /// Account of the provider
        provider: Address,
        /// Keys
        #[arg(value_name = "KEY")]
        keys: Vec<String>,
    },
}

impl Audit {
    pub(super) async fn message(&self, session: &Session<'_>) -> anyhow::Result<Message> {
        let AuditCommand::Attr(command) = &self.command;
        match command {
            AttrCommand::Create { provider, attributes } => {
                let mut attributes = match attributes.is_empty() {
                    false => pairs(attributes)?,
                    true => named_by(*provider, session).await?,
                };
                attributes.sort_by(|a, b| a.key.cmp(&b.key));
                Ok(sign_attributes(*provider, session.from(), attributes)?)
            }
            AttrCommand::Delete { provider, keys } => {
                let mut sorted = keys.clone();
                sorted.sort();
                sorted.dedup();
                if sorted.len() != keys.len() {
                    bail!("a key is given twice");
                }
                Ok(delete_attributes(*provider, session.from(), sorted))
            }
        }
    }
}

fn pairs(words: &[String]) -> anyhow::Result<Vec<Attribute>> {
    words
        .chunks(2)
        .map(|pair| match pair {
            [key, value] => Ok(Attribute::new(key, value)),
            _ => bail!("attributes must be given as pairs: a value is missing"),
        })
        .collect()
}

async fn named_by(provider: Address, session: &Session<'_>) -> anyhow::Result<Vec<Attribute>> {
    let network = session.network("name the attributes")?;
    let found = network.query().provider(provider).await?.value;
    let attributes = found.with_context(|| format!("there is no provider {provider}"))?.attributes;
    if attributes.is_empty() {
        bail!("provider {provider} names no attributes");
    }
    Ok(attributes)
}
