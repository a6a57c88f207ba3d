//! Which cards a node has, from the labels that count them.

use std::collections::BTreeMap;

use akash_types::{GpuInterface, GpuVendor};
use provider_crd::labels::NODE_GPU;
use provider_engine::cluster::view::{GpuCard, Name};

/// The cards of a node: one per card that a model's label counts.
///
/// Memory and interface are counted by labels of their own. Where a model comes in several sizes and
/// with several interfaces nobody says which go together; then the interface is left open.
pub(super) fn of(labels: &BTreeMap<String, String>) -> Vec<GpuCard> {
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
            taken_by_others: false,
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
        let cards = of(&labels.collect());
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
