//! `sim-cluster`: a simulated cluster in a process of its own.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueHint};
use provider_sim::core::{ClusterSpec, Delays, Settings};
use provider_sim::server::{Server, ServerConfig};

use crate::app::{block_on, stop_signal};
use crate::console::Streams;
use crate::output::{Palette, counted, printable, render_nodes};
use crate::surroundings::Surroundings;

const HELP: &str = "\
Nothing runs in it: images are not pulled, containers do not start. It schedules, starts, fails and
ends workloads as a cluster would, answers logs and shell, and says that it is simulated. Its state
is kept in --state: killed and started again, it has what it had.

Nodes are written [COUNT*]NAME:KEY=VALUE,… and separated by semicolons:
  cpu=16            cores; 500m are half of one
  memory=64Gi       Ki Mi Gi Ti
  disk=500Gi        storage that lives with a workload
  gpu=2*a100/80     cards: [COUNT*][VENDOR/]MODEL[/GIB][/pcie|sxm]
  arch=arm64        architecture of the processors: amd64 or arm64
  storage=beta2:1Ti a class of persistent storage, and how much of it

Words in the name of an image make it misbehave: missing (cannot be pulled), crash, oom, flaky,
slow, long (writes a line of 1 MiB), stuck (will not go), refused.

Examples:
  provider-services sim-cluster
  provider-services sim-cluster --nodes '3*node:cpu=8,memory=32Gi,disk=100Gi'
  provider-services sim-cluster --nodes 'gpu:cpu=32,memory=256Gi,disk=1Ti,gpu=8*h100/80/sxm'
  curl -H 'Host: HOSTNAME-OF-A-LEASE' http://127.0.0.1:8880/";

/// Arguments of `sim-cluster`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct SimClusterArgs {
    /// File that keeps its state [default: sim-cluster.state in --home]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    state: Option<PathBuf>,
    /// Where the provider connects to, on loopback; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7788")]
    listen: SocketAddr,
    /// Where workloads seem to answer, on loopback; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8880")]
    http: SocketAddr,
    /// The machines [default: two nodes, and one with two GPUs]
    #[arg(long, value_name = "SPEC")]
    nodes: Option<ClusterSpec>,
    /// How many addresses can be leased
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    ips: u32,
    /// Domain of the hostnames that services get
    #[arg(long, value_name = "DOMAIN", default_value = "sim.localhost")]
    domain: String,
    /// Ports of the nodes that can lead to services
    #[arg(long, value_name = "FIRST-LAST", default_value = "30000-32767", value_parser = port_range)]
    node_ports: RangeInclusive<u16>,
    /// How many times as fast as a real cluster it starts, fails and ends things
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    speed: u32,
    /// What chance begins with
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(
    args: &SimClusterArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let state = match &args.state {
        Some(state) => state.clone(),
        None => {
            let home = surroundings.home()?;
            std::fs::create_dir_all(home)
                .with_context(|| format!("cannot create {}", home.display()))?;
            home.join("sim-cluster.state")
        }
    };
    block_on(serve(args, &state, streams))
}

/// A range of ports as Kubernetes writes it.
fn port_range(text: &str) -> Result<RangeInclusive<u16>, String> {
    let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0);
    let range = text.split_once('-').and_then(|(first, last)| Some((port(first)?, port(last)?)));
    let range = range.filter(|(first, last)| first <= last).map(|(first, last)| first..=last);
    range.ok_or_else(|| "expected two ports, such as 30000-32767".to_owned())
}

async fn serve(
    args: &SimClusterArgs,
    state: &Path,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let spec = args.nodes.clone().unwrap_or_else(ClusterSpec::small);
    let node_ports = args.node_ports.clone();
    let spec = ClusterSpec { ips: Some(args.ips), node_ports, ..spec };
    let config = ServerConfig {
        state: state.to_owned(),
        listen: args.listen,
        http: args.http,
        spec: spec.clone(),
        settings: Settings {
            delays: Delays::default().faster(args.speed),
            domain: Some(args.domain.clone()),
            ..Settings::default()
        },
        seed: args.seed,
    };
    let stop = stop_signal()?;
    let mut server = Server::start(config).await.context("cannot start the simulated cluster")?;
    streams.print(&guide(&server, &spec, state, &args.domain, &streams.stdout_palette))?;
    tokio::select! {
        ended = server.ended() => ended.context("the simulated cluster ended by itself")?,
        () = stop => {}
    }
    streams.tell("simulated cluster stopped; its state is kept\n");
    Ok(ExitCode::SUCCESS)
}

fn guide(
    server: &Server,
    spec: &ClusterSpec,
    state: &Path,
    domain: &str,
    palette: &Palette,
) -> String {
    let strong = palette.strong;
    let leases = counted(server.leases_restored(), "lease");
    let nodes = render_nodes(&spec.nodes, &spec.storage, palette);
    format!(
        "{strong}SIMULATED cluster is running{strong:#}: nothing really runs in it\n\n{nodes}\n  \
         cluster  {}\n  web      http://{}\n  hosts    *.{}\n  state    {} ({leases})\n\n\
         Ctrl-C stops it; the same command goes on where it was.\n",
        server.address(),
        server.http_address(),
        printable(domain),
        printable(&state.display().to_string()),
    )
}
