//! What a changed configuration changes while running, and what has to wait for a restart.

use std::fmt;

use provider_engine::manifest::ManifestSettings;
use provider_engine::order::pricing::Pricing;
use provider_engine::{Settings, escrow};

use super::bidding::PriceScript;
use super::cluster::{Cluster, IngressMode, Simulated};
use super::gateway::Certificate;
use super::setting::Change;
use super::table::settings;
use super::{Config, reader};
use crate::log::Levels;

/// What is taken over at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reload {
    /// What decisions depend on: new where it can change, old where it cannot.
    pub settings: Settings,
    /// The program that is asked for prices.
    pub script: Option<PriceScript>,
    pub levels: Levels,
    /// Names of the settings that changed, `attributes` for those of provider.yaml.
    pub changed: Vec<&'static str>,
}

/// A setting that was changed and holds only after a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedsRestart {
    pub setting: &'static str,
    /// What it is, and what it would be; not where it is secret.
    pub values: Option<(String, String)>,
}

/// What differs between the configuration that runs and another one.
pub fn changes(old: &Config, new: &Config) -> (Reload, Vec<NeedsRestart>) {
    let mut changed = Vec::new();
    let mut waiting = Vec::new();
    let text = |config: &Config, name| config.effective.text(name).to_owned();
    for setting in settings() {
        let (was, is) = (text(old, setting.name), text(new, setting.name));
        if was == is {
            continue;
        }
        match setting.change {
            Change::Reload => changed.push(setting.name),
            Change::Restart => waiting.push(NeedsRestart {
                setting: setting.name,
                values: (!setting.secret).then_some((was, is)),
            }),
        }
    }
    if old.engine.attributes != new.engine.attributes {
        changed.push("attributes");
    }
    let reload = Reload {
        settings: merged(&old.engine, &new.engine),
        script: new.script.clone(),
        levels: new.log.levels.clone(),
        changed,
    };
    (reload, waiting)
}

impl Config {
    /// What runs after a reload: this, with what of `new` can change while running. What needs a
    /// restart is still told apart at the next reload.
    pub fn reloaded(&self, new: &Self) -> Self {
        let mut effective = self.effective.clone();
        for setting in settings().filter(|setting| setting.change == Change::Reload) {
            if let Some(value) = new.effective.0.get(setting.name) {
                effective.0.insert(setting.name, value.clone());
            }
        }
        let mut running = self.clone();
        running.engine = merged(&self.engine, &new.engine);
        running.script = new.script.clone();
        running.log.levels = new.log.levels.clone();
        Self { effective, ..running }
    }
}

/// The new settings, except for what other parts of the program were started with.
fn merged(old: &Settings, new: &Settings) -> Settings {
    Settings {
        provider: old.provider,
        bid_fee: old.bid_fee.clone(),
        commit: old.commit,
        seed: old.seed,
        escrow: escrow::Settings {
            provider: old.escrow.provider,
            fee: old.escrow.fee.clone(),
            fee_reserve: old.escrow.fee_reserve,
            ..new.escrow.clone()
        },
        manifest: ManifestSettings {
            generated_under: old.manifest.generated_under.clone(),
            ..new.manifest.clone()
        },
        ..new.clone()
    }
}

impl fmt::Display for NeedsRestart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.values {
            Some((was, is)) => {
                write!(f, "{} stays {was:?} until a restart, then {is:?}", self.setting)
            }
            None => write!(f, "{} stays what it is until a restart", self.setting),
        }
    }
}

impl Config {
    /// What would run: pairs of what, and how.
    pub fn summary(&self) -> Vec<(&'static str, String)> {
        let settings = &self.engine;
        let never =
            |span: Option<std::time::Duration>| span.map_or("never".to_owned(), reader::show);
        let signer = match self.chain.lane.uses_authz() {
            true => format!("{}, acting for the provider by authz", self.chain.lane.account),
            false => self.chain.lane.account.to_string(),
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
