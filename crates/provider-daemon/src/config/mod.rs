//! What the operator set, as the rest of the program takes it.
//!
//! ```text
//! flags ─┐
//! environment ─┼─► Given ──► Config::from_given ──► Config, notes   (or every error at once)
//! provider.yaml ─┘                                    │
//!                                     changes(old, new) ──► Reload, what needs a restart
//! ```
//!
//! [`table`] has every setting with its name, default and purpose; a command line is made from it.
//! [`Config::from_given`] is a plain function: nothing here reads a variable or, except for
//! [`missing_files`], a file. Must not know clap.

mod account;
mod bidding;
mod chain;
mod changes;
mod cluster;
mod engine;
mod files;
mod gateway;
mod given;
mod kube;
mod reader;
mod setting;
pub mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use akash_net::{Outbound, OutboundError};
use akash_types::Address;
use provider_bus::Target;
use provider_engine::Settings;

pub use bidding::PriceScript;
pub use chain::Chain;
pub use changes::{NeedsRestart, Reload, changes};
pub use cluster::{
    Cluster, Ingress, IngressMode, Kubernetes, ProbeSettings, SecretName, Simulated,
};
pub use files::missing_files;
pub(crate) use files::read_token;
pub use gateway::{Certificate, Gateway, Issuer};
pub use given::{FileContent, Given, GivenFile, Place, STRAYS, Value};
pub use reader::{ConfigError, Note, read_span};
pub use setting::{Change, Effect, Form, Setting};

use crate::log::LogSettings;
use reader::{Reader, Wrong, because, socket};

/// Everything that is set, validated.
#[derive(Clone, Debug)]
pub struct Config {
    /// Directory of everything that is kept.
    pub home: PathBuf,
    /// Database of height, journal and history.
    pub store: PathBuf,
    pub ctl_socket: PathBuf,
    /// Who we are: the signer, or whom it acts for.
    pub provider: Address,
    pub chain: Chain,
    /// How connections go out.
    pub outbound: Outbound,
    /// What decisions depend on.
    pub engine: Settings,
    /// The program that is asked for prices, if one is.
    pub script: Option<PriceScript>,
    /// What runs the workloads.
    pub cluster: Cluster,
    /// How names lead to them.
    pub ingress: Ingress,
    pub kubernetes: Kubernetes,
    pub gateway: Gateway,
    pub metrics: Option<SocketAddr>,
    /// Redis that carries facts to other processes.
    pub bus: Option<Target>,
    pub log: LogSettings,
    effective: Effective,
}

/// What holds of each setting. Not shown: there are passwords among them.
#[derive(Clone, derive_more::Debug)]
#[debug("{} settings", self.0.len())]
struct Effective(BTreeMap<&'static str, Value>);

impl Effective {
    fn text(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |value| value.text.trim())
    }

    fn place(&self, name: &str) -> Place {
        self.0.get(name).map_or(Place::Default, |value| value.place.clone())
    }
}

impl Config {
    /// Makes sense of what was given.
    pub fn from_given(given: &Given) -> Result<(Self, Vec<Note>), Vec<ConfigError>> {
        let mut reader = Reader::new(given);
        reader.note_unused();
        given::note_strays(&mut reader);
        note_file(&mut reader);
        match read(&mut reader) {
            Some(config) if reader.errors.is_empty() => Ok((config, reader.notes)),
            _ => Err(reader.errors),
        }
    }

    /// Why the provider cannot start with it although it makes sense.
    pub fn startable(&self) -> Result<(), ConfigError> {
        if self.cluster.is_there() {
            return Ok(());
        }
        let kind = self.cluster.name();
        let said = |name: &&str| self.effective.place(name) != Place::Default;
        let setting = ["cluster", "cluster-k8s"].into_iter().find(said).unwrap_or("cluster");
        Err(ConfigError {
            setting: setting.to_owned(),
            place: self.effective.place(setting),
            wrong: format!("{kind} is not there yet"),
            remedy: "give --cluster kubernetes, or simulated to try the provider".to_owned(),
        })
    }
}

fn read(reader: &mut Reader<'_>) -> Option<Config> {
    // Each is read before any is missed, so that every mistake is found.
    let home = home(reader);
    let account = account::read(reader);
    let outbound = outbound(reader);
    let lane = account.as_ref().map(|account| account.lane.clone());
    let chain = chain::read(reader, outbound.as_ref(), lane);
    let pricing = bidding::pricing(reader);
    let policy = bidding::policy(reader, account.as_ref().map(|account| &account.bid_fee));
    let ingress = cluster::ingress(reader);
    let cluster = cluster::read(reader, home.as_deref());
    let gateway = gateway::read(reader, home.as_deref());
    let (pricing, script) = pricing.unzip();
    let domain = ingress.as_ref().and_then(|ingress| ingress.generated_under.clone());
    let is_kubernetes = cluster == Some(Cluster::Kubernetes);
    let engine = engine::read(reader, account.as_ref(), pricing, policy, domain, is_kubernetes);
    let metrics = reader.optional("metrics-listener", socket);
    let redis = because("give redis://HOST:PORT, or leave it out to carry no facts");
    let bus = reader.optional("redis-url", |text| text.parse().map_err(|error| redis(&error)));
    let _ = reader.parsed("persistent-config-backend", |text| match text {
        "bbolt" | "memory" => Ok(()),
        _ => Err(Wrong::new(format!("{text:?} is not a backend"), "give bbolt or memory")),
    });
    let log = log(reader);
    let path = |name: &str, default: &str| {
        reader.some(name).map(PathBuf::from).or_else(|| Some(home.as_deref()?.join(default)))
    };
    let store = path("store-path", "provider-store.redb");
    let ctl_socket = path("ctl-socket", "provider.sock");
    let certificate_secret = cluster::certificate_secret(reader);
    let isolation = cluster::isolation(reader);
    let probe = cluster::probe(reader, is_kubernetes);
    let (home, account) = (home?, account?);
    let kubernetes =
        Kubernetes { certificate_secret, isolation, probe, ..cluster::kubernetes(reader) };
    Some(Config {
        store: store?,
        ctl_socket: ctl_socket?,
        home,
        provider: account.provider,
        chain: chain?,
        outbound: outbound?,
        engine: engine?,
        script: script?,
        cluster: cluster?,
        ingress: ingress?,
        kubernetes,
        gateway: gateway?,
        metrics,
        bus,
        log: log?,
        effective: Effective(reader.effective()),
    })
}

fn home(reader: &mut Reader<'_>) -> Option<PathBuf> {
    let default = || Some(reader.given.user_home.as_ref()?.join(".akash"));
    let home = reader.some("home").map(PathBuf::from).or_else(default);
    if home.is_none() {
        let remedy = "say with --home where keys and certificates are";
        reader.wrong("home", Wrong::new("HOME is not set", remedy));
    }
    home
}

/// What the environment says of proxies and authorities.
fn outbound(reader: &mut Reader<'_>) -> Option<Outbound> {
    let wrong = match &reader.given.outbound {
        Ok(outbound) => return Some(outbound.clone()),
        Err(wrong) => wrong.clone(),
    };
    let (variable, remedy) = match &wrong {
        OutboundError::Proxy(error) => (error.variable, "name a proxy, or unset the variable"),
        OutboundError::Trust(error) => (error.variable, "name certificates, or unset the variable"),
    };
    reader.errors.push(ConfigError {
        setting: variable.to_owned(),
        place: Place::Environment(variable.to_owned()),
        wrong: wrong.to_string(),
        remedy: remedy.to_owned(),
    });
    None
}

fn log(reader: &mut Reader<'_>) -> Option<LogSettings> {
    let levels = reader.parsed("log_level", |text| {
        let remedy = "give debug, info, warn or error, or MODULE:LEVEL,*:LEVEL";
        text.parse().map_err(|error| because(remedy)(&error))
    });
    let format = reader.parsed("log_format", |text| {
        text.parse().map_err(|error| because("give plain or json")(&error))
    });
    let colour = reader.switch("log_color");
    Some(LogSettings { levels: levels?, format: format?, colour })
}

/// Says which keys of provider.yaml mean nothing, and which another place overrides: their values
/// are not even read.
fn note_file(reader: &mut Reader<'_>) {
    let Some(file) = &reader.given.file else { return };
    let Ok(content) = &file.content else { return };
    for (key, value) in &content.settings {
        let place = Place::File { path: file.path.clone(), key: key.clone() };
        let text = match table::setting_of_key(key) {
            Some(setting) if setting.in_file => match reader.given.said(setting.name) {
                Some(said) if said.place != place && said.text.trim() != value.trim() => {
                    format!("not used: {} overrides it", said.place)
                }
                _ => continue,
            },
            Some(_) => "not used: it must be known before this file is read".to_owned(),
            None => "not used: there is no such setting".to_owned(),
        };
        let setting = key.clone();
        reader.notes.push(Note { setting, place, text });
    }
}
