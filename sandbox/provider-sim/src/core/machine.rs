//! A node and what is taken of it.

use std::collections::BTreeSet;
use std::time::Duration;

use akash_types::{CpuArch, LeaseId};
use provider_engine::cluster::view::{Amounts, CardChoice, CardState, Exclusion, GpuCard, Node};

use super::pod::PodKey;

/// A node and what pods of leases take of it.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    pub(super) node: Node,
    pub(super) up: bool,
    /// Whether the operator keeps new pods away from it.
    pub(super) cordoned: bool,
    /// What pods of leases ask for, all together.
    pub(super) used: Amounts,
    /// Cards that pods of leases have, by kind.
    pub(super) used_cards: Vec<(CardChoice, i64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lack {
    Unschedulable,
    Arch,
    Cpu,
    Memory,
    Disk,
    Cards,
    StorageClass,
}

impl Lack {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Unschedulable => "take no pods",
            Self::Arch => "have another architecture",
            Self::Cpu => "have too little CPU",
            Self::Memory => "have too little memory",
            Self::Disk => "have too little ephemeral storage",
            Self::Cards => "have not enough free GPUs of the right kind",
            Self::StorageClass => "cannot attach the storage class",
        }
    }
}

impl Machine {
    pub(super) fn new(node: Node) -> Self {
        Self {
            up: true,
            cordoned: !node.schedulable(),
            node,
            used: Amounts::default(),
            used_cards: Vec::new(),
        }
    }

    pub(super) fn view(&self) -> Node {
        let mut node = self.node.clone();
        node.exclusions.clear();
        if !self.up {
            node.exclusions.push(Exclusion::NotReady("it is down".into()));
        }
        if self.cordoned {
            node.exclusions.push(Exclusion::Cordoned);
        }
        node
    }

    pub(super) fn free(&self) -> Amounts {
        less(less(self.node.allocatable, self.node.others), self.used)
    }

    /// Whether a pod fits; what is lacking if not.
    pub(super) fn fits(
        &self,
        asks: Amounts,
        arch: CpuArch,
        card: Option<&CardChoice>,
    ) -> Result<(), Lack> {
        let free = self.free();
        if !self.up || self.cordoned {
            return Err(Lack::Unschedulable);
        }
        let named = (arch != CpuArch::default()).then_some(arch);
        if !self.node.arch.runs(named) {
            return Err(Lack::Arch);
        }
        for (asked, free, lack) in [
            (asks.cpu_milli, free.cpu_milli, Lack::Cpu),
            (asks.memory, free.memory, Lack::Memory),
            (asks.ephemeral, free.ephemeral, Lack::Disk),
            (asks.gpu, free.gpu, Lack::Cards),
        ] {
            if asked > free && asked > 0 {
                return Err(lack);
            }
        }
        match card {
            Some(choice) if self.free_cards(choice) < asks.gpu => Err(Lack::Cards),
            _ => Ok(()),
        }
    }

    /// How many cards of a kind are free. Choices that differ in what they leave open can mean the
    /// same card; each is counted against those it is the same model as.
    fn free_cards(&self, choice: &CardChoice) -> i64 {
        let usable = |card: &&GpuCard| is_of(card, choice) && card.state == CardState::Usable;
        let here = self.node.cards.iter().filter(usable).count();
        let same =
            |other: &CardChoice| other.vendor == choice.vendor && other.model == choice.model;
        let used: i64 =
            self.used_cards.iter().filter(|(other, _)| same(other)).map(|(_, count)| count).sum();
        i64::try_from(here).unwrap_or(i64::MAX).saturating_sub(used)
    }

    /// Takes (`sign` 1) or gives back (`sign` -1) what a pod asks for.
    pub(super) fn book(&mut self, asks: Amounts, card: Option<&CardChoice>, sign: i64) {
        self.used = plus(self.used, asks, sign);
        let Some(choice) = card else { return };
        let count = asks.gpu.saturating_mul(sign);
        match self.used_cards.iter_mut().find(|(other, _)| other == choice) {
            Some((_, used)) => *used = used.saturating_add(count),
            None => self.used_cards.push((choice.clone(), count)),
        }
        self.used_cards.retain(|(_, used)| *used != 0);
    }

    /// The share of CPU and memory that is free, the higher the better for the next pod.
    pub(super) fn emptiness(&self) -> i64 {
        let share = |free: i64, all: i64| {
            free.max(0).saturating_mul(1000).checked_div(all).unwrap_or_default()
        };
        let (free, all) = (self.free(), self.node.allocatable);
        share(free.cpu_milli, all.cpu_milli).saturating_add(share(free.memory, all.memory))
    }
}

pub(super) fn is_of(card: &GpuCard, choice: &CardChoice) -> bool {
    card.vendor == choice.vendor
        && card.model == choice.model
        && choice.memory_gib.is_none_or(|gib| card.memory_gib == Some(gib))
        && choice.interface.is_none_or(|interface| card.interface == Some(interface))
}

fn less(from: Amounts, what: Amounts) -> Amounts {
    plus(from, what, -1)
}

pub(super) fn plus(to: Amounts, what: Amounts, sign: i64) -> Amounts {
    let add = |to: i64, what: i64| to.saturating_add(what.saturating_mul(sign));
    Amounts {
        cpu_milli: add(to.cpu_milli, what.cpu_milli),
        memory: add(to.memory, what.memory),
        ephemeral: add(to.ephemeral, what.ephemeral),
        gpu: add(to.gpu, what.gpu),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// A pod's state changes, if the pod still says so.
    Pod(LeaseId, PodKey),
    /// The last of a lease goes, if the lease still says so.
    Lease(LeaseId),
    /// Another look at pods without a place.
    Look,
    Answer(u64),
    ApiBack,
}

/// What is due when, the earliest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    due: BTreeSet<(Duration, Timer)>,
    /// Whether another look is due; one is enough.
    looks: bool,
}

impl Timers {
    pub(super) fn set(&mut self, due: Duration, timer: Timer) {
        self.due.insert((due, timer));
    }

    /// Sets another look, unless one is due anyway.
    pub(super) fn set_look(&mut self, due: Duration) {
        if !self.looks {
            self.looks = true;
            self.set(due, Timer::Look);
        }
    }

    pub(super) fn next_due(&self) -> Option<Duration> {
        self.due.first().map(|(due, _)| *due)
    }

    /// The earliest that is due until `now`.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<(Duration, Timer)> {
        self.due.first().filter(|(due, _)| *due <= now)?;
        let taken = self.due.pop_first();
        self.looks &= !matches!(taken, Some((_, Timer::Look)));
        taken
    }
}
