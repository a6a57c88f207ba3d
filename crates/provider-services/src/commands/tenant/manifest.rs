//! Sending a manifest, and reading it back.

use std::collections::BTreeSet;
use std::process::ExitCode;

use akash_sdl::Manifest;
use akash_types::Address;
use anyhow::bail;
use clap::{Args, ValueEnum};
use provider_api::client::ClientError;

use super::args::{LeaseOf, ProviderFlags};
use super::asker::Tenant;
use super::refusal::{body, hint, refused};
use crate::cli::{ManifestFormat, SdlFile};
use crate::commands::sdl::read_hashable;
use crate::console::Streams;
use crate::output::Sent;
use crate::surroundings::Surroundings;

pub(super) const SEND_HELP: &str = "\
Examples:
  provider-services send-manifest deploy.yaml --dseq 101 --from tenant
  provider-services send-manifest deploy.yaml --dseq 101 --from tenant --output json";

pub(super) const GET_HELP: &str = "\
Examples:
  provider-services get-manifest --dseq 101 --from tenant
  provider-services get-manifest --dseq 101 --provider akash1… --from tenant --output json";

/// Arguments of `send-manifest`.
#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    #[command(flatten)]
    sdl: SdlFile,
    #[command(flatten)]
    lease: LeaseOf,
    #[command(flatten)]
    provider: ProviderFlags,
    /// Format of the result
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: SentFormat,
}

/// Arguments of `get-manifest`.
#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    lease: LeaseOf,
    #[command(flatten)]
    provider: ProviderFlags,
    /// Format of the manifest
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml")]
    output: ManifestFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SentFormat {
    Text,
    Json,
    Yaml,
}

pub(super) async fn send(
    args: &SendArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let sdl = read_hashable(&args.sdl, streams)?;
    let tenant =
        Tenant::open(&args.lease.deployment, &args.provider, surroundings, streams.console)?;
    let leases = tenant.leases(&args.lease).await?;
    let providers: BTreeSet<Address> = leases.iter().map(|lease| lease.provider()).collect();
    let (dseq, manifest) = (args.lease.deployment.dseq, sdl.manifest());
    let mut all = Vec::new();
    for provider in providers {
        let client = tenant.client(provider).await?;
        let failure = client.send_manifest(dseq, manifest).await.err();
        if let Some(hint) = failure.as_ref().and_then(hint) {
            streams.tell(&format!("hint: {hint}\n"));
        }
        all.push(sent(provider, failure));
    }
    streams.print(&match args.output {
        SentFormat::Text => Sent::text(&all),
        SentFormat::Json => Sent::json(&all)?,
        SentFormat::Yaml => Sent::yaml(&all),
    })?;
    if all.iter().any(|sent| sent.error.is_some()) {
        bail!("submit manifest to some providers has been failed");
    }
    Ok(ExitCode::SUCCESS)
}

fn sent(provider: Address, failure: Option<ClientError>) -> Sent {
    let (error, message) = match failure {
        None => (None, None),
        Some(ClientError::Refused { status, message, .. }) => {
            let body = body(status, &message);
            (Some(format!("remote server returned {status}")), Some(body))
        }
        Some(other) => (Some(format!("{:#}", anyhow::Error::new(other))), None),
    };
    let error_message = message.filter(|message| !message.is_empty());
    Sent { provider: provider.to_string(), error, error_message }
}

pub(super) async fn get(
    args: &GetArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let tenant =
        Tenant::open(&args.lease.deployment, &args.provider, surroundings, streams.console)?;
    let lease = tenant.lease(&args.lease).await?;
    let client = tenant.client(lease.provider()).await?;
    let group = client.manifest(lease).await.map_err(|error| refused(error, streams))?;
    let manifest = Manifest { groups: vec![group] };
    streams.print(&match args.output {
        ManifestFormat::Json => manifest.to_json_pretty() + "\n",
        ManifestFormat::Yaml => manifest.to_yaml() + "\n",
    })?;
    Ok(ExitCode::SUCCESS)
}
