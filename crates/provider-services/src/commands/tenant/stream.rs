//! Logs and events of the leases of a deployment, as they come.

use std::process::ExitCode;

use akash_types::LeaseId;
use anyhow::bail;
use clap::{Args, ValueEnum};
use provider_api::client::{Client, ClientError, Frames, StreamEnd};
use provider_api::json::to_pretty;
use provider_api::query::StreamParams;
use provider_api::stream::{CloseCode, EventFrame, LogFrame};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use super::args::{LeaseOf, ProviderFlags};
use super::asker::Tenant;
use super::refusal::hint;
use super::status::LeaseIdDocument;
use crate::console::Streams;
use crate::output::printable;
use crate::surroundings::Surroundings;

pub(super) const EVENTS_HELP: &str = "\
Examples:
  provider-services lease-events --dseq 101 --from tenant
  provider-services lease-events --dseq 101 --from tenant --service web --follow";

pub(super) const LOGS_HELP: &str = "\
Examples:
  provider-services lease-logs --dseq 101 --from tenant
  provider-services lease-logs --dseq 101 --from tenant --service web --tail 100 --follow";

/// How many texts may wait to be printed; who writes more waits.
const WAITING: usize = 64;

/// Which part is asked for.
#[derive(Debug, Args)]
struct Part {
    /// Only of this service; several with commas between
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    service: String,
    /// Go on with what comes
    #[arg(short, long)]
    follow: bool,
    /// At most so many of each replica; -1 is all
    #[arg(
        short,
        long,
        value_name = "N",
        default_value_t = -1,
        value_parser = clap::value_parser!(i32).range(-1..),
        allow_negative_numbers = true
    )]
    tail: i32,
}

/// Arguments of `lease-events`.
#[derive(Debug, Args)]
pub(crate) struct EventsArgs {
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    lease: LeaseOf,
    #[command(flatten)]
    provider: ProviderFlags,
}

/// Arguments of `lease-logs`.
#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    lease: LeaseOf,
    #[command(flatten)]
    provider: ProviderFlags,
    /// Format of the lines
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl Part {
    fn params(&self) -> StreamParams {
        let services = self.service.split(',').map(str::trim).filter(|name| !name.is_empty());
        StreamParams {
            services: services.map(str::to_owned).collect(),
            follow: self.follow,
            tail: u64::try_from(self.tail).ok(),
        }
    }
}

pub(super) async fn events(
    args: &EventsArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let (from, to) = mpsc::channel(WAITING);
    let opened = open(&args.lease, &args.provider, surroundings, streams).await?;
    for (lease, client) in opened {
        let (params, from) = (args.part.params(), from.clone());
        tokio::spawn(async move {
            let frames = client.events(lease, &params).await;
            pass(lease, frames, from, |frame: EventFrame| event(lease, &frame)).await;
        });
    }
    drop(from);
    print(to, streams).await
}

pub(super) async fn logs(
    args: &LogsArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let (from, to) = mpsc::channel(WAITING);
    let opened = open(&args.lease, &args.provider, surroundings, streams).await?;
    for (lease, client) in opened {
        let (params, from, format) = (args.part.params(), from.clone(), args.output);
        tokio::spawn(async move {
            let frames = client.logs(lease, &params).await;
            pass(lease, frames, from, |frame: LogFrame| line(lease, &frame, format)).await;
        });
    }
    drop(from);
    print(to, streams).await
}

async fn open(
    lease: &LeaseOf,
    provider: &ProviderFlags,
    surroundings: &Surroundings,
    streams: &Streams<'_>,
) -> anyhow::Result<Vec<(LeaseId, Client)>> {
    let tenant = Tenant::open(&lease.deployment, provider, surroundings, streams.console)?;
    let mut opened = Vec::new();
    for lease in tenant.leases(lease).await? {
        opened.push((lease, tenant.client(lease.provider()).await?));
    }
    Ok(opened)
}

/// What a stream brings.
enum Brought {
    /// Something to print.
    Text(String),
    /// It ended for a reason that somebody may want to know.
    Ended(LeaseId, String),
    /// It could not be opened, or broke.
    Failed(LeaseId, ClientError),
}

/// Passes on what a stream brings, until it ends or nobody listens.
async fn pass<T: DeserializeOwned>(
    lease: LeaseId,
    opened: Result<Frames<T>, ClientError>,
    to: mpsc::Sender<Brought>,
    text: impl Fn(T) -> String,
) {
    let passing = async {
        let mut frames = opened?;
        while let Some(frame) = frames.next().await? {
            if to.send(Brought::Text(text(frame))).await.is_err() {
                return Ok(());
            }
        }
        if let Some(why) = frames.end().and_then(reason) {
            let _ = to.send(Brought::Ended(lease, why)).await;
        }
        Ok(())
    };
    if let Err(error) = passing.await {
        let _ = to.send(Brought::Failed(lease, error)).await;
    }
}

/// Why a stream ended, unless there simply was no more.
fn reason(end: &StreamEnd) -> Option<String> {
    let words = match end.code {
        None | Some(CloseCode::Done) => return None,
        Some(CloseCode::Failed) => "something went wrong",
        Some(CloseCode::NotFound) => {
            "the provider knows no such lease, or nothing of it runs yet; check --dseq, --gseq, \
             --oseq and --provider"
        }
        Some(CloseCode::Unavailable) => "the provider's cluster does not answer; try again",
        Some(CloseCode::LeaseClosed) => "the lease ended",
        Some(CloseCode::Stopping) => "the provider stops; connect again",
    };
    Some(match printable(&end.reason) {
        reason if reason.is_empty() => words.to_owned(),
        reason => format!("{words} ({reason})"),
    })
}

/// Prints what the streams bring. One that ends or fails does not disturb the others; that all
/// fail is an error.
async fn print(
    mut to: mpsc::Receiver<Brought>,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let (mut went_well, mut failed) = (false, false);
    while let Some(brought) = to.recv().await {
        match brought {
            Brought::Text(text) => {
                went_well = true;
                streams.print(&text)?;
            }
            Brought::Ended(lease, why) => {
                went_well = true;
                streams.tell(&format!("{lease}: {why}\n"));
            }
            Brought::Failed(lease, error) => {
                failed = true;
                let hint = hint(&error).map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                let error = printable(&format!("{:#}", anyhow::Error::new(error)));
                streams.tell(&format!("{lease}: {error}{hint}\n"));
            }
        }
    }
    if failed && !went_well {
        bail!("no stream could be opened");
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Event<'a> {
    #[serde(flatten)]
    frame: &'a EventFrame,
    lease_id: LeaseIdDocument,
}

fn event(lease: LeaseId, frame: &EventFrame) -> String {
    to_pretty(&Event { frame, lease_id: lease.into() }).unwrap_or_default() + "\n"
}

#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    message: &'a str,
    lease_id: LeaseIdDocument,
}

fn line(lease: LeaseId, frame: &LogFrame, format: LogFormat) -> String {
    let LogFrame { name, message, .. } = frame;
    match format {
        // Not made harmless: who reads their own logs wants their colours.
        LogFormat::Text => format!("[{lease}][{name}] {message}\n"),
        LogFormat::Json => {
            to_pretty(&Line { name, message, lease_id: lease.into() }).unwrap_or_default() + "\n"
        }
    }
}
