//! Everything that decisions depend on, as the engine takes it.

use std::time::Duration;

use akash_types::hostname::BlockedHostnames;
use akash_types::{Attribute, Denom, attribute};
use provider_engine::Settings;
use provider_engine::inventory::CommitLevels;
use provider_engine::lease::Patience;
use provider_engine::manifest::ManifestSettings;
use provider_engine::order::policy::Policy;
use provider_engine::order::pricing::Pricing;
use provider_kube::settings::Overcommit;

use super::account::Account;
use super::reader::{Reader, Wrong, because, coin};

const SHORTEST_PERIOD: Duration = Duration::from_secs(4);

pub(super) fn read(
    reader: &mut Reader<'_>,
    account: Option<&Account>,
    pricing: Option<Pricing>,
    policy: Policy,
    generated_under: Option<String>,
    is_kubernetes: bool,
) -> Option<Settings> {
    let attributes = attributes(reader);
    let deposit = reader.parsed("bid-deposit", coin);
    let denom = because("give denominations such as uact, with commas between");
    let price_denoms = reader
        .each("policy-price-denoms", |text| text.parse::<Denom>().map_err(|error| denom(&error)));
    let bid_timeout = reader.span_or_never("bid-timeout");
    let manifest_timeout = reader.span_or_never("manifest-timeout");
    let lost_manifest = reader.span("lost-manifest-patience");
    let reclamation_window = reader.span_or_never("reclamation-window");
    let commit = commit(reader, is_kubernetes);
    let checks = checks(reader);
    let money = money(reader);
    let own = ["cluster-public-hostname", "deployment-ingress-domain"];
    let own = own.into_iter().filter_map(|name| reader.some(name)).collect::<Vec<_>>();
    let blocked = BlockedHostnames::new(reader.list("deployment-blocked-hostnames")).reserving(own);
    let cached_result_max_age = reader.span("cached-result-max-age");
    let (account, (retries, check_period, check_jitter)) = (account?, checks?);
    let (check_every, withdraw_every, minimum_balance) = money?;
    let usual = Patience::default();
    let mut settings = Settings::new(account.provider, deposit?, account.bid_fee.clone(), pricing?);
    settings.escrow.fee_reserve = account.withdraw_fee.amount().saturating_mul(10);
    settings.escrow.fee = account.withdraw_fee.clone();
    settings.escrow.check_every = check_every;
    settings.escrow.withdraw_every = withdraw_every;
    settings.escrow.minimum_balance = minimum_balance;
    Some(Settings {
        attributes,
        price_denoms,
        bid_timeout,
        manifest_timeout,
        reclamation_window,
        commit: commit?,
        policy,
        seed: reader.given.seed,
        patience: Patience {
            unhealthy_checks: retries,
            // Having no place is not the tenant's fault: never less patience than with a fault.
            unschedulable_checks: retries.max(usual.unschedulable_checks),
            lost_manifest: lost_manifest?,
            ..usual
        },
        check_period,
        check_jitter,
        require_isolation: reader.switch("require-isolation"),
        accept_cluster: reader.some("accept-cluster").map(Into::into),
        manifest: ManifestSettings {
            generated_under,
            blocked,
            cached_result_max_age: cached_result_max_age?,
            ..ManifestSettings::default()
        },
        ..settings
    })
}

/// What an order must ask for, from provider.yaml.
fn attributes(reader: &mut Reader<'_>) -> Vec<Attribute> {
    let content = match reader.given.file.as_ref().map(|file| &file.content) {
        None => return Vec::new(),
        Some(Err(why)) => {
            let remedy = "give the path of a provider.yaml that can be read, or none";
            reader.wrong("provider-config", Wrong::new(why.clone(), remedy));
            return Vec::new();
        }
        Some(Ok(content)) => content,
    };
    for wanted in &content.attributes {
        if let Err(error) = attribute::check_key(&wanted.key) {
            let remedy = "give keys of letters, digits and _ / . -";
            reader.wrong("provider-config", Wrong::new(error.to_string(), remedy));
        }
    }
    if !content.attributes.is_empty() {
        let pairs = content.attributes.iter().map(|a| format!("{}={}", a.key, a.value));
        let pairs = pairs.collect::<Vec<_>>().join(", ");
        reader.note("provider-config", format!("only orders that ask for {pairs} are bid on"));
    }
    content.attributes.clone()
}

/// Percentages mean what they say, except on Kubernetes: there live pods ask for what the Go program
/// made of them, which divides them as integers, so that anything under 100 does nothing. Whoever
/// sets such a number is told what it does.
fn commit(reader: &mut Reader<'_>, is_kubernetes: bool) -> Option<CommitLevels> {
    let mut level = |name: &str| {
        let percent: Option<u64> = reader.number(name);
        if let Some(percent) = percent.filter(|percent| !percent.is_multiple_of(100)) {
            let whole = percent / 100 * 100;
            let text = match is_kubernetes {
                true => format!("counts as {whole} %: pods that run ask for what that makes"),
                false => format!("means {percent} % here; on Kubernetes it counts as {whole} %"),
            };
            reader.note(name, text);
        }
        percent
    };
    let cpu = level("overcommit-pct-cpu");
    let memory = level("overcommit-pct-mem");
    let storage = level("overcommit-pct-storage");
    let (cpu, memory, storage) = (cpu?, memory?, storage?);
    Some(match is_kubernetes {
        true => Overcommit { cpu, memory, storage }.levels(),
        false => CommitLevels::from_percent(cpu, memory, storage),
    })
}

/// Failed checks that are borne, and how far apart they are.
fn checks(reader: &mut Reader<'_>) -> Option<(u32, Duration, Duration)> {
    let retries = reader.number("monitor-max-retries");
    let period = period(reader, "monitor-retry-period");
    let jitter = reader.span("monitor-retry-period-jitter");
    // These have no effect, and are wrong where they would be elsewhere.
    let _ = self::period(reader, "monitor-healthcheck-period");
    let _ = reader.span("monitor-healthcheck-period-jitter");
    Some((retries?, period?, jitter?))
}

fn period(reader: &mut Reader<'_>, name: &str) -> Option<Duration> {
    let period = reader.span(name)?;
    if period < SHORTEST_PERIOD {
        let what = format!("flag \"{name}\" value must be > \"4s\"");
        reader.wrong(name, Wrong::new(what, "give 4s or more"));
        return None;
    }
    Some(period)
}

/// How often accounts are read, how long earnings wait, and when the wallet is low.
fn money(reader: &mut Reader<'_>) -> Option<(Duration, Duration, u128)> {
    const INTERVAL: &str = "lease-funds-monitor-interval";
    const DAY: Duration = Duration::from_hours(24);
    let interval = reader.span(INTERVAL).filter(|interval| {
        let right = (Duration::from_mins(1)..=DAY).contains(interval);
        if !right {
            let what = format!("flag \"{INTERVAL}\" contains invalid value. expected >=1m<=24h");
            reader.wrong(INTERVAL, Wrong::new(what, "give 1m to 24h"));
        }
        right
    });
    let withdrawal = reader.span("withdrawal-period");
    if let (Some(interval), Some(withdrawal)) = (interval, withdrawal)
        && !withdrawal.is_zero()
        && withdrawal < interval
    {
        let what = format!("flag \"withdrawal-period\" value must be > \"{INTERVAL}\"");
        reader.wrong("withdrawal-period", Wrong::new(what, "give more, or 0 for never"));
    }
    let minimum = reader.number("minimum-balance");
    Some((interval?, withdrawal?, minimum?))
}
