//! Which cards a node has: how many, from its device plugins; which, from the labels that count
//! models.

use std::collections::BTreeMap;

use akash_types::{GpuInterface, GpuVendor};
use provider_crd::labels::NODE_GPU;
use provider_engine::cluster::view::{CardState, GpuCard, Name};

/// What the device plugin of one vendor says of a node, and what is taken of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plugin {
    pub(super) vendor: GpuVendor,
    /// Cards that it knows, healthy or not.
    pub(super) capacity: i64,
    /// Cards that pods can have in all.
    pub(super) allocatable: i64,
    /// Cards that pods have which are not of leases.
    pub(super) taken: i64,
}

/// Model of cards that no label names.
const UNKNOWN: &str = "unknown";

/// The cards of a node. Each that a plugin offers is there, also if no label names its model.
///
/// Which cards are unhealthy or taken is not to be seen, only how many: where a vendor's cards are
/// of several kinds, it can be any of each kind.
pub(super) fn of(labels: &BTreeMap<String, String>, plugins: &[Plugin]) -> Vec<GpuCard> {
    let mut labelled = labelled(labels);
    let mut cards = Vec::new();
    for plugin in plugins {
        let (mut own, others): (Vec<_>, Vec<_>) =
            labelled.into_iter().partition(|card| card.vendor == plugin.vendor);
        labelled = others;
        let count = |number: i64| usize::try_from(number).unwrap_or_default().min(MOST_CARDS);
        let offered = count(plugin.allocatable);
        let all = own.len().max(count(plugin.capacity)).max(offered);
        let missing = all - offered;
        let why = format!("the device plugin offers {offered} of {all} cards");
        mark(&mut own, missing, &CardState::Unusable(why.into()));
        mark(&mut own, count(plugin.taken), &CardState::TakenByOthers);
        let unnamed = all - own.len();
        cards.append(&mut own);
        let label = provider_crd::labels::node_gpu_model(plugin.vendor.as_str(), UNKNOWN);
        let why = format!("no label names its model; the label {label} has it sold as any model");
        cards.extend(std::iter::repeat_n(
            GpuCard {
                vendor: plugin.vendor,
                model: UNKNOWN.into(),
                memory_gib: None,
                interface: None,
                state: CardState::Unusable(why.into()),
            },
            unnamed,
        ));
    }
    cards
}

/// Gives `count` usable cards of each kind this state.
fn mark(cards: &mut [GpuCard], count: usize, state: &CardState) {
    let mut marked: Vec<(GpuCard, usize)> = Vec::new();
    for card in cards.iter_mut().filter(|card| card.state == CardState::Usable) {
        let at = marked.iter().position(|(kind, _)| kind == card).unwrap_or(marked.len());
        if at == marked.len() {
            marked.push((card.clone(), 0));
        }
        if let Some((_, so_far)) = marked.get_mut(at).filter(|(_, so_far)| *so_far < count) {
            *so_far += 1;
            card.state = state.clone();
        }
    }
}

/// One card for each that a model's label counts.
///
/// Memory and interface are counted by labels of their own. Where a model comes in several sizes and
/// with several interfaces nobody says which go together; then the interface is left open.
fn labelled(labels: &BTreeMap<String, String>) -> Vec<GpuCard> {
    let mut cards = Vec::new();
    for (key, count) in labels {
        let Some((vendor, model)) = model(key) else {
            continue;
        };
        let count = number(count);
        let mut memory = kinds(labels, &format!("{key}.ram."), gib, count);
        let mut interface = kinds(labels, &format!("{key}.interface."), attached, count);
        if is_mixed(&memory) && is_mixed(&interface) {
            interface.clear();
        }
        memory.resize(count, None);
        interface.resize(count, None);
        cards.extend(memory.into_iter().zip(interface).map(|(memory_gib, interface)| GpuCard {
            vendor,
            model: Name::from(model),
            memory_gib,
            interface,
            state: CardState::Usable,
        }));
    }
    cards
}

/// Vendor and model of a label that counts a model's cards.
fn model(key: &str) -> Option<(GpuVendor, &str)> {
    let rest = key.strip_prefix(NODE_GPU)?.strip_prefix(".vendor.")?;
    let (vendor, model) = rest.split_once(".model.")?;
    let vendor = match vendor {
        "nvidia" => GpuVendor::Nvidia,
        "amd" => GpuVendor::Amd,
        _ => return None,
    };
    let is_detail = model.contains(".ram.") || model.contains(".interface.");
    (!is_detail && !model.is_empty()).then_some((vendor, model))
}

/// What labels that begin with `start` count, one entry per card, at most `most`.
fn kinds<T: Copy>(
    labels: &BTreeMap<String, String>,
    start: &str,
    read: fn(&str) -> Option<T>,
    most: usize,
) -> Vec<Option<T>> {
    let counted = labels.iter().filter_map(|(key, count)| Some((key.strip_prefix(start)?, count)));
    let cards = counted.flat_map(|(kind, count)| std::iter::repeat_n(read(kind), number(count)));
    cards.take(most).collect()
}

fn is_mixed<T: PartialEq>(kinds: &[T]) -> bool {
    kinds.iter().zip(kinds.iter().skip(1)).any(|(one, next)| one != next)
}

/// Nobody has more cards in a machine; a label that says so is wrong.
const MOST_CARDS: usize = 1024;

fn number(count: &str) -> usize {
    count.parse::<usize>().unwrap_or_default().min(MOST_CARDS)
}

fn gib(size: &str) -> Option<u64> {
    size.strip_suffix("Gi")?.parse().ok()
}

fn attached(interface: &str) -> Option<GpuInterface> {
    match interface {
        "pcie" => Some(GpuInterface::Pcie),
        sxm if sxm.starts_with("sxm") => Some(GpuInterface::Sxm),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(labels: &[(&str, &str)]) -> Vec<(String, Option<u64>, Option<GpuInterface>)> {
        let prefix = "akash.network/capabilities.gpu.vendor.";
        let labels =
            labels.iter().map(|(key, value)| (format!("{prefix}{key}"), (*value).to_owned()));
        let cards = labelled(&labels.collect());
        cards
            .into_iter()
            .map(|card| (card.model.to_string(), card.memory_gib, card.interface))
            .collect()
    }

    #[test]
    fn labels_of_a_node_count_its_cards() {
        let a100 = ("a100".to_owned(), Some(80), Some(GpuInterface::Pcie));
        assert_eq!(
            cards(&[
                ("nvidia.model.a100", "2"),
                ("nvidia.model.a100.ram.80Gi", "2"),
                ("nvidia.model.a100.interface.pcie", "2"),
            ]),
            [a100.clone(), a100]
        );
        assert_eq!(
            cards(&[("nvidia.model.t4", "1"), ("amd.model.mi60", "1"), ("intel.model.x", "1")]),
            [("mi60".to_owned(), None, None), ("t4".to_owned(), None, None)]
        );
        for count in ["0", "many", "-1", ""] {
            assert_eq!(cards(&[("nvidia.model.t4", count)]), []);
        }
    }

    #[test]
    fn what_labels_do_not_tell_is_left_open() {
        let sizes = [("nvidia.model.a100.ram.40Gi", "1"), ("nvidia.model.a100.ram.80Gi", "1")];
        let memory = |labels: &[(&str, &str)]| -> Vec<_> {
            cards(labels).into_iter().map(|(_, memory, interface)| (memory, interface)).collect()
        };
        let model = ("nvidia.model.a100", "2");
        assert_eq!(memory(&[model, sizes[0], sizes[1]]), [(Some(40), None), (Some(80), None)]);
        let pcie = ("nvidia.model.a100.interface.pcie", "1");
        let sxm = ("nvidia.model.a100.interface.sxm", "1");
        assert_eq!(
            memory(&[model, sizes[0], sizes[1], pcie, sxm]),
            [(Some(40), None), (Some(80), None)]
        );
        // Fewer than there are cards: the rest is unknown.
        assert_eq!(memory(&[model, sizes[0]]), [(Some(40), None), (None, None)]);
    }
}
