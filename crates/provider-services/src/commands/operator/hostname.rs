//! `operator hostname`: the hostname operator by itself.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use akash_net::Outbound;
use akash_types::hostname::BlockedHostnames;
use anyhow::Context;
use clap::{Args, ValueEnum, ValueHint};
use kube_access::election::{LeaseParams, lead, release};
use kube_access::{Access, KubeClient};
use provider_daemon::config::read_span;
use provider_daemon::log;
use provider_daemon::metrics::{Format, Metrics, ProcessStats, Snapshot};
use provider_operators::Listener;
use provider_operators::hostname::rest::{self, Page, Rest};
use provider_operators::hostname::rpc::{self, Rpc};
use provider_operators::hostname::{HostnameOperator, Routes, Settings};

use crate::app::{block_on_threads, stop_signal};
use crate::commands::version;
use crate::console::Streams;
use crate::surroundings::Surroundings;

pub(super) const HELP: &str = "\
It answers at --rest-address and --rest-port: /health, /version, /managed-hostnames, /ignore-list and
/metrics; at --grpc-port the gRPC health service, for the names hostname and hostname/HOST.

Examples:
  provider-services operator hostname
  provider-services operator hostname --ingress-mode gateway-api --gateway-name akash-gateway
  curl http://localhost:8080/managed-hostnames";

/// How long a call of the API server may take.
const LIMIT: Duration = Duration::from_secs(10);

const UNUSED: &str = "Accepted, without effect";

/// Arguments of `operator hostname`.
#[derive(Debug, Args)]
pub(super) struct HostnameArgs {
    /// How to reach Kubernetes; without such a file as a pod does [default: $HOME/.kube/config]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    kubeconfig: Option<PathBuf>,
    /// Namespace of the Akash custom resources
    #[arg(long, value_name = "NAMESPACE", default_value = "lease")]
    k8s_manifest_ns: String,
    /// How names lead to services
    #[arg(long, value_name = "MODE", default_value = "ingress")]
    ingress_mode: Mode,
    /// Class of Ingress objects, which says what serves them
    #[arg(long, value_name = "NAME", default_value = "akash-ingress-class")]
    ingress_class: String,
    /// Gateway of gateway-api
    #[arg(long, value_name = "NAME", default_value = "akash-gateway")]
    gateway_name: String,
    /// Namespace of that gateway
    #[arg(long, value_name = "NAMESPACE", default_value = "akash-gateway")]
    gateway_namespace: String,
    /// Accepted, without effect: the controller of the Gateway's class says what implements it
    #[arg(long, value_name = "NAME", default_value = "nginx", value_parser = ["nginx"])]
    gateway_provider: String,
    /// Buffer for an answer's headers: an annotation of routes with gateway-api, where it cannot be
    /// told what implements the gateway
    #[arg(long, value_name = "SIZE", default_value = "16k")]
    proxy_buffer_size: String,
    /// Names that are not served; .example.com is a whole domain
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    deployment_blocked_hostnames: Vec<String>,
    /// Name at which tenants reach the provider; claims of it are listed at /ignore-list
    #[arg(long, value_name = "HOST")]
    cluster_public_hostname: Option<String>,
    /// Domain of generated names; claims of the domain itself are listed at /ignore-list
    #[arg(long, value_name = "DOMAIN")]
    deployment_ingress_domain: Option<String>,
    /// How long a host that failed waits for its next try, at first
    #[arg(long, value_name = "SPAN", default_value = "3s", value_parser = read_span)]
    retry_delay: Duration,
    /// Work only while no other replica does, by a Lease in the namespace of custom resources
    #[arg(long)]
    leader_elect: bool,
    /// Name by which a replica is told from others
    #[arg(long, value_name = "NAME", default_value = "operator-hostname")]
    pod_name: String,
    /// Where it answers
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0")]
    rest_address: IpAddr,
    /// At which port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8080)]
    rest_port: u16,
    /// How often what it answers is made anew, at most
    #[arg(long, value_name = "SPAN", default_value = "5s", value_parser = read_span)]
    web_refresh_interval: Duration,
    /// At which port it answers gRPC; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 8081)]
    grpc_port: u16,
    #[arg(long, value_name = "SPAN", default_value = "10m", value_parser = read_span, hide_short_help = true, help = UNUSED)]
    prune_interval: Duration,
    #[arg(long, value_name = "N", default_value_t = 131_072, hide_short_help = true, help = UNUSED)]
    ignore_list_entry_limit: u64,
    #[arg(long, value_name = "SPAN", default_value = "726h", value_parser = read_span, hide_short_help = true, help = UNUSED)]
    ignore_list_age_limit: Duration,
    #[arg(long, value_name = "N", default_value_t = 3, hide_short_help = true, help = UNUSED)]
    event_failure_limit: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    Ingress,
    GatewayApi,
}

pub(super) fn run(
    args: &HostnameArgs,
    surroundings: &Surroundings,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    log::start(&surroundings.log()?)?;
    let default = || surroundings.user_home().map(|home| home.join(".kube/config"));
    let kubeconfig = args.kubeconfig.clone().or_else(default).unwrap_or_default();
    block_on_threads(serve(args, kubeconfig, surroundings.outbound()?, streams))
}

async fn serve(
    args: &HostnameArgs,
    kubeconfig: PathBuf,
    outbound: &Outbound,
    streams: &mut Streams<'_>,
) -> anyhow::Result<ExitCode> {
    let stop = stop_signal()?;
    let access = Access::find(&kubeconfig, outbound).await?;
    let metrics = Arc::new(Metrics::new());
    let counting = Arc::clone(&metrics);
    let count = move |action: &str, is_well: bool| counting.kube_call(action, is_well);
    let client = KubeClient::new(access.client()?, LIMIT, Arc::new(count));
    let operator = HostnameOperator::new(client.clone(), settings(args));
    let page = page(metrics, operator.clone());
    let version = version::document()?;
    let rest = Rest::new(operator.clone(), version, args.web_refresh_interval, Some(page));
    let address = SocketAddr::new(args.rest_address, args.rest_port);
    let cannot = || format!("cannot listen at {address}: set --rest-address and --rest-port");
    let rest_listener = Listener::bind(address).await.with_context(cannot)?;
    let bound = rest_listener.local_address().with_context(cannot)?;
    let address = SocketAddr::new(args.rest_address, args.grpc_port);
    let cannot = || format!("cannot listen at {address}: set --rest-address and --grpc-port");
    let rpc_listener = Listener::bind(address).await.with_context(cannot)?;
    let rpc_bound = rpc_listener.local_address().with_context(cannot)?;
    let rpc = Rpc::new(operator.clone())?;
    streams.tell(&format!(
        "hostname operator on {}, answering at {bound}, gRPC at {rpc_bound}\n",
        access.url()
    ));
    let params = params(args);
    let work = async {
        if !args.leader_elect {
            return operator.run().await;
        }
        lead(client.clone(), params.clone(), || operator.run()).await
    };
    tokio::select! {
        never = work => match never {},
        never = rest::serve(rest_listener, rest) => match never {},
        never = rpc::serve(rpc_listener, rpc) => match never {},
        () = stop => {}
    }
    if args.leader_elect {
        release(client, &params).await;
    }
    streams.tell("hostname operator stopped; routes stay as they are\n");
    Ok(ExitCode::SUCCESS)
}

/// What is counted, as Prometheus reads it.
fn page(metrics: Arc<Metrics>, operator: HostnameOperator) -> Page {
    Arc::new(move || {
        let (figures, process) = (operator.figures(), ProcessStats::read());
        let snapshot =
            Snapshot { hostnames: Some(&figures), process: Some(&process), ..Snapshot::default() };
        let format = Format::default();
        (format.content_type(), metrics.render_part(&snapshot, format))
    })
}

fn params(args: &HostnameArgs) -> LeaseParams {
    // A pod that is started again is another claimant: what it did before is over.
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    LeaseParams {
        namespace: args.k8s_manifest_ns.clone(),
        lease: "akash-operator-hostname".to_owned(),
        claimant: format!("{}-{}-{started}", args.pod_name, std::process::id()),
    }
}

fn settings(args: &HostnameArgs) -> Settings {
    let routes = match args.ingress_mode {
        Mode::Ingress => Routes::Ingress { class: args.ingress_class.clone() },
        Mode::GatewayApi => Routes::Gateway {
            name: args.gateway_name.clone(),
            namespace: args.gateway_namespace.clone(),
            buffer_size: args.proxy_buffer_size.clone(),
        },
    };
    let own = args.cluster_public_hostname.iter().chain(&args.deployment_ingress_domain);
    Settings {
        manifest_namespace: args.k8s_manifest_ns.clone(),
        routes,
        blocked: BlockedHostnames::new(&args.deployment_blocked_hostnames).reserving(own),
        retry_delay: args.retry_delay,
        ..Settings::default()
    }
}

#[cfg(test)]
mod tests {
    use akash_types::hostname::BlockedBy;
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        args: HostnameArgs,
    }

    fn parsed(args: &[&str]) -> Settings {
        let args = ["program"].iter().chain(args);
        settings(&Program::try_parse_from(args).map_err(|it| it.to_string()).unwrap().args)
    }

    #[test]
    fn flags_become_settings_and_defaults_are_those_of_the_go_operator() {
        assert_eq!(parsed(&[]), Settings::default());
        let given = parsed(&["--ingress-mode", "gateway-api", "--retry-delay", "1m30s"]);
        let name = || "akash-gateway".to_owned();
        let routes =
            Routes::Gateway { name: name(), namespace: name(), buffer_size: "16k".to_owned() };
        assert_eq!(given.routes, routes);
        assert_eq!(given.retry_delay, Duration::from_secs(90));
        let own = ["--cluster-public-hostname", "provider.example.com"];
        let domain = ["--deployment-ingress-domain", "Ingress.example.com"];
        let blocked = parsed(&[own, domain].concat()).blocked;
        for name in ["provider.example.com", "ingress.example.com", "localhost"] {
            assert_eq!(blocked.blocks(name), Some(BlockedBy::Reserved), "{name}");
        }
        assert_eq!(blocked.blocks("web.ingress.example.com"), None);
    }
}
