//! The machines of a cluster as a table.

use std::collections::BTreeMap;

use provider_engine::cluster::view::{Amounts, GpuCard, Name, Node, StorageClass};

use super::amount::{bytes, cores};
use super::table::Table;
use super::{Palette, WIDTH};

/// Nodes, and the storage that they share.
pub(crate) fn render_nodes(
    nodes: &BTreeMap<Name, Node>,
    storage: &BTreeMap<Name, StorageClass>,
    palette: &Palette,
) -> String {
    let mut table = Table::new(&["NODE", "CPU", "MEMORY", "DISK", "GPU", "STORAGE"]);
    for (name, node) in nodes {
        let Amounts { cpu_milli, memory, ephemeral, .. } = node.allocatable;
        let classes = node.storage_classes.iter().map(ToString::to_string);
        let cells = [
            vec![name.to_string()],
            vec![cores(unsigned(cpu_milli))],
            vec![bytes(unsigned(memory))],
            vec![bytes(unsigned(ephemeral))],
            cards(&node.cards),
            classes.collect(),
        ];
        table.push(cells.into());
    }
    let mut text = table.render("  ", WIDTH, palette);
    for (name, class) in storage {
        let size = bytes(unsigned(class.allocatable));
        text.push_str(&format!("\n  storage class {name}: {size} in all\n"));
    }
    text
}

/// Cards of a kind in a line: `2 × nvidia a100 80Gi`.
fn cards(cards: &[GpuCard]) -> Vec<String> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for card in cards {
        let memory = card.memory_gib.map(|gib| format!(" {gib}Gi")).unwrap_or_default();
        let kind = format!("{} {}{memory}", card.vendor.as_str(), card.model);
        *kinds.entry(kind).or_default() += 1;
    }
    kinds.into_iter().map(|(kind, count)| format!("{count} × {kind}")).collect()
}

fn unsigned(amount: i64) -> u64 {
    u64::try_from(amount).unwrap_or_default()
}
