//! What is bid on, and at what price.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use akash_types::{Address, Coin, DecCoin};
use provider_engine::order::policy::Policy;
use provider_engine::order::pricing::{Decimal, Pricing, Scales, ScalesError};

use super::reader::{Reader, Wrong, because, coin};

/// The program that is asked for prices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceScript {
    pub path: PathBuf,
    /// How many may run at once.
    pub process_limit: NonZeroUsize,
    /// How long one may take.
    pub timeout: Duration,
}

/// The strategy, and the program if it needs one.
pub(super) fn pricing(reader: &mut Reader<'_>) -> Option<(Pricing, Option<PriceScript>)> {
    // All of them are read whatever the strategy: a change of it must not find them broken.
    let scales = scales(reader);
    let script = script(reader);
    let strategy = reader.parsed("bid-price-strategy", |text| match text {
        "scale" | "randomRange" | "shellScript" => Ok(text.to_owned()),
        _ => Err(Wrong::new(
            "no such bid pricing strategy. Allowed: [scale randomRange shellScript]",
            "give one of them",
        )),
    })?;
    match strategy.as_str() {
        "scale" => {
            let scales = scales?;
            if let Err(error) = scales.validate() {
                let remedy = "set --bid-price-cpu-scale and the others, or another strategy";
                reader.wrong("bid-price-strategy", because(remedy)(&error));
                return None;
            }
            Some((Pricing::Scale(Box::new(scales)), None))
        }
        "randomRange" => Some((Pricing::RandomRange, None)),
        _ => {
            if reader.some("bid-price-script-path").is_none() {
                let wrong = Wrong::new("shellScript needs a program", "name it here");
                reader.wrong("bid-price-script-path", wrong);
            }
            Some((Pricing::Script, Some(script?)))
        }
    }
}

fn scales(reader: &mut Reader<'_>) -> Option<Scales> {
    const REMEDY: &str = "give a decimal that is not negative, such as 0.004";
    let mut scale = |name: &str| {
        reader.parsed(name, |text| {
            let scale = Decimal::parse(text).map_err(|error| because(REMEDY)(&error))?;
            match scale.is_negative() {
                true => Err(Wrong::new(format!("{text:?} is negative"), REMEDY)),
                false => Ok(scale),
            }
        })
    };
    let (cpu, memory) = (scale("bid-price-cpu-scale"), scale("bid-price-memory-scale"));
    let (endpoint, ip) = (scale("bid-price-endpoint-scale"), scale("bid-price-ip-scale"));
    let storage = reader.parsed("bid-price-storage-scale", |text| {
        let remedy = "give decimals that are not negative, such as 0.0001,beta2=0.0002";
        let scales = Scales::parse_storage(text).map_err(|error| match &error {
            ScalesError::Storage { source, .. } => Wrong::new(format!("{error}: {source}"), remedy),
            _ => because(remedy)(&error),
        })?;
        match scales.iter().find(|(_, scale)| scale.is_negative()) {
            Some((class, _)) => Err(Wrong::new(format!("that of {class:?} is negative"), remedy)),
            None => Ok(scales),
        }
    });
    Some(Scales { cpu: cpu?, memory: memory?, storage: storage?, endpoint: endpoint?, ip: ip? })
}

fn script(reader: &mut Reader<'_>) -> Option<PriceScript> {
    let process_limit = reader.parsed("bid-price-script-process-limit", |text| {
        let what = format!("{text:?} is not a number above 0");
        text.parse().map_err(|_| Wrong::new(what, "give how many programs may run at once"))
    });
    let timeout = reader.parsed("bid-price-script-process-timeout", |text| {
        match super::reader::parse(text)? {
            Duration::ZERO => Err(Wrong::new("no program is that fast", "give more than 0")),
            timeout => Ok(timeout),
        }
    });
    let path = PathBuf::from(reader.some("bid-price-script-path")?);
    Some(PriceScript { path, process_limit: process_limit?, timeout: timeout? })
}

/// Whom to deal with; `fee` is what a bid costs.
pub(super) fn policy(reader: &mut Reader<'_>, fee: Option<&Coin>) -> Policy {
    let address = because("give addresses such as akash1…, with commas between");
    let owner = |text: &str| text.parse::<Address>().map_err(|error| address(&error));
    let allow: BTreeSet<Address> = reader.each("policy-allow-owners", owner).into_iter().collect();
    let deny: BTreeSet<Address> = reader.each("policy-deny-owners", owner).into_iter().collect();
    if let Some(both) = allow.intersection(&deny).next() {
        let what = format!("{both} is allowed and denied");
        let remedy = "leave it out here or in --policy-allow-owners";
        reader.wrong("policy-deny-owners", Wrong::new(what, remedy));
    }
    let open_bids = reader.some("policy-open-bids-per-owner").is_some();
    let open_bids_per_owner =
        if open_bids { reader.number("policy-open-bids-per-owner") } else { None };
    let daily_fees = reader.optional("policy-daily-fees", |text| {
        let budget = coin(text)?;
        match fee.filter(|fee| fee.denom() != budget.denom()) {
            Some(fee) => {
                let what = format!("fees are paid in {}, not in {}", fee.denom(), budget.denom());
                Err(Wrong::new(what, "give the budget in the denomination of --gas-prices"))
            }
            None => Ok(budget.amount()),
        }
    });
    Policy {
        floors: floors(reader),
        allow: (!allow.is_empty()).then_some(allow),
        deny,
        open_bids_per_owner,
        daily_fees,
        paused: reader.switch("policy-pause"),
    }
}

fn floors(reader: &mut Reader<'_>) -> BTreeMap<akash_types::Denom, akash_types::Dec> {
    const REMEDY: &str = "give one price per denomination, such as 0.5uact";
    let coins = reader.each("policy-price-floor", |text| {
        let coin: DecCoin = text.parse().map_err(|error| because(REMEDY)(&error))?;
        coin.normalize().map_err(|error| because(REMEDY)(&error))
    });
    let mut floors = BTreeMap::new();
    for coin in coins {
        if floors.insert(coin.denom().clone(), coin.amount()).is_some() {
            let what = format!("{} is there twice", coin.denom());
            reader.wrong("policy-price-floor", Wrong::new(what, REMEDY));
        }
    }
    floors
}
