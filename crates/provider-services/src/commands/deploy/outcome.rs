//! What a deployment came to.

use std::time::{Duration, Instant};

use akash_types::{Dec, DecCoin, Denom, DeploymentId, LeaseId};
use provider_api::status::{ForwardedPort, LeaseStatus, LeasedIp, ServiceStatus};
use serde::Serialize;

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
        Some(in_coins(&per_month(price, self.block_time?)?))
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
            text.push_str(&format!("  deposit   lasts {}\n", span(lasts)));
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

/// A month: a twelfth of a year of 365.25 days.
const MONTH: Duration = Duration::from_secs(2_629_800);
/// How many smallest units a coin has, where its name begins with a u.
const MICRO: u64 = 1_000_000;

/// What a price per block comes to in a month; `None` if it is too much to count.
pub(super) fn per_month(price: &DecCoin, block_time: Duration) -> Option<DecCoin> {
    let micros = |span: Duration| u64::try_from(span.as_micros()).ok();
    let block = Dec::from_int(micros(block_time)?);
    let month = i128::from(micros(MONTH)?);
    let amount = price.amount().checked_mul_int(month)?.checked_quo(block)?;
    DecCoin::new(price.denom().clone(), amount).ok()
}

/// How long funds last at a price per block.
pub(super) fn lasts(funds: Dec, price: Dec, block_time: Duration) -> Option<Duration> {
    if !price.is_positive() {
        return None;
    }
    let blocks = u64::try_from(funds.checked_quo_truncate(price)?.truncate_int()).ok()?;
    let seconds = u128::from(blocks).checked_mul(block_time.as_micros())? / 1_000_000;
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

/// An amount in whole coins: `1.25 act` for `1250000uact`. Two places, or as many as it takes to
/// show that it is not nothing, rounded up.
pub(crate) fn in_coins(coin: &DecCoin) -> String {
    let Some(name) = whole_coin(coin.denom()) else {
        return format!("{} {}", places(coin.amount(), 2), coin.denom());
    };
    let amount = coin.amount().checked_quo(Dec::from_int(MICRO)).unwrap_or(coin.amount());
    let cents = Dec::from_int(1).checked_quo(Dec::from_int(100)).unwrap_or(amount);
    let digits = if amount.is_zero() || amount.scaled() >= cents.scaled() { 2 } else { 6 };
    format!("{} {name}", places(amount, digits))
}

fn whole_coin(denom: &Denom) -> Option<&str> {
    denom.as_str().strip_prefix('u').filter(|name| ["akt", "act", "usd"].contains(name))
}

/// So many places, rounded up: nobody wants to pay more than they were shown.
fn places(amount: Dec, digits: u32) -> String {
    let unit = 10_i128.pow(18 - digits);
    let rounded = amount.scaled().saturating_add(unit - 1) / unit * unit;
    let text = Dec::from_scaled(rounded).to_string();
    let keep = text.find('.').map_or(text.len(), |point| point + 1 + digits as usize);
    text.get(..keep).unwrap_or(&text).to_owned()
}

/// `3 days 4 hours`, `4 hours`, `5 minutes`.
pub(super) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    let counted =
        |count: u64, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60) {
        (0, 0, minutes) => counted(minutes, "minute"),
        (0, hours, _) => counted(hours, "hour"),
        (days, 0, _) => counted(days, "day"),
        (days, hours, _) if days < 10 => {
            format!("{} {}", counted(days, "day"), counted(hours, "hour"))
        }
        (days, ..) => counted(days, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coin(text: &str) -> DecCoin {
        text.parse().unwrap()
    }

    #[test]
    fn a_month_has_as_many_blocks_as_fit() {
        let six = Duration::from_secs(6);
        assert_eq!(per_month(&coin("1uact"), six), Some(coin("438300uact")));
        let half = Duration::from_millis(500);
        assert_eq!(per_month(&coin("0.5uact"), half), Some(coin("2629800uact")));
        assert_eq!(per_month(&coin("1uact"), Duration::ZERO), None);
    }

    #[test]
    fn amounts_are_shown_in_coins_and_never_as_nothing() {
        for (amount, wanted) in [
            ("1250000uact", "1.25 act"),
            ("1250001uakt", "1.26 akt"),
            ("438300uact", "0.44 act"),
            ("400uact", "0.000400 act"),
            ("0.1uact", "0.000001 act"),
            ("0uact", "0.00 act"),
            ("7ibc/AB", "7.00 ibc/AB"),
        ] {
            assert_eq!(in_coins(&coin(amount)), wanted);
        }
    }

    #[test]
    fn funds_last_as_many_blocks_as_they_pay() {
        let dec = |text: &str| coin(&format!("{text}uact")).amount();
        let six = Duration::from_secs(6);
        assert_eq!(lasts(dec("5000000"), dec("500"), six), Some(Duration::from_secs(60_000)));
        assert_eq!(lasts(dec("5"), dec("0"), six), None);
    }

    #[test]
    fn spans_are_told_in_words() {
        for (seconds, wanted) in [
            (59, "0 minutes"),
            (60, "1 minute"),
            (7200, "2 hours"),
            (90_000, "1 day 1 hour"),
            (900_000, "10 days"),
        ] {
            assert_eq!(span(Duration::from_secs(seconds)), wanted);
        }
    }
}
