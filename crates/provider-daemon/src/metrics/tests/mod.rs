mod counting;
mod documented;
mod gauges;
mod rendering;

use std::time::Duration;

use akash_types::{Address, Coin, Denom, LeaseId, OrderId};
use provider_engine::journal::{Decision, Entry, Subject};
use provider_engine::time::{BlockTime, Now};
use provider_engine::{Effect, Input};

use super::{Format, Metrics, Snapshot};

fn address(byte: u8) -> Address {
    Address::from_bytes(&[byte; 20]).unwrap()
}

fn order(dseq: u64) -> OrderId {
    format!("{}/{dseq}/1/1", address(1)).parse().unwrap()
}

fn lease(dseq: u64) -> LeaseId {
    LeaseId::new(order(dseq), address(2))
}

fn uakt(amount: u128) -> Coin {
    Coin::new("uakt".parse::<Denom>().unwrap(), amount)
}

/// What was seen, and the page that came of it.
#[derive(Default)]
struct Seen {
    metrics: Metrics,
    now: Duration,
    height: u64,
}

impl Seen {
    fn later(&mut self, micros: u64) -> &mut Self {
        self.now += Duration::from_micros(micros);
        self
    }

    fn effect(&mut self, effect: Effect) -> &mut Self {
        self.metrics.observe(Now::new(self.now), &effect);
        self
    }

    fn input(&mut self, input: Input) -> &mut Self {
        self.metrics.observe_input(Now::new(self.now), &input);
        self
    }

    fn decided(&mut self, dseq: u64, decision: Decision) -> &mut Self {
        let subject = Subject::Order(order(dseq));
        let time = BlockTime::from_unix(0);
        self.effect(Effect::Record(Entry { height: self.height, time, subject, decision }))
    }

    fn page(&self) -> String {
        self.metrics.render(&Snapshot::default(), Format::Prometheus)
    }

    /// Samples of a family, without its name.
    fn samples(&self, name: &str) -> Vec<String> {
        samples(&self.page(), name)
    }
}

fn samples(page: &str, name: &str) -> Vec<String> {
    let of = |line: &str| {
        let rest = line.strip_prefix(name)?;
        rest.starts_with(['{', ' ']).then(|| rest.trim().to_owned())
    };
    page.lines().filter_map(of).collect()
}
