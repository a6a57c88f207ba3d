//! `tx cert`: the certificate by which an account proves who it is.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use akash_chain::tx::Message;
use akash_chain::tx::message::cert::{create_certificate, revoke_certificate};
use akash_keys::certificate::{CertificateKey, CertificateSpec, KeyFile, KeyFilePassword, KeyPair};
use akash_types::CertificateState;
use anyhow::{Context, bail};
use clap::{Args, Subcommand};

use super::session::Session;
use crate::chain::values;
use crate::console::Streams;

const HELP: &str = "\
Examples:
  provider-services tx cert generate server provider.example.com --from provider
  provider-services tx cert publish server --from provider
  provider-services tx cert revoke server --from provider";

const GENERATE_HELP: &str = "\
The certificate and its key go to <home>/<address>.pem, readable only with the account's key.

Examples:
  provider-services tx cert generate server provider.example.com --from provider
  provider-services tx cert generate client --from tenant --overwrite";

const PUBLISH_HELP: &str = "\
Examples:
  provider-services tx cert publish server --from provider
  provider-services tx cert publish client --from tenant -y";

const REVOKE_HELP: &str = "\
Examples:
  provider-services tx cert revoke server --from provider
  provider-services tx cert revoke client --serial 1794768793868880948 --from tenant";

#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Cert {
    #[command(subcommand)]
    command: CertCommand,
}

#[derive(Debug, Subcommand)]
enum CertCommand {
    /// Make a certificate; nothing is sent
    #[command(after_help = GENERATE_HELP, subcommand_required = true, arg_required_else_help = true)]
    Generate(Generate),
    /// Publish the certificate that was made
    #[command(after_help = PUBLISH_HELP)]
    Publish(Publish),
    /// Revoke a certificate
    #[command(after_help = REVOKE_HELP)]
    Revoke(Revoke),
}

/// Arguments of `tx cert generate`.
#[derive(Debug, Args)]
pub(super) struct Generate {
    #[command(subcommand)]
    whose: Whose,
    /// From when it is valid [default: now]
    #[arg(long, global = true, value_name = "TIME", value_parser = values::moment)]
    start_time: Option<SystemTime>,
    /// For how long it is valid
    #[arg(long, global = true, value_name = "SPAN", value_parser = values::span, default_value = "8760h")]
    valid_duration: Duration,
    /// Replace a certificate that is there
    #[arg(long, global = true)]
    overwrite: bool,
}

#[derive(Debug, Subcommand)]
enum Whose {
    /// For a tenant
    #[command(after_help = GENERATE_HELP)]
    Client,
    /// For a provider, reachable by these names
    #[command(after_help = GENERATE_HELP)]
    Server {
        /// Names and IP addresses of the provider
        #[arg(required = true, value_name = "DOMAIN")]
        domains: Vec<String>,
    },
}

#[derive(Debug, Args)]
struct Publish {
    /// Whose it is; the same is done for both
    #[arg(value_name = "KIND", value_parser = ["client", "server"])]
    kind: String,
}

#[derive(Debug, Args)]
struct Revoke {
    /// Whose it is; the same is done for both
    #[arg(value_name = "KIND", value_parser = ["client", "server"])]
    kind: String,
    /// Which certificate [default: the one in the local file]
    #[arg(long, value_name = "N")]
    serial: Option<String>,
}

impl Cert {
    /// The one command here that sends nothing.
    pub(super) const fn generates(&self) -> Option<&Generate> {
        match &self.command {
            CertCommand::Generate(generate) => Some(generate),
            CertCommand::Publish(_) | CertCommand::Revoke(_) => None,
        }
    }

    pub(super) async fn message(&self, session: &Session<'_>) -> anyhow::Result<Message> {
        match &self.command {
            CertCommand::Generate(_) => bail!("nothing to send"),
            CertCommand::Publish(_) => {
                let pair = local(session)?;
                let certificate = pair.certificate();
                let (pem, key) = (certificate.to_pem(), certificate.public_key_pem());
                Ok(create_certificate(session.from(), pem.into_bytes(), key.into_bytes())?)
            }
            CertCommand::Revoke(revoke) => {
                let serial = match &revoke.serial {
                    Some(serial) => serial.clone(),
                    None => local(session)?.certificate().serial().to_owned(),
                };
                check_valid(session, &serial).await?;
                Ok(revoke_certificate(session.from(), &serial).context("--serial")?)
            }
        }
    }
}

/// Makes a certificate and its key, and keeps them.
pub(super) fn generate(
    args: &Generate,
    session: &Session<'_>,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let secret = session.account.secret()?;
    let now = SystemTime::now();
    let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let spec = CertificateSpec {
        owner: session.from(),
        serial: u64::try_from(since_1970.as_nanos()).context("the clock is far in the future")?,
        not_before: args.start_time.unwrap_or(now),
        valid_for: args.valid_duration,
        domains: match &args.whose {
            Whose::Client => Vec::new(),
            Whose::Server { domains } => domains.clone(),
        },
    };
    let pair = KeyPair::generate(&spec, CertificateKey::generate()?)?;
    let file = KeyFile::of(session.surroundings.home()?, &session.from());
    file.write(&pair, &KeyFilePassword::of(&secret), args.overwrite)?;
    streams.tell(&format!("certificate {} is in {}\n", spec.serial, file.path().display()));
    Ok(ExitCode::SUCCESS)
}

fn local(session: &Session<'_>) -> anyhow::Result<KeyPair> {
    let file = KeyFile::of(session.surroundings.home()?, &session.from());
    let password = KeyFilePassword::of(&session.account.secret()?);
    file.read(&password).with_context(|| {
        format!("no certificate of {}: tx cert generate makes one", session.from())
    })
}

async fn check_valid(session: &Session<'_>, serial: &str) -> anyhow::Result<()> {
    let Some(network) = session.node() else { return Ok(()) };
    let query = network.query();
    let found = query.certificate(session.from(), serial, CertificateState::Valid).await?;
    match found.value {
        Some(_) => Ok(()),
        None => bail!("certificate {serial} of {} is not valid on chain", session.from()),
    }
}
