//! `ctl …`: the operator's questions to the provider that runs on this machine.

mod client;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum, ValueHint};
use provider_daemon::ctl::reason_from;
use provider_daemon::ctl::wire::{Request, Response};

use crate::cli::{ReportFormat, SdlFile};
use crate::console::Streams;
use crate::output::{ctl as render, printable};
use crate::source::Source;
use crate::surroundings::Surroundings;

const HELP: &str = "\
The provider listens on a socket in its home directory, and answers the user that runs it and root.

Examples:
  provider-services ctl status
  provider-services ctl why 101
  provider-services ctl leases --output json
  provider-services ctl inventory
  provider-services ctl maintenance on
  provider-services ctl lease close 101 --reason decommission";

const STATUS_HELP: &str = "\
Examples:
  provider-services ctl status
  provider-services ctl status --output json";

const WHY_HELP: &str = "\
Examples:
  provider-services ctl why 101
  provider-services ctl why akash1…/101/1/1
  provider-services ctl why provider";

const LIST_HELP: &str = "\
Examples:
  provider-services ctl drift
  provider-services ctl bids
  provider-services ctl leases --output json";

const INVENTORY_HELP: &str = "\
Examples:
  provider-services ctl inventory
  provider-services ctl inventory --output json | jq '.nodes[] | {name, excluded}'";

const MAINTENANCE_HELP: &str = "\
Examples:
  provider-services ctl maintenance on
  provider-services ctl maintenance off";

const MANIFEST_HELP: &str = "\
Examples:
  provider-services ctl send-manifest 101 deploy.yaml
  provider-services sdl-to-manifest deploy.yaml | provider-services ctl send-manifest 101 -";

const LEASE_HELP: &str = "\
Examples:
  provider-services ctl lease close 101 --reason decommission
  provider-services ctl lease close akash1…/101/1/1/akash1… --reason unstable
  provider-services ctl lease close 101 --lost
  provider-services ctl lease redeploy 101";

const CLUSTER_HELP: &str = "\
Examples:
  provider-services ctl status
  provider-services ctl cluster accept";

const WITHDRAW_HELP: &str = "\
Examples:
  provider-services ctl withdraw --all
  provider-services ctl withdraw --lease 101";

const BREAKER_HELP: &str = "\
Examples:
  provider-services ctl status
  provider-services ctl breaker-reset";

const PROBE_HELP: &str = "\
Examples:
  provider-services ctl probe isolation
  provider-services ctl probe isolation --probe-image registry.example.com/busybox:1.37
  provider-services ctl probe isolation --output json";

/// `ctl` with what holds for all of its commands.
#[derive(Debug, Args)]
#[command(after_help = HELP, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct Ctl {
    /// Socket of the provider [default: provider.sock in --home]
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    socket: Option<PathBuf>,
    /// For people (text) or for programs (json)
    #[arg(short, long, global = true, value_name = "FORMAT", default_value = "text")]
    output: ReportFormat,
    #[command(subcommand)]
    command: CtlCommand,
}

#[derive(Debug, Subcommand)]
enum CtlCommand {
    /// Show how the provider does
    #[command(after_help = STATUS_HELP)]
    Status,
    /// Show what was decided about an order or a lease, and why
    #[command(after_help = WHY_HELP)]
    Why {
        /// Number of a deployment, id of an order or a lease, or provider for the whole
        #[arg(value_name = "SUBJECT")]
        subject: String,
    },
    /// Show where chain, cluster and provider disagree
    #[command(after_help = LIST_HELP)]
    Drift,
    /// Show bids that are open, on their way to the chain, or on their way out
    #[command(after_help = LIST_HELP)]
    Bids,
    /// Show leases
    #[command(after_help = LIST_HELP)]
    Leases,
    /// Show what nodes and storage have, what is left of it, and what is not sold, with the reason
    ///
    /// What is left is what a new order can have: what pods ask for and what is reserved for bids
    /// and leases is taken off.
    #[command(after_help = INVENTORY_HELP)]
    Inventory,
    /// Stop bidding and closing while something is repaired, or go on
    ///
    /// What runs keeps running, and tenants reach it as before.
    #[command(after_help = MAINTENANCE_HELP)]
    Maintenance {
        /// Begin (on) or end (off) it
        state: Switch,
    },
    /// Run a manifest, as if the tenant had sent it
    ///
    /// For a tenant whose manifest was lost. It must be the one whose hash is on chain.
    #[command(after_help = MANIFEST_HELP)]
    SendManifest {
        /// Number of the deployment, or id of a lease of it
        #[arg(value_name = "DEPLOYMENT")]
        subject: String,
        #[command(flatten)]
        file: SdlFile,
    },
    /// Tell the provider that its cluster is the right one
    #[command(
        subcommand,
        after_help = CLUSTER_HELP,
        subcommand_required = true,
        arg_required_else_help = true
    )]
    Cluster(ClusterCommand),
    /// End leases, or deploy them again
    #[command(
        subcommand,
        after_help = LEASE_HELP,
        subcommand_required = true,
        arg_required_else_help = true
    )]
    Lease(LeaseCommand),
    /// Collect earnings now
    #[command(after_help = WITHDRAW_HELP)]
    Withdraw(Withdraw),
    /// Find out by trying whether something holds in the cluster
    #[command(
        subcommand,
        after_help = PROBE_HELP,
        subcommand_required = true,
        arg_required_else_help = true
    )]
    Probe(ProbeCommand),
    /// Let leases be closed although many look bad at once
    #[command(after_help = BREAKER_HELP)]
    BreakerReset,
}

#[derive(Debug, Subcommand)]
enum ClusterCommand {
    /// Accept a cluster that shows nothing of the leases
    ///
    /// The provider stops writing when leases were deployed and the cluster has no object of any.
    /// After this it goes on: leases whose manifest it still has are deployed at once, the tenants of
    /// the others have --lost-manifest-patience to send theirs again, then their leases are closed.
    #[command(after_help = CLUSTER_HELP)]
    Accept,
}

#[derive(Debug, Subcommand)]
enum ProbeCommand {
    /// Try whether a tenant's pod reaches what it must not
    ///
    /// Two pods like those of two tenants, with the network policies of new leases, try to connect to
    /// each other, to the API server, to kubelets and to the metadata address of clouds. Each target
    /// that answers is a finding, and the exit code is 1. The pods are removed afterwards.
    #[command(after_help = PROBE_HELP)]
    Isolation {
        /// Image of the pods, with sh, nc, httpd and timeout [default: --probe-image of the provider]
        #[arg(long, value_name = "IMAGE")]
        probe_image: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
enum LeaseCommand {
    /// End a lease, for a reason that its tenant can read on chain
    #[command(after_help = LEASE_HELP)]
    Close {
        /// Id of the lease, or number of its deployment if it is the only one
        #[arg(value_name = "LEASE")]
        lease: String,
        /// unstable, decommission, unspecified, manifest-timeout, or 10000 to 19999
        #[arg(long, value_name = "REASON", required_unless_present = "lost", value_parser = reason)]
        reason: Option<String>,
        /// Only if the cluster has no object of it; the reason is manifest-timeout
        #[arg(long, conflicts_with = "reason")]
        lost: bool,
    },
    /// Write the Manifest of a lease again, and what should run
    ///
    /// For a lease whose Manifest was deleted. Its pods are replaced.
    #[command(after_help = LEASE_HELP)]
    Redeploy {
        /// Id of the lease, or number of its deployment if it is the only one
        #[arg(value_name = "LEASE")]
        lease: String,
    },
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Withdraw {
    /// Of this lease: its id, or the number of its deployment
    #[arg(long, value_name = "LEASE")]
    lease: Option<String>,
    /// Of all leases
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

fn reason(text: &str) -> Result<String, String> {
    reason_from(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

pub(crate) fn run(
    ctl: &Ctl,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let socket = match &ctl.socket {
        Some(socket) => socket.clone(),
        None => surroundings.home()?.join("provider.sock"),
    };
    let response = client::ask(&socket, &request(&ctl.command, streams)?)?;
    if let Response::Error { message, hint } = &response {
        let hint = hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        bail!("{}", printable(&format!("{message}{hint}")));
    }
    let text = match ctl.output {
        ReportFormat::Json => serde_json::to_string_pretty(&response)? + "\n",
        ReportFormat::Text => render::response(&response, &streams.stdout_palette),
    };
    streams.print(&text)?;
    Ok(match response {
        Response::Isolation { isolated: false, .. } => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    })
}

fn request(command: &CtlCommand, streams: &mut Streams<'_>) -> anyhow::Result<Request> {
    Ok(match command {
        CtlCommand::Status => Request::Status,
        CtlCommand::Why { subject } => Request::Why { subject: subject.clone() },
        CtlCommand::Drift => Request::Drift,
        CtlCommand::Bids => Request::Bids,
        CtlCommand::Leases => Request::Leases,
        CtlCommand::Inventory => Request::Inventory,
        CtlCommand::Maintenance { state } => Request::Maintenance { on: *state == Switch::On },
        CtlCommand::SendManifest { subject, file } => {
            let source = Source::read(&file.path, streams.stdin)?;
            Request::SendManifest { subject: subject.clone(), manifest: source.text }
        }
        CtlCommand::Cluster(ClusterCommand::Accept) => Request::ClusterAccept,
        CtlCommand::Lease(LeaseCommand::Close { lease, reason, .. }) => match reason {
            Some(reason) => Request::LeaseClose { lease: lease.clone(), reason: reason.clone() },
            None => Request::LeaseCloseLost { lease: lease.clone() },
        },
        CtlCommand::Lease(LeaseCommand::Redeploy { lease }) => {
            Request::LeaseRedeploy { lease: lease.clone() }
        }
        CtlCommand::Withdraw(withdraw) => Request::Withdraw { lease: withdraw.lease.clone() },
        CtlCommand::Probe(ProbeCommand::Isolation { probe_image }) => {
            Request::ProbeIsolation { image: probe_image.clone() }
        }
        CtlCommand::BreakerReset => Request::BreakerReset,
    })
}
