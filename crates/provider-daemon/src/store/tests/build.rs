//! What the tests put into stores.

use akash_types::{Coin, Denom, LeaseId, OrderId};
use provider_engine::journal::{Decision, Entry, Subject};
use provider_engine::time::BlockTime;

use super::super::{LeaseChange, LeaseEvent, Moment};

pub(super) const OWNER: &str = "akash1365yvmc4s7awdyj3n2sav7xfx76adc6dnmlx63";
pub(super) const PROVIDER: &str = "akash18qa2a2ltfyvkyj0ggj3hkvuj6twzyumuaru9s4";

pub(super) fn order(dseq: u64) -> OrderId {
    format!("{OWNER}/{dseq}/1/1").parse().unwrap()
}

pub(super) fn lease(dseq: u64) -> LeaseId {
    format!("{OWNER}/{dseq}/1/1/{PROVIDER}").parse().unwrap()
}

pub(super) const fn at(height: u64) -> Moment {
    Moment { height, time: BlockTime::from_unix(1_700_000_000 + 6 * height) }
}

pub(super) fn entry(height: u64, subject: Subject, decision: Decision) -> Entry {
    Entry { height, time: at(height).time, subject, decision }
}

pub(super) fn said(height: u64, dseq: u64, what: &str) -> Entry {
    let decision = Decision::Escrow { what: what.to_owned() };
    entry(height, Subject::Order(order(dseq)), decision)
}

pub(super) fn uakt(amount: u128) -> Coin {
    Coin::new("uakt".parse::<Denom>().unwrap(), amount)
}

pub(super) fn earned(height: u64, dseq: u64, amount: u128) -> LeaseEvent {
    LeaseEvent { lease: lease(dseq), at: at(height), change: LeaseChange::Earned(uakt(amount)) }
}
