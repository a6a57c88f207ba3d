//! What would run, in a few lines for people.

use provider_engine::bidding::pricing::Pricing;

use super::cluster::{Cluster, IngressMode, Simulated};
use super::gateway::Certificate;
use super::{Config, span};

impl Config {
    /// What would run: pairs of what, and how.
    pub fn summary(&self) -> Vec<(&'static str, String)> {
        let settings = &self.engine;
        let never = |span: Option<std::time::Duration>| span.map_or("never".to_owned(), span::show);
        let signer = match self.chain.lane.uses_authz() {
            true => format!("{}, acting for the provider by authz", self.signer),
            false => self.signer.to_string(),
        };
        let nodes = self.chain.nodes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let pricing = match (&settings.pricing, &self.script) {
            (Pricing::Scale(_), _) => "by scale".to_owned(),
            (Pricing::RandomRange, _) => "by chance".to_owned(),
            (Pricing::Script, Some(script)) => format!("by {}", script.path.display()),
            (Pricing::Script, None) => "by a program".to_owned(),
        };
        let bids = format!(
            "{pricing}, deposit {}, closed after {}",
            settings.bid_deposit,
            never(settings.bid_timeout)
        );
        let gateway = &self.gateway;
        let certificate = match &gateway.certificate {
            None => "the provider's own".to_owned(),
            Some(Certificate::Files { certificate, .. }) => certificate.display().to_string(),
            Some(Certificate::Issuer(issuer)) => format!("by ACME for {}", issuer.domain),
        };
        let metrics = self.metrics.map_or("nowhere".to_owned(), |address| address.to_string());
        let bus = if self.bus.is_some() { "through Redis" } else { "in this process" };
        vec![
            ("provider", self.provider.to_string()),
            ("signer", signer),
            ("chain", format!("{} at {nodes}", self.chain.chain_id)),
            ("cluster", self.cluster_words()),
            ("bids", bids),
            ("names", self.ingress_words()),
            ("gateway", format!("REST {}, gRPC {}", gateway.rest, gateway.grpc)),
            ("certificate", certificate),
            ("metrics", metrics),
            ("facts", bus.to_owned()),
            ("store", self.store.display().to_string()),
            ("socket", self.ctl_socket.display().to_string()),
        ]
    }

    fn cluster_words(&self) -> String {
        match &self.cluster {
            Cluster::Simulated(Simulated::Inside(state)) => {
                format!("SIMULATED in this process, state in {}", state.display())
            }
            Cluster::Simulated(Simulated::At(address)) => format!("SIMULATED at {address}"),
            Cluster::Kubernetes => {
                format!("kubernetes, by {}", self.kubernetes.kubeconfig.display())
            }
            Cluster::Swarm => "swarm".to_owned(),
        }
    }

    fn ingress_words(&self) -> String {
        let mode = match &self.ingress.mode {
            IngressMode::Ingress => "ingress".to_owned(),
            IngressMode::GatewayApi { name, .. } => format!("gateway {name}"),
        };
        match &self.ingress.generated_under {
            Some(domain) => format!("*.{domain} by {mode}"),
            None => format!("only what tenants bring, by {mode}"),
        }
    }
}
