//! Cards by kind, and how many of each a node has left.
//!
//! A replica is promised a model, and memory or interface only where the tenant asked for them. On
//! a node with several kinds of that model nobody can tell which card it holds, so it counts
//! against all of them: the same card is never sold twice.

use std::collections::BTreeSet;

use akash_types::{GpuInterface, GpuModel, GpuRequest, GpuVendor};

use crate::cluster::view::{CardChoice, CardState, ClusterView, GpuCard, Name, Node};

/// All that is known of a card.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CardKind {
    // First in the order: what is known to be small is sold first, so that large cards are left
    // for those who need them.
    unknown_memory: bool,
    memory_gib: u64,
    vendor: GpuVendor,
    model: Name,
    interface: Option<GpuInterface>,
}

impl CardKind {
    fn of(card: &GpuCard) -> Self {
        Self {
            unknown_memory: card.memory_gib.is_none(),
            memory_gib: card.memory_gib.unwrap_or_default(),
            vendor: card.vendor,
            model: card.model.clone(),
            interface: card.interface,
        }
    }

    fn memory_gib(&self) -> Option<u64> {
        (!self.unknown_memory).then_some(self.memory_gib)
    }

    /// Whether a replica that was promised `choice` may hold such a card.
    fn is(&self, choice: &CardChoice) -> bool {
        self.vendor == choice.vendor
            && self.model == choice.model
            && self.has(choice.memory_gib, choice.interface)
    }

    /// What a replica is promised with such a card when `request` was asked for; `None` if it is
    /// not acceptable.
    fn promise(&self, request: &GpuRequest) -> Option<CardChoice> {
        let model = match &request.model {
            GpuModel::Any => true,
            GpuModel::Named(name) => **name == *self.model,
        };
        let acceptable =
            self.vendor == request.vendor && model && self.has(request.ram_gib, request.interface);
        acceptable.then(|| CardChoice {
            vendor: self.vendor,
            model: self.model.clone(),
            memory_gib: request.ram_gib,
            interface: request.interface,
        })
    }

    fn has(&self, memory_gib: Option<u64>, interface: Option<GpuInterface>) -> bool {
        memory_gib.is_none_or(|wanted| self.memory_gib() == Some(wanted))
            && interface.is_none_or(|wanted| self.interface == Some(wanted))
    }
}

/// A set of kinds, by their index in [`Kinds`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KindSet(u128);

impl KindSet {
    const fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// The kinds of a cluster, least first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kinds(Vec<CardKind>);

impl Kinds {
    /// As many as a [`KindSet`] can hold. What a cluster has beyond is not sold.
    const MAX: usize = 128;

    pub(super) fn of(view: &ClusterView) -> Self {
        let cards = view.nodes.values().flat_map(|node| &node.cards);
        let kinds: BTreeSet<_> = cards.map(CardKind::of).collect();
        Self(kinds.into_iter().take(Self::MAX).collect())
    }

    /// The kinds that a replica with `choice` may hold.
    pub(super) fn matching(&self, choice: &CardChoice) -> KindSet {
        self.collect(|kind| kind.is(choice))
    }

    /// What a replica could be promised, least card first. Requests are alternatives; none means
    /// any card.
    pub(super) fn promises(&self, requests: &[GpuRequest]) -> Vec<CardChoice> {
        let mut promises = Vec::new();
        for kind in &self.0 {
            if requests.is_empty() {
                let (vendor, model) = (kind.vendor, kind.model.clone());
                let choice = CardChoice { vendor, model, memory_gib: None, interface: None };
                if !promises.contains(&choice) {
                    promises.push(choice);
                }
            }
            for choice in requests.iter().filter_map(|request| kind.promise(request)) {
                if !promises.contains(&choice) {
                    promises.push(choice);
                }
            }
        }
        promises
    }

    fn collect(&self, matches: impl Fn(&CardKind) -> bool) -> KindSet {
        let set = |set, (index, kind)| if matches(kind) { set | 1_u128 << index } else { set };
        KindSet(self.0.iter().enumerate().fold(0, set))
    }
}

/// Cards of one node: what it has for leases, and what leases hold of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NodeCards {
    /// Which node, by index.
    pub(super) node: usize,
    all: KindSet,
    stock: Vec<(KindSet, i64)>,
    /// By the kinds that may be held; sorted, each set once.
    held: Vec<(KindSet, i64)>,
}

impl NodeCards {
    pub(super) fn of(index: usize, node: &Node, kinds: &Kinds) -> Self {
        let mut cards = Self { node: index, all: KindSet(0), stock: Vec::new(), held: Vec::new() };
        for card in &node.cards {
            let kind = CardKind::of(card);
            let set = kinds.collect(|known| *known == kind);
            cards.all.0 |= set.0;
            add(&mut cards.stock, set, i64::from(card.state == CardState::Usable));
        }
        cards
    }

    /// How many cards of these kinds are left; negative if too many are held.
    pub(super) fn free(&self, kinds: KindSet) -> i64 {
        let sum = |list: &[(KindSet, i64)]| {
            let matching = list.iter().filter(|(set, _)| set.overlaps(kinds));
            matching.fold(0_i64, |sum, (_, count)| sum.saturating_add(*count))
        };
        sum(&self.stock).saturating_sub(sum(&self.held))
    }

    /// Takes `count` cards of these kinds. Where the node has none such, or nobody knows which they
    /// are, it can be any of its cards.
    pub(super) fn take(&mut self, kinds: Option<KindSet>, count: i64) {
        let here = kinds.map_or(0, |kinds| kinds.0 & self.all.0);
        let held = if here == 0 { self.all } else { KindSet(here) };
        add(&mut self.held, held, count);
    }
}

fn add(list: &mut Vec<(KindSet, i64)>, set: KindSet, count: i64) {
    if count == 0 {
        return;
    }
    match list.binary_search_by_key(&set, |(known, _)| *known) {
        Ok(at) => {
            if let Some((_, sum)) = list.get_mut(at) {
                *sum = sum.saturating_add(count);
            }
        }
        Err(at) => list.insert(at, (set, count)),
    }
}
