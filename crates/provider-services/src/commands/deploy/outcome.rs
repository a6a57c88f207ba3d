//! What a deployment came to.

use std::time::{Duration, Instant};

use akash_types::{DecCoin, DeploymentId, LeaseId};
use provider_api::status::{ForwardedPort, LeaseStatus, LeasedIp, ServiceStatus};
use serde::Serialize;

use super::cost;
use crate::console::Streams;
use crate::output::{Palette, printable};

/// A deployment that runs.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) id: DeploymentId,
    pub(crate) leased: Vec<Leased>,
    /// How long a block takes, where the node can tell.
    pub(crate) block_time: Option<Duration>,
    /// How long the deposit lasts, where that can be told.
    pub(crate) lasts: Option<Duration>,
}

/// A lease of it.
#[derive(Debug)]
pub(crate) struct Leased {
    pub(crate) id: LeaseId,
    /// Per block.
    pub(crate) price: DecCoin,
    pub(crate) status: LeaseStatus,
}

impl Leased {
    /// Where its services are reached, by their names.
    pub(crate) fn reached(&self) -> Vec<(&str, Vec<String>)> {
        let services = self.status.services.values();
        services.map(|service| (service.name.as_str(), self.places(service))).collect()
    }

    fn places(&self, service: &ServiceStatus) -> Vec<String> {
        let ports = self.ports(service).map(|port| {
            let protocol = port.proto.to_ascii_lowercase();
            format!("{protocol}://{}:{} (port {})", port.host, port.external_port, port.port)
        });
        let ips = self.ips(service).map(|ip| {
            let protocol = ip.protocol.to_ascii_lowercase();
            format!("{protocol}://{}:{} (port {})", ip.ip, ip.external_port, ip.port)
        });
        urls(service).chain(ports).chain(ips).collect()
    }

    fn ports(&self, service: &ServiceStatus) -> impl Iterator<Item = &ForwardedPort> {
        let ports = self.status.forwarded_ports.as_ref();
        ports.and_then(|ports| ports.get(&service.name)).into_iter().flatten()
    }

    fn ips(&self, service: &ServiceStatus) -> impl Iterator<Item = &LeasedIp> {
        let ips = self.status.ips.as_ref();
        ips.and_then(|ips| ips.get(&service.name)).into_iter().flatten()
    }
}

impl Outcome {
    fn per_month(&self, price: &DecCoin) -> Option<String> {
        Some(cost::in_coins(&cost::per_month(price, self.block_time?)?))
    }

    pub(crate) fn text(&self, palette: &Palette) -> String {
        let (strong, good) = (palette.strong, palette.good);
        let dseq = self.id.dseq();
        let mut text = format!("{strong}Deployment {dseq} {good}runs{good:#}{strong:#}\n");
        for leased in &self.leased {
            text.push_str(&format!("\n  provider  {}\n", leased.id.provider()));
            for (name, places) in leased.reached() {
                let places = if places.is_empty() {
                    vec!["reached by its neighbours only".to_owned()]
                } else {
                    places
                };
                for (index, place) in places.iter().enumerate() {
                    let label = if index == 0 { printable(name) } else { String::new() };
                    text.push_str(&format!("  {label:<8}  {}\n", printable(place)));
                }
            }
            let month = self.per_month(&leased.price);
            let month = month.map(|month| format!(", {month} a month")).unwrap_or_default();
            text.push_str(&format!("  price     {} a block{month}\n", short(&leased.price)));
        }
        if let Some(lasts) = self.lasts {
            text.push_str(&format!("  deposit   lasts {}\n", cost::span(lasts)));
        }
        text
    }

    pub(crate) fn json(&self) -> serde_json::Result<String> {
        let leases = self.leased.iter().map(|leased| LeaseDocument {
            id: leased.id.to_string(),
            provider: leased.id.provider().to_string(),
            gseq: leased.id.gseq(),
            oseq: leased.id.oseq(),
            price: leased.price.to_string(),
            per_month: self.per_month(&leased.price),
            services: leased
                .status
                .services
                .values()
                .map(|service| ServiceDocument {
                    name: &service.name,
                    available: service.available,
                    total: service.total,
                    urls: urls(service).collect(),
                    forwarded_ports: leased.ports(service).collect(),
                    ips: leased.ips(service).collect(),
                })
                .collect(),
        });
        let document = Document {
            owner: self.id.owner().to_string(),
            dseq: self.id.dseq(),
            state: "running",
            leases: leases.collect(),
            deposit_lasts_seconds: self.lasts.map(|lasts| lasts.as_secs()),
        };
        serde_json::to_string_pretty(&document)
    }
}

fn urls(service: &ServiceStatus) -> impl Iterator<Item = String> {
    service.uris.iter().flatten().map(|uri| format!("http://{uri}"))
}

/// A price without the zeros that fill its places.
fn short(price: &DecCoin) -> String {
    let amount = price.amount().to_string();
    format!("{} {}", amount.trim_end_matches('0').trim_end_matches('.'), price.denom())
}

#[derive(Serialize)]
struct Document<'a> {
    owner: String,
    dseq: u64,
    state: &'a str,
    leases: Vec<LeaseDocument<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deposit_lasts_seconds: Option<u64>,
}

#[derive(Serialize)]
struct LeaseDocument<'a> {
    id: String,
    provider: String,
    gseq: u32,
    oseq: u32,
    price: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_month: Option<String>,
    services: Vec<ServiceDocument<'a>>,
}

#[derive(Serialize)]
struct ServiceDocument<'a> {
    name: &'a str,
    available: i32,
    total: i32,
    urls: Vec<String>,
    forwarded_ports: Vec<&'a ForwardedPort>,
    ips: Vec<&'a LeasedIp>,
}

/// Tells each step with the time since the beginning.
#[derive(Debug)]
pub(crate) struct Progress {
    began: Instant,
}

impl Progress {
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now() }
    }

    pub(crate) fn done(&self, text: &str, streams: &mut Streams<'_>) {
        let good = streams.stderr_palette.good;
        self.tell(&format!("{good}✓{good:#}"), text, streams);
    }

    pub(crate) fn waiting(&self, text: &str, streams: &mut Streams<'_>) {
        let frame = streams.stderr_palette.frame;
        self.tell(&format!("{frame}…{frame:#}"), text, streams);
    }

    fn tell(&self, mark: &str, text: &str, streams: &mut Streams<'_>) {
        let elapsed = self.began.elapsed();
        let (seconds, tenths) = (elapsed.as_secs(), elapsed.subsec_millis() / 100);
        streams.tell(&format!("{seconds:>4}.{tenths} s  {mark} {text}\n"));
    }
}
